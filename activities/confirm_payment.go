package activities

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"handover/internal/failpoint"
	"handover/internal/order"
	"handover/internal/payment"
)

// ConfirmPaymentInput asks for one check of the payment.
type ConfirmPaymentInput struct {
	order.Key
	Event  string `json:"event,omitempty"` // the event that is the reason to check
	Origin string `json:"origin"`          // the run in which the workflow was first started, before any reset
	Again  bool   `json:"again,omitempty"` // an earlier check may have confirmed it
	Turn   int    `json:"turn,omitempty"`  // how many waits there have been before
}

// ConfirmPaymentResult is what the check found.
type ConfirmPaymentResult struct{ Progress }

// ConfirmPayment makes it known whether the session is paid: it retrieves the session from the provider with the
// environment's own key and records what that shows. It is a read, so running it twice is safe; a payment that is
// confirmed is not retrieved again, unless items were missing in the catalogue that may have been added since. Final: the
// provider does not know the session, or refuses our key.
func (a *Activities) ConfirmPayment(ctx context.Context, in ConfirmPaymentInput) (ConfirmPaymentResult, error) {
	info := activity.GetInfo(ctx)
	// The straight path saves the question: a first attempt of a first run cannot have been here before.
	if in.Again || info.Attempt > 1 || info.WorkflowExecution.RunID != in.Origin {
		known, err := a.Ledger.Snapshot(ctx, in.Key)
		if err != nil {
			return ConfirmPaymentResult{}, a.broken(ctx, order.StepPayment, in.Key, err)
		}
		if known.Payment == order.PaymentConfirmed && known.Reason != order.ReasonItemsUnknown {
			return a.confirmed(known), nil
		}
	}

	environment, found := a.Environments[in.Environment]
	if !found {
		err := fmt.Errorf("environment %q is not in this worker's configuration: %w", in.Environment, errMisconfigured)
		return ConfirmPaymentResult{}, a.stopPayment(ctx, in, order.ClassMisconfigured, err)
	}
	failpoint.Hit("payment.before_retrieve")
	facts, err := environment.Provider.Session(ctx, in.Session)
	if err != nil {
		return a.paymentFailure(ctx, in, err)
	}
	failpoint.Hit("payment.retrieved")

	assessed := payment.Assess(in.Key, environment.Mode, a.Catalogue, facts)
	assessed.Event = in.Event
	now, err := a.Ledger.RecordPayment(ctx, assessed)
	if err != nil {
		return ConfirmPaymentResult{}, a.broken(ctx, order.StepPayment, in.Key, err)
	}
	failpoint.Hit("payment.recorded")
	a.done(ctx, order.StepPayment, in.Key, string(now.Payment))
	return a.confirmed(now), nil
}

// confirmed is the one result of every attempt: one whose own result was lost says the same once more.
func (a *Activities) confirmed(now order.Snapshot) ConfirmPaymentResult {
	p := Progress{Snapshot: now}
	switch now.Payment {
	case order.PaymentPending:
		p.GiveUpSeconds = seconds(a.cfg.AwaitPaymentFor)
	case order.PaymentConfirmed:
		p.OpenSeconds = seconds(a.cfg.OpenFor)
	}
	return ConfirmPaymentResult{p}
}

func (a *Activities) paymentFailure(ctx context.Context, in ConfirmPaymentInput, err error) (ConfirmPaymentResult, error) {
	class, said := classify(err)
	switch {
	case class == order.ClassRateLimited:
		a.Outcomes.StepEnded(string(order.StepPayment), class)
		wait := pause(said, in.Turn)
		a.postpone(ctx, in.Key, wait)
		return ConfirmPaymentResult{Progress{WaitSeconds: seconds(wait), GiveUpSeconds: seconds(a.cfg.AwaitPaymentFor)}}, nil
	case class.Final():
		return ConfirmPaymentResult{}, a.stopPayment(ctx, in, class, err)
	}
	a.postpone(ctx, in.Key, a.cfg.PaymentWait(attempt(ctx)))
	return ConfirmPaymentResult{}, a.failed(ctx, order.StepPayment, in.Key, class, err)
}

// postpone states when the provider is asked again, so that the wait is not taken for a lack of progress. Where it cannot
// be stated, a person may be asked too soon.
func (a *Activities) postpone(ctx context.Context, key order.Key, wait time.Duration) {
	if err := a.Ledger.Postpone(ctx, key, wait); err != nil {
		a.Log.WarnContext(ctx, "a wait could not be recorded", "order", key.String(), "error", err)
	}
}

// stopPayment marks the order before the error ends the attempts.
func (a *Activities) stopPayment(ctx context.Context, in ConfirmPaymentInput, class order.Class, cause error) error {
	write, cancel := detached(ctx)
	defer cancel()
	if err := a.Ledger.StopPayment(write, in.Key, in.Event, class, order.ReasonFor(order.StepPayment, class)); err != nil {
		return a.broken(ctx, order.StepPayment, in.Key, err)
	}
	return a.failed(ctx, order.StepPayment, in.Key, class, cause)
}
