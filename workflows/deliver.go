// Package workflows holds what Temporal runs: Deliver, one order from the payment to the end of its time, and Reconcile.
//
// Deliver is read in this order: deliver.go runs the loop, state.go decides the next step from the facts, apply.go applies
// what a step came to, steps.go carries the steps out, messages.go receives signals and updates, present.go shows it all
// in the Temporal UI. What is true is in the ledger; facts reach a run in snapshots of it only.
package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"handover/internal/flow"
)

// Workflows holds the settings that the workflows run with.
type Workflows struct{ cfg Config }

// New returns the workflows.
func New(cfg Config) *Workflows { return &Workflows{cfg: cfg} }

// Deliver runs one order: payment confirmed, access granted, email accepted, then listening for what may still come. It
// takes the next step, and waits where there is none, until the order's time is over. A request to cancel the run is
// ignored, because what was paid for is delivered, and a step that was broken off would look like one that failed.
func (w *Workflows) Deliver(ctx workflow.Context, in flow.Input) (flow.State, error) {
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	d, err := w.begin(ctx, in)
	if err != nil {
		return flow.State{}, err
	}
	for {
		d.receive()
		next := d.state.next(workflow.Now(ctx))
		d.present(ctx)
		switch next.do {
		case wait:
			d.wait(ctx, next)
		case finish, continueAsNew:
			if d.drained(ctx) {
				return d.end(ctx, next)
			}
		default:
			d.start(ctx, next)
		}
	}
}

// delivery is one run of an order.
type delivery struct {
	in    flow.Input
	cfg   Config
	state *state

	inbox
	alarms
	shown

	moved       int    // steps that have ended
	cancelEmail func() // the one that is under way
}

func (w *Workflows) begin(ctx workflow.Context, in flow.Input) (*delivery, error) {
	if !in.Valid() {
		return nil, temporal.NewNonRetryableApplicationError("environment and session must be those of an order key", "bad_input", nil)
	}
	d := &delivery{in: in, cfg: w.cfg, state: newState(in), inbox: inbox{origin: workflow.GetInfo(ctx).OriginalRunID}}
	if c := in.Continued; c != nil {
		d.origin, d.signals, d.attention = c.Origin, c.Signals, c.Attention
	}
	return d, d.open(ctx)
}

// start carries a step out in a coroutine of its own, so that the run can decide what else comes meanwhile.
func (d *delivery) start(ctx workflow.Context, next step) {
	d.state.begin(next)
	if next.do == cancelEmail {
		d.cancelEmail()
		return
	}
	workflow.Go(ctx, func(ctx workflow.Context) {
		d.do(ctx, next)
		d.moved++
	})
}

// wait returns when a step has ended, a message has arrived, or the time has come.
func (d *delivery) wait(ctx workflow.Context, next step) {
	d.state.begin(next)
	over := d.alarm(ctx, next)
	moved := d.moved
	_ = workflow.Await(ctx, func() bool { return d.moved != moved || d.arrived() || over() })
	d.state.suggested = workflow.GetInfo(ctx).GetContinueAsNewSuggested()
}

// end closes the run, or has another one go on with the order where this one's history has become long.
func (d *delivery) end(ctx workflow.Context, last step) (flow.State, error) {
	if last.do == finish {
		return d.state.summary(), nil
	}
	next, carried := d.in, d.state.carried()
	carried.Origin, carried.Signals, carried.Attention = d.origin, d.signals, d.attention
	next.Known, next.Continued = true, &carried
	return flow.State{}, workflow.NewContinueAsNewError(ctx, flow.DeliverName, next)
}

// alarms are the timers of a run: one for the end of its time, which stays, and one for whatever comes before.
type alarms struct{ closing, soon timer }

type timer struct {
	at     time.Time
	future workflow.Future
	cancel func()
}

var summaries = map[action]string{
	readLedger:     "The database does not respond",
	confirmPayment: "Until the payment is checked again",
	checkReversal:  "Until the payment provider is asked again about refunds and disputes",
	sendEmail:      "Until the email provider is asked again",
}

// alarm makes sure that the run wakes up at the end of a wait, and says when that has come. A timer that is set for the
// same time already is kept, because each costs the history two events.
func (d *delivery) alarm(ctx workflow.Context, next step) func() bool {
	set, summary := &d.soon, summaries[next.pending]
	if next.closing {
		set, summary = &d.closing, "Listening for resends and late events"
	}
	if d.soon.cancel != nil && (next.closing || !d.soon.at.Equal(next.until)) {
		d.soon.cancel()
		d.soon = timer{}
	}
	if next.until.IsZero() {
		return func() bool { return false }
	}
	if set.future == nil {
		timed, cancel := workflow.WithCancel(ctx)
		pause := next.until.Sub(workflow.Now(ctx))
		*set = timer{at: next.until, cancel: cancel, future: workflow.NewTimerWithOptions(timed, pause, workflow.TimerOptions{Summary: summary})}
	}
	return set.future.IsReady
}
