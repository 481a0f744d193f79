// Package workflows holds the story of an order as Temporal runs it: payment confirmed, access granted, email accepted,
// then listening. It decides the sequence and nothing else; what is true is in the ledger.
package workflows

import (
	"cmp"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"handover/activities"
	"handover/internal/flow"
	"handover/internal/order"
)

// Workflows holds the settings that the workflows run with.
type Workflows struct{ cfg Config }

// New returns the workflows.
func New(cfg Config) *Workflows { return &Workflows{cfg: cfg} }

// a serves for method references only; the worker registers the real one.
var a *activities.Activities

// Deliver is the story of one order. A request to cancel the run is not heeded: what was paid for is delivered, and a
// step that was broken off would look like one that failed.
func (w *Workflows) Deliver(ctx workflow.Context, in flow.Input) (flow.State, error) {
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	d, err := w.begin(ctx, in)
	if err != nil {
		return flow.State{}, err
	}
	d.readLedger(ctx)
	for {
		d.confirmPayment(ctx)
		d.reviewPayment(ctx)
		d.grantAccess(ctx)
		d.changeAccess(ctx)
		d.sendEmail(ctx)
		if !d.listen(ctx) {
			return d.State, nil
		}
	}
}

// delivery is one run of the story.
type delivery struct {
	flow.State
	in  flow.Input
	cfg Config

	origin   string // the run in which the workflow was first started, before any reset
	look     bool   // there may be something new about the payment
	lookedAt time.Time
	emailDue bool         // the newest generation is still to be sent
	marked   bool         // the search attribute says needs_attention
	alerted  order.Reason // the owner was told of this last
	stopping bool         // the order is being marked for a person
	note     string

	openFor time.Duration // as the steps' results say; 0 until one does
	closing workflow.Future

	reversal
	inbox
}

func (w *Workflows) begin(ctx workflow.Context, in flow.Input) (*delivery, error) {
	if !in.Key.Valid() {
		return nil, temporal.NewNonRetryableApplicationError("environment and session must be those of an order key", "bad_input", nil)
	}
	d := &delivery{
		State:  flow.State{Payment: order.PaymentPending, Access: order.AccessPending, Email: order.EmailPending, Generation: 1},
		in:     in,
		cfg:    w.cfg,
		origin: workflow.GetInfo(ctx).OriginalRunID,
		look:   true,
	}
	return d, d.openInbox(ctx)
}

// readLedger asks what is done already. The straight path does not need to: it starts from nothing.
func (d *delivery) readLedger(ctx workflow.Context) {
	if !d.in.Known {
		return
	}
	d.catchUp(ctx)
	// The request that started this run is decided on what it found, not on what the run has made of it.
	for d.take(ctx) {
		d.answer(ctx)
	}
}

// catchUp takes up the order as the ledger has it. Requests are left waiting meanwhile: the answer would be older than
// what they decide.
func (d *delivery) catchUp(ctx workflow.Context) {
	var known activities.ReadOrderResult
	reading := workflow.WithActivityOptions(ctx, ledgerPolicy.options("Read what is done already"))
	if err := workflow.ExecuteActivity(reading, a.ReadOrder, activities.ReadOrderInput{Order: d.in.Key}).Get(ctx, &known); err != nil {
		return // every step asks the ledger itself before it does anything
	}
	d.takeUp(known)
	d.look = !d.settled()
	d.openFor = cmp.Or(d.openFor, inSeconds(known.OpenSeconds))
}

// confirmPayment looks at the payment until it is settled: at once, when an event says that there may be something new,
// and by itself on a widening timer while the money is on its way.
func (d *delivery) confirmPayment(ctx workflow.Context) {
	if d.settled() || !d.look {
		return
	}
	d.stepping = true
	defer func() { d.stepping = false }()
	began := workflow.Now(ctx)
	for n := 0; ; n++ {
		found, settled := d.lookOnce(ctx)
		if settled {
			return
		}
		wait := cmp.Or(inSeconds(found.WaitSeconds), looks[min(n, len(looks)-1)])
		if workflow.Now(ctx).Add(wait).Sub(began) > inSeconds(found.AwaitSeconds) {
			d.stop(ctx, "payment", order.ClassExhausted, order.ReasonPaymentOverdue)
			return
		}
		d.sleep(ctx, wait, "Until the next look at the payment", func() bool { return d.look })
	}
}

// lookOnce retrieves the session once. It returns what was found, and that there is no more to find.
func (d *delivery) lookOnce(ctx workflow.Context) (found activities.ConfirmPaymentResult, settled bool) {
	in := activities.ConfirmPaymentInput{Order: d.in.Key, Event: d.in.Event, Origin: d.origin, Again: d.in.Known || !d.lookedAt.IsZero()}
	d.look, d.lookedAt = false, workflow.Now(ctx)
	if err := d.run(ctx, d.cfg.Payment, "Ask the payment provider whether it is paid", a.ConfirmPayment, in, &found); err != nil {
		if d.Payment != order.PaymentConfirmed { // else it still waits for the same person
			d.stop(ctx, "payment", classOf(err), "")
		}
		return found, true
	}
	if found.WaitSeconds > 0 {
		return found, false
	}
	d.openFor = cmp.Or(d.openFor, inSeconds(found.OpenSeconds))
	d.Payment, d.Reason = found.Payment, found.Reason
	d.reviewDue = d.reviewDue || found.ReversalDue
	if d.Payment == order.PaymentPending {
		d.mark(ctx)
		d.describe(ctx)
		return found, false
	}
	d.emailDue = d.Payment == order.PaymentConfirmed
	switch found.Reason.Step() {
	case "access":
		d.Access, d.emailDue = order.AccessAttention, false
	case "email":
		d.Access, d.Email, d.emailDue = order.AccessPending, order.EmailAttention, false
	default:
		d.Access = order.AccessPending
	}
	return found, true
}

