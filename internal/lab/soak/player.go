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

// player plays one order's plan against the shop.
type player struct {
	*run
	*Book
	last   string   // the id of the newest payment event
	wishes []string // payloads with an identity of their own that were sent
}

// play is over when the last step is done. A step that takes long moves those after it.
func (p *player) play(ctx context.Context) {
	o := p.Order
	if !p.until(ctx, o.At) {
		return
	}
	if err := p.buy(); err != nil {
		p.problem("buy", err)
		return
	}
	for _, s := range o.Steps {
		if !p.until(ctx, o.At+s.At) {
			return
		}
		if err := p.step(ctx, s); err != nil {
			p.problem(string(s.Do)+" "+s.Kind, err)
		}
	}
}

func (p *player) problem(what string, err error) {
	p.Problems = append(p.Problems, fmt.Sprintf("%s: %v", what, err))
}

func (p *player) buy() error {
	o := p.Order
	s := sandbox.Session{ID: o.Session, Email: o.Email, Name: "Soak Buyer", Currency: "eur"}
	s.PaymentIntent.ID = intentOf(o.Session)
	for _, line := range o.Lines {
		w := wares[line.Ware]
		s.Items = append(s.Items, sandbox.Item{Price: w.price, Product: w.sold, Name: line.Ware, Quantity: line.Quantity, Amount: w.amount})
	}
	switch o.Sale {
	case SaleFree:
		s.PaymentStatus = "no_payment_required"
		s.PaymentIntent = sandbox.Intent{}
	case SaleLate, SaleFailed:
		s.PaymentStatus = "unpaid"
	}
	for _, f := range o.Faults {
		added, err := p.shop.Sandbox.AddFault(faultOf(o.Session, f))
		if err != nil {
			return err
		}
		p.FaultIDs = append(p.FaultIDs, added.ID)
	}
	made, err := p.shop.Sandbox.CreateSession(s)
	if err != nil {
		return err
	}
	p.Made, p.BoughtAt, p.Captured = true, time.Now(), made.Amount
	p.Paid = made.PaymentStatus != "unpaid"
	p.note()
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

func (p *player) step(ctx context.Context, s Step) error {
	switch s.Do {
	case DoTell:
		return p.tell(ctx, s)
	case DoPay:
		changed, err := p.shop.Sandbox.ChangeSession(p.Order.Session, []byte(`{"payment_status":"paid"}`))
		p.Paid = err == nil && changed.PaymentStatus == "paid"
		return err
	case DoFail:
		_, err := p.shop.Sandbox.ChangeSession(p.Order.Session, []byte(`{"payment_intent":{"status":"requires_payment_method"}}`))
		p.Failed = err == nil
		return err
	case DoRefund, DoRefundChange, DoDispute, DoDisputeChange:
		return p.moveMoney(ctx, s)
	case DoSignal:
		return p.signal(ctx, s)
	case DoCommand:
		return p.command(ctx, s)
	case DoEmailEvent:
		return p.emailEvent(ctx, s)
	}
	return fmt.Errorf("no such action: %s", s.Do)
}

func (p *player) tell(ctx context.Context, s Step) error {
	e := sandbox.EventRequest{Type: s.Kind, Session: p.Order.Session, Copies: s.Copies, Retry: true}
	if s.Aside {
		e.URL, e.Retry, e.EventID = p.otherWebhooks(), false, p.last
	}
	d, err := p.shop.Sandbox.DeliverEvent(ctx, e)
	if !s.Aside {
		p.last = d.EventID
		p.Distinct++
	}
	p.Told += len(d.Statuses)
	return err
}

// moveMoney changes the provider's books and tells of it.
func (p *player) moveMoney(ctx context.Context, s Step) (err error) {
	judge, events := p.shop.Sandbox, sandbox.MoneyEvents{Copies: s.Copies, Retry: true}
	var told []sandbox.Delivery
	switch s.Do {
	case DoRefund:
		var r sandbox.Refund
		if r, err = judge.Refund(sandbox.Refund{Session: p.Order.Session, Amount: s.Amount, Status: s.Kind}); err == nil {
			p.Refunds = append(p.Refunds, r)
			p.note()
			told, err = judge.DeliverRefund(ctx, r.ID, events)
		}
	case DoRefundChange:
		r := &p.Refunds[len(p.Refunds)-1]
		if *r, err = judge.ChangeRefund(r.ID, s.Kind); err == nil {
			p.note()
			told, err = judge.DeliverRefund(ctx, r.ID, events)
		}
	case DoDispute:
		var d sandbox.Dispute
		if d, err = judge.Dispute(sandbox.Dispute{Session: p.Order.Session, Status: s.Kind}); err == nil {
			p.Disputes = append(p.Disputes, d)
			p.note()
			told, err = judge.DeliverDispute(ctx, d.ID, events)
		}
	case DoDisputeChange:
		d := &p.Disputes[len(p.Disputes)-1]
		if *d, err = judge.ChangeDispute(d.ID, s.Kind); err == nil {
			p.note()
			told, err = judge.DeliverDispute(ctx, d.ID, events)
		}
	}
	for _, d := range told {
		p.Told += len(d.Statuses)
		p.Distinct++
	}
	return err
}

func (p *player) emailEvent(ctx context.Context, s Step) error {
	var newest string
	for _, m := range p.shop.Sandbox.Messages() {
		if m.Order() == "test/"+p.Order.Session {
			newest = m.ID
		}
	}
	if newest == "" {
		return nil // nothing was sent that could come back
	}
	d, err := p.shop.Sandbox.DeliverEmailEvent(ctx, newest, sandbox.EmailEventRequest{Type: s.Kind, Copies: s.Copies, Retry: true})
	p.Told += len(d.Statuses)
	p.Distinct++
	return err
}

// signal sends what an operator would with `temporal workflow signal`: the payload as it is, readable or not.
func (p *player) signal(ctx context.Context, s Step) error {
	p.Signals++
	if asksForEmail(s.Kind) && !slices.Contains(malformed, s.Payload) && !slices.Contains(p.wishes, s.Payload) {
		p.Asked++
	}
	if strings.Contains(s.Payload, "request_id") {
		p.wishes = append(p.wishes, s.Payload) // a second one with this identity asks for nothing
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	if err := p.sendSignal(ctx, harness.WorkflowID(p.Order.Session), s.Kind, s.Payload); err != nil {
		p.Refused++
	}
	return nil
}

func asksForEmail(kind string) bool { return kind == "resend" || kind == "relink" }

// command runs the starter as an operator does. Whether it can do what it is asked for is its own affair.
func (p *player) command(ctx context.Context, s Step) error {
	arguments := []string{s.Kind, "test/" + p.Order.Session}
	if s.Kind != "replay" {
		arguments = append(arguments, "--reason", "soak")
	}
	if s.To != "" {
		arguments = append(arguments, "--to", s.To)
	}
	if asksForEmail(s.Kind) {
		p.Asked++
	}
	code := p.operator(ctx, arguments...)
	if p.Commands == nil {
		p.Commands = map[int]int{}
	}
	p.Commands[code]++
	return nil
}
