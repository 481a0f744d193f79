package workflows

import (
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"handover/internal/flow"
)

// inbox is everything that can reach a running order from outside. One coroutine, the story's own, takes from it: a
// second receiver could take a message away just as the workflow closes.
type inbox struct {
	paymentEvents workflow.ReceiveChannel
	wishes        []workflow.ReceiveChannel // one for each kind
	updates       workflow.Channel
	waiting       []*request
	stale         bool // the ledger may know more than this run
	signals       int  // signals that came without an identity of their own
}

// kinds are what an operator can ask for, each as a signal and as an update of that name.
var kinds = []struct{ name, description string }{
	{flow.KindResend, `Send the email again, as a new generation. Payload: {"reason":"why"}. No addresses: use starter resend --to.`},
	{flow.KindRetry, `Work again on what has stopped, under the same keys. Payload: {"reason":"why"}`},
	{flow.KindRelink, `Send a new link in a new email; the links that went out before are dead. Payload: {"reason":"why"}`},
	{flow.KindRevoke, `End the access. It stays ended until a person restores it. Payload: {"reason":"why"}`},
	{flow.KindRestore, `Give the access back, or leave it as it is after a refund that names no item. Payload: {"reason":"why"}`},
}

func (d *delivery) openInbox(ctx workflow.Context) error {
	d.paymentEvents = workflow.GetSignalChannelWithOptions(ctx, flow.SignalPaymentEvent, workflow.SignalChannelOptions{
		Description: "The payment provider has told something about this session: look again. Sent by the starter."})
	d.updates = workflow.NewBufferedChannel(ctx, 100)
	for _, kind := range kinds {
		d.wishes = append(d.wishes, workflow.GetSignalChannelWithOptions(ctx, kind.name, workflow.SignalChannelOptions{Description: kind.description}))
		err := workflow.SetUpdateHandlerWithOptions(ctx, kind.name, d.updater(kind.name), workflow.UpdateHandlerOptions{
			Validator:   d.validator(kind.name),
			Description: kind.description + " Answers what was decided.",
		})
		if err != nil {
			return err
		}
	}
	return workflow.SetQueryHandlerWithOptions(ctx, flow.QueryState, func() (flow.State, error) { return d.State, nil }, workflow.QueryHandlerOptions{
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
		for i, wishes := range d.wishes {
			s.AddReceive(wishes, func(c workflow.ReceiveChannel, _ bool) { d.takeWish(ctx, c, kinds[i].name) })
		}
		s.AddReceive(d.updates, func(c workflow.ReceiveChannel, _ bool) { d.takeUpdate(ctx, c) })
		s.Select(ctx)
		for d.take(ctx) { // what came together is decided together
		}
		d.answer(ctx)
		d.refresh(ctx)
		d.reverse(ctx)
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
		d.paymentEvent(raw)
		return true
	case d.updates.ReceiveAsync(&r):
		d.waiting = append(d.waiting, r)
		return true
	}
	for i, wishes := range d.wishes {
		if wishes.ReceiveAsync(&raw) {
			d.wish(raw, kinds[i].name)
			return true
		}
	}
	return false
}

func (d *delivery) takePaymentEvent(ctx workflow.Context, c workflow.ReceiveChannel) {
	var raw converter.RawValue
	c.Receive(ctx, &raw)
	d.paymentEvent(raw)
}

// refresh takes up what the ledger knows after somebody has told of something new, where a person was needed: it may be
// settled already, as when the email provider's own event proves that a message was taken.
func (d *delivery) refresh(ctx workflow.Context) {
	if d.stopping {
		return // the ledger does not know yet what this run is about to tell it
	}
	stale := d.stale
	if d.stale = false; !stale || d.Reason == "" || !d.settled() {
		return
	}
	d.catchUp(ctx)
	d.mark(ctx)
	d.describe(ctx)
}

// takeWish receives the signal raw: Temporal drops a payload of the wrong type while telling its sender that it went.
func (d *delivery) takeWish(ctx workflow.Context, c workflow.ReceiveChannel, kind string) {
	var raw converter.RawValue
	c.Receive(ctx, &raw)
	d.wish(raw, kind)
}

func (d *delivery) takeUpdate(ctx workflow.Context, c workflow.ReceiveChannel) {
	var r *request
	c.Receive(ctx, &r)
	d.waiting = append(d.waiting, r)
}