// grantAccess makes everything exist that the buyer paid for.
func (d *delivery) grantAccess(ctx workflow.Context) {
	if d.Payment != order.PaymentConfirmed || d.Access != order.AccessPending || d.unread {
		return
	}
	d.stepping = true
	defer func() { d.stepping = false }()
	var granted activities.GrantAccessResult
	err := d.run(ctx, d.cfg.Access, "Grant the downloads and licence keys", a.GrantAccess, activities.GrantAccessInput{Order: d.in.Key}, &granted)
	if err != nil {
		d.stop(ctx, "access", classOf(err), "")
		return
	}
	d.Access = granted.Access
}

// listen waits for whatever may still come: a new look, a resend. It returns false when the order's time is over.
func (d *delivery) listen(ctx workflow.Context) bool {
	d.mark(ctx)
	d.describe(ctx)
	d.alert(ctx)
	switch {
	case d.Payment == order.PaymentFailed || d.Payment == order.PaymentIgnored:
		// A later event starts a new run.
	case d.waitsForPerson():
		again := workflow.GetVersion(ctx, changeListenAgain, workflow.DefaultVersion, 1) >= 1
		settled := func() bool { return again && !d.waitsForPerson() }
		d.attend(ctx, func() bool { return d.due() || settled() })
		if settled() {
			return true
		}
	default:
		if d.closing == nil && d.openFor > 0 {
			d.closing = workflow.NewTimerWithOptions(ctx, d.openFor, workflow.TimerOptions{Summary: "Listening for resends and late events"})
		}
		if d.closing != nil {
			d.attend(ctx, func() bool { return d.due() || d.closing.IsReady() }, d.closing)
		}
	}
	return d.due() || d.drain(ctx)
}

// changeListenAgain: runs from before it stayed open after a person, or the email provider's event, had settled what they
// waited for and nothing was left to do. Now they listen for what is left of their time.
const changeListenAgain = "listen-again"

func (d *delivery) waitsForPerson() bool { return d.Reason != "" || d.Access == order.AccessAttention }

// settled says that another look at the payment can find nothing new: it is confirmed, and the catalogue knew all of it.
func (d *delivery) settled() bool {
	return d.Payment == order.PaymentConfirmed && d.Reason != order.ReasonItemsUnknown
}

// due says that there is something to do again.
func (d *delivery) due() bool {
	if !d.settled() && d.look {
		return true
	}
	if d.Payment == order.PaymentConfirmed && (d.Reason == "" || d.Reason == order.ReasonRefundUnclear) && d.Access == order.AccessPending {
		return true
	}
	if step := d.Reason.Step(); d.Reason != d.alerted && (step == order.StepReversal || step == order.StepAccessChange) {
		return true // the owner is to be told
	}
	if d.reversalDue() {
		return true
	}
	return d.emailDue && d.Access == order.AccessGranted
}

// stop marks the order for a person, after a step has used up its automatic attempts or has met a final failure.
func (d *delivery) stop(ctx workflow.Context, step string, class order.Class, reason order.Reason) {
	in := activities.StopStepInput{Order: d.in.Key, Step: step, Event: d.in.Event, Class: class, Reason: reason}
	switch step {
	case "payment":
		d.Payment, reason = order.PaymentAttention, cmp.Or(reason, order.ReasonPaymentStopped)
	case "access":
		d.Access, reason = order.AccessAttention, order.ReasonAccessStopped
	case "review":
		reason = order.ReasonReversalUnread
	case "revoke":
		reason = order.ReasonRevokeStopped
	case "email":
		d.Email, d.emailDue, reason = order.EmailAttention, false, order.ReasonEmailExhausted
		in.Generation = d.Generation
		if class == order.ClassUnknown || class == order.ClassUncertain || class == order.ClassPastWindow {
			d.Email = order.EmailUncertain
		}
	}
	d.Reason = reason // for as long as the database does not answer
	var stopped activities.StopStepResult
	d.stopping = true
	err := d.run(ctx, ledgerPolicy, "Mark the order for a person", a.StopStep, in, &stopped)
	d.stopping = false
	if err == nil && d.Reason == reason {
		d.Reason = stopped.Reason
	}
	if stopped.Accepted && d.Generation == in.Generation {
		d.Email = order.EmailAccepted
	}
}

// alert tells the owner why a person is needed. Whether that worked is written down and changes nothing here.
func (d *delivery) alert(ctx workflow.Context) {
	if d.Reason == d.alerted {
		return
	}
	if d.alerted = d.Reason; d.Reason == "" {
		return
	}
	telling := workflow.WithActivityOptions(ctx, alertPolicy.options("Tell the shop's owner"))
	f := workflow.ExecuteActivity(telling, a.AlertOwner, activities.AlertOwnerInput{Order: d.in.Key, Reason: d.Reason})
	d.attend(ctx, func() bool { return f.IsReady() || d.due() }, f) // what the owner does is not held up by telling the owner
}
