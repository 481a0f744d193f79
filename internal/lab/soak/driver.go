package soak

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
)

// driver plays one order's plan against the shop.
type driver struct {
	*run
	*Record
	last     string   // the id of the newest payment event
	requests []string // payloads with an identity of their own that were sent
}

// play is over when the last step is done. A step that takes long moves those after it.
func (dr *driver) play(ctx context.Context) {
	o := dr.Order
	if !dr.until(ctx, o.At) {
		return
	}
	if err := dr.buy(); err != nil {
		dr.problem("buy", err)
		return
	}
	for _, s := range o.Steps {
		if !dr.until(ctx, o.At+s.At) {
			return
		}
		if err := dr.step(ctx, s); err != nil {
			dr.problem(string(s.Do)+" "+s.Kind, err)
		}
	}
}

func (dr *driver) problem(what string, err error) {
	dr.Problems = append(dr.Problems, fmt.Sprintf("%s: %v", what, err))
}

func (dr *driver) buy() error {
	o := dr.Order
	s := sandbox.Session{ID: o.Session, Email: o.Email, Name: "Soak Buyer", Currency: "eur"}
	s.PaymentIntent.ID = intentOf(o.Session)
	for _, line := range o.Lines {
		w := products[line.Product]
		s.Items = append(s.Items, sandbox.Item{Price: w.price, Product: w.sold, Name: line.Product, Quantity: line.Quantity, Amount: w.amount})
	}
	switch o.Sale {
	case SaleFree:
		s.PaymentStatus = "no_payment_required"
		s.PaymentIntent = sandbox.Intent{}
	case SaleLate, SaleFailed:
		s.PaymentStatus = "unpaid"
	}
	for _, f := range o.Faults {
		added, err := dr.shop.Sandbox.AddFault(faultOf(o.Session, f))
		if err != nil {
			return err
		}
		dr.FaultIDs = append(dr.FaultIDs, added.ID)
	}
	made, err := dr.shop.Sandbox.CreateSession(s)
	if err != nil {
		return err
	}
	dr.Made, dr.BoughtAt, dr.Captured = true, time.Now(), made.Amount
	dr.Paid = made.PaymentStatus != "unpaid"
	dr.note()
	return nil
}

func intentOf(session string) string { return "pi_" + strings.TrimPrefix(session, "cs_test_") }

// faultOf aims a fault at one order. What never ends is about the first email only: a person who asks for another one is
// not punished.
func faultOf(session string, f Fault) sandbox.Fault {
	match := session
	switch {
	case f.Target == "stripe.payment_intent":
		match = intentOf(session)
	case f.Target == "resend.send" && f.Times == 0:
		match = harness.EmailKey(session, 1)
	case f.Target == "resend.send":
		match = "test/" + session + "/email/"
	}
	return sandbox.Fault{
		Target: f.Target, Mode: f.Mode, Status: f.Status, Name: f.Name, RetryAfter: f.After,
		DelayMS: int(f.Delay.Milliseconds()), Times: f.Times, Match: match,
	}
}

func (dr *driver) step(ctx context.Context, s Step) error {
	switch s.Do {
	case DoReport:
		return dr.report(ctx, s)
	case DoPay:
		changed, err := dr.shop.Sandbox.ChangeSession(dr.Order.Session, []byte(`{"payment_status":"paid"}`))
		dr.Paid = err == nil && changed.PaymentStatus == "paid"
		return err
	case DoFail:
		_, err := dr.shop.Sandbox.ChangeSession(dr.Order.Session, []byte(`{"payment_intent":{"status":"requires_payment_method"}}`))
		dr.Failed = err == nil
		return err
	case DoRefund, DoRefundChange, DoDispute, DoDisputeChange:
		return dr.moveMoney(ctx, s)
	case DoSignal:
		return dr.signal(ctx, s)
	case DoCommand:
		return dr.command(ctx, s)
	case DoEmailEvent:
		return dr.emailEvent(ctx, s)
	}
	return fmt.Errorf("no such action: %s", s.Do)
}

