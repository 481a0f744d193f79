package workflows

import (
	"fmt"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"handover/activities"
	"handover/internal/order"
)

// inbox is everything that can reach a running order from outside. One coroutine, the story's own, takes from it: a
// second receiver could take a message away just as the workflow closes.
type inbox struct {
	paymentEvents workflow.ReceiveChannel
	resends       workflow.ReceiveChannel
	updates       workflow.Channel
	waiting       []*request
	signals       int // signals that came without an identity of their own
}

// request is one wish of an operator.
type request struct {
	Request
	refusal order.Refusal
	result  activities.DecideResendResult
	err     error
	done    bool
}

func (d *delivery) openInbox(ctx workflow.Context) error {
	d.paymentEvents = workflow.GetSignalChannelWithOptions(ctx, SignalPaymentEvent, workflow.SignalChannelOptions{
		Description: "The payment provider has told something about this session: look again. Sent by the starter."})
	d.resends = workflow.GetSignalChannelWithOptions(ctx, SignalResend, workflow.SignalChannelOptions{
		Description: `Send the email again, as a new generation. Payload: {"reason":"why"}. No addresses: use starter resend --to.`})
	d.updates = workflow.NewBufferedChannel(ctx, 100)
	err := workflow.SetUpdateHandlerWithOptions(ctx, SignalResend, d.updateResend, workflow.UpdateHandlerOptions{
		Validator:   d.validateResend,
		Description: `Send the email again, as a new generation, and answer what was decided. Payload: {"reason":"why"}`})
	if err != nil {
		return err
	}
	return workflow.SetQueryHandlerWithOptions(ctx, QueryState, func() (State, error) { return d.State, nil }, workflow.QueryHandlerOptions{
		Description: "The three facts as this run knows them"})
}

// attend waits until done, taking every signal and update as it comes.
func (d *delivery) attend(ctx workflow.Context, done func() bool, futures ...workflow.Future) {
	for !done() {
		s := workflow.NewSelector(ctx)
		for _, f := range futures {
			if !f.IsReady() {
				s.AddFuture(f, func(workflow.Future) {})
			}
		}
		s.AddReceive(d.paymentEvents, func(c workflow.ReceiveChannel, _ bool) { d.takePaymentEvent(ctx, c) })
		s.AddReceive(d.resends, func(c workflow.ReceiveChannel, _ bool) { d.takeResend(ctx, c) })
		s.AddReceive(d.updates, func(c workflow.ReceiveChannel, _ bool) { d.takeUpdate(ctx, c) })
		s.Select(ctx)
		d.answer(ctx)
	}
}

// drain takes what has arrived at the last moment, before the workflow closes. It returns true when that brought
// something to do.
func (d *delivery) drain(ctx workflow.Context) bool {
	for d.take(ctx) || len(d.waiting) > 0 {
		d.answer(ctx)
	}
	_ = workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) || d.updates.Len() > 0 })
	if d.updates.Len() > 0 {
		return d.drain(ctx)
	}
	return d.due()
}

func (d *delivery) take(ctx workflow.Context) bool {
	var raw converter.RawValue
	var r *request
	switch {
	case d.paymentEvents.ReceiveAsync(&raw):
		d.look = true
	case d.resends.ReceiveAsync(&raw):
		d.wish(raw)
	case d.updates.ReceiveAsync(&r):
		d.waiting = append(d.waiting, r)
	default:
		return false
	}
	return true
}

func (d *delivery) takePaymentEvent(ctx workflow.Context, c workflow.ReceiveChannel) {
	var raw converter.RawValue
	c.Receive(ctx, &raw)
	d.look = true
}

// takeResend receives the signal raw: Temporal drops a payload of the wrong type while telling its sender that it went.
func (d *delivery) takeResend(ctx workflow.Context, c workflow.ReceiveChannel) {
	var raw converter.RawValue
	c.Receive(ctx, &raw)
	d.wish(raw)
}

func (d *delivery) takeUpdate(ctx workflow.Context, c workflow.ReceiveChannel) {
	var r *request
	c.Receive(ctx, &r)
	d.waiting = append(d.waiting, r)
}

// wish reads a signal. One without an identity gets its place in the lineage of the workflow, which a reset repeats.
func (d *delivery) wish(raw converter.RawValue) {
	parsed, refusal := parseRequest(raw)
	if parsed.RequestID == "" {
		d.signals++
		parsed.RequestID = fmt.Sprintf("signal/%s/%d", d.origin, d.signals)
	}
	d.waiting = append(d.waiting, &request{Request: parsed, refusal: refusal})
}

// answer decides the requests that have come, one after the other.
func (d *delivery) answer(ctx workflow.Context) {
	for len(d.waiting) > 0 {
		r := d.waiting[0]
		d.waiting = d.waiting[1:]
		d.decide(ctx, r)
		r.done = true
	}
}

func (d *delivery) decide(ctx workflow.Context, r *request) {
	options := ledgerPolicy.options("Decide a request to send the email again")
	in := activities.DecideResendInput{Order: d.in.Key(), RequestID: r.RequestID, Reason: r.Reason, Refusal: r.refusal}
	r.err = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options), a.DecideResend, in).Get(ctx, &r.result)
	if r.err != nil {
		d.note = "A request could not be decided: the database did not answer."
		workflow.GetLogger(ctx).Error("request not decided", "order", d.in.Key().String(), "request", r.RequestID)
		d.describe(ctx)
		return
	}
	switch r.result.Outcome {
	case order.OutcomeRefused:
		d.note = "A resend was refused: " + r.result.Says + "."
		workflow.GetLogger(ctx).Warn("resend refused", "order", d.in.Key().String(), "request", r.RequestID, "refusal", string(r.result.Refusal))
	default:
		d.note = ""
		d.nextGeneration(r.result)
		d.mark(ctx)
	}
	d.describe(ctx)
}

// nextGeneration takes up what was decided. A repetition brings only a generation that this run has not heard of, as
// after a reset; one that is finished already answers so when it is sent.
func (d *delivery) nextGeneration(r activities.DecideResendResult) {
	if r.Generation < d.Generation || (r.Repeated && r.Generation == d.Generation) {
		return
	}
	// The decision saw the ledger, which can be ahead of a run that started from nothing.
	d.Payment, d.Access = order.PaymentConfirmed, order.AccessGranted
	if r.Generation > d.Generation || !d.emailDue {
		d.Generation, d.emailDue, d.Email = r.Generation, true, order.EmailPending
	}
	if d.Reason.Step() == "email" {
		d.Reason = ""
	}
}

// updateResend answers an Update when the request is decided, not when the message is accepted: that can take hours.
func (d *delivery) updateResend(ctx workflow.Context, raw converter.RawValue) (activities.DecideResendResult, error) {
	parsed, refusal := parseRequest(raw)
	parsed.RequestID = "update/" + workflow.GetCurrentUpdateInfo(ctx).ID
	r := &request{Request: parsed, refusal: refusal}
	d.updates.Send(ctx, r)
	if err := workflow.Await(ctx, func() bool { return r.done }); err != nil {
		return activities.DecideResendResult{}, err
	}
	return r.result, r.err
}