func (dr *driver) report(ctx context.Context, s Step) error {
	e := sandbox.EventRequest{Type: s.Kind, Session: dr.Order.Session, Copies: s.Copies, Retry: true}
	if s.Aside {
		e.URL, e.Retry, e.EventID = dr.otherWebhooks(), false, dr.last
	}
	d, err := dr.shop.Sandbox.DeliverEvent(ctx, e)
	if !s.Aside {
		dr.last = d.EventID
		dr.Distinct++
	}
	dr.Sent += len(d.Statuses)
	return err
}

// moveMoney changes the money at the sandbox and delivers the events.
func (dr *driver) moveMoney(ctx context.Context, s Step) (err error) {
	fake, events := dr.shop.Sandbox, sandbox.MoneyEvents{Copies: s.Copies, Retry: true}
	var sent []sandbox.Delivery
	switch s.Do {
	case DoRefund:
		var r sandbox.Refund
		if r, err = fake.Refund(sandbox.Refund{Session: dr.Order.Session, Amount: s.Amount, Status: s.Kind}); err == nil {
			dr.Refunds = append(dr.Refunds, r)
			dr.note()
			sent, err = fake.DeliverRefund(ctx, r.ID, events)
		}
	case DoRefundChange:
		r := &dr.Refunds[len(dr.Refunds)-1]
		if *r, err = fake.ChangeRefund(r.ID, s.Kind); err == nil {
			dr.note()
			sent, err = fake.DeliverRefund(ctx, r.ID, events)
		}
	case DoDispute:
		var d sandbox.Dispute
		if d, err = fake.Dispute(sandbox.Dispute{Session: dr.Order.Session, Status: s.Kind}); err == nil {
			dr.Disputes = append(dr.Disputes, d)
			dr.note()
			sent, err = fake.DeliverDispute(ctx, d.ID, events)
		}
	case DoDisputeChange:
		d := &dr.Disputes[len(dr.Disputes)-1]
		if *d, err = fake.ChangeDispute(d.ID, s.Kind); err == nil {
			dr.note()
			sent, err = fake.DeliverDispute(ctx, d.ID, events)
		}
	}
	for _, d := range sent {
		dr.Sent += len(d.Statuses)
		dr.Distinct++
	}
	return err
}

func (dr *driver) emailEvent(ctx context.Context, s Step) error {
	var newest string
	for _, m := range dr.shop.Sandbox.Messages() {
		if m.Order() == "test/"+dr.Order.Session {
			newest = m.ID
		}
	}
	if newest == "" {
		return nil // nothing was sent that could come back
	}
	d, err := dr.shop.Sandbox.DeliverEmailEvent(ctx, newest, sandbox.EmailEventRequest{Type: s.Kind, Copies: s.Copies, Retry: true})
	dr.Sent += len(d.Statuses)
	dr.Distinct++
	return err
}

// signal sends what an operator would with `temporal workflow signal`: the payload as it is, readable or not.
func (dr *driver) signal(ctx context.Context, s Step) error {
	dr.Signals++
	if asksForEmail(s.Kind) && !slices.Contains(malformed, s.Payload) && !slices.Contains(dr.requests, s.Payload) {
		dr.Asked++
	}
	if strings.Contains(s.Payload, "request_id") {
		dr.requests = append(dr.requests, s.Payload) // a second one with this identity asks for nothing
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	if err := dr.sendSignal(ctx, harness.WorkflowID(dr.Order.Session), s.Kind, s.Payload); err != nil {
		dr.Refused++
	}
	return nil
}

func asksForEmail(kind string) bool { return kind == "resend" || kind == "relink" }

// command runs the starter as an operator does. Whether it can do what it is asked for is its own affair.
func (dr *driver) command(ctx context.Context, s Step) error {
	arguments := []string{s.Kind, "test/" + dr.Order.Session}
	if s.Kind != "replay" {
		arguments = append(arguments, "--reason", "soak")
	}
	if s.To != "" {
		arguments = append(arguments, "--to", s.To)
	}
	if asksForEmail(s.Kind) {
		dr.Asked++
	}
	code := dr.operator(ctx, arguments...)
	if dr.Commands == nil {
		dr.Commands = map[int]int{}
	}
	dr.Commands[code]++
	return nil
}
