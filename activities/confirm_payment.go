package activities

import (
	"context"
	"fmt"

	"go.temporal.io/sdk/activity"

	"handover/internal/failpoint"
	"handover/internal/order"
	"handover/internal/payment"
)

// The names of the steps in logs and metrics.
const (
	stepPayment = "payment"
	stepAccess  = "access"
	stepEmail   = "email"
)

type paymentLedger interface {
	Snapshot(ctx context.Context, key order.Key) (order.Snapshot, error)
	RecordPayment(ctx context.Context, p order.Assessment) (order.Snapshot, error)
}

// ConfirmPaymentInput asks for one look at the payment.
type ConfirmPaymentInput struct {
	Order  order.Key `json:"order"`
	Event  string    `json:"event,omitempty"` // the event that made us look
	Origin string    `json:"origin"`          // the run in which the workflow was first started, before any reset
	Again  bool      `json:"again,omitempty"` // an earlier look may have confirmed it
}

// ConfirmPaymentResult is what the look found.
type ConfirmPaymentResult struct {
	Payment     order.PaymentState `json:"payment"`
	Reason      order.Reason       `json:"reason,omitempty"`       // why a person has to decide, if one has to
	WaitSeconds int                `json:"wait_seconds,omitempty"` // the provider asks to wait; nothing was found out
	ReversalDue bool               `json:"review_due,omitempty"`   // there was a refund or a dispute: review before anything is given

	// AwaitSeconds is how long a payment on its way is polled.
	AwaitSeconds int `json:"await_seconds,omitempty"`
	// OpenSeconds is how long the workflow listens after the delivery of a confirmed payment.
	OpenSeconds int `json:"open_seconds,omitempty"`
}

// ConfirmPayment makes it known whether the session is paid: it retrieves the session from the provider with the
// environment's own key and records what that proves. It is a read, so running it twice is safe; a payment that is
// confirmed is not looked at again, unless items were missing in the catalogue that may have been added since. Final: the provider does not know the session, or refuses our key.
func (a *Activities) ConfirmPayment(ctx context.Context, in ConfirmPaymentInput) (ConfirmPaymentResult, error) {
	info := activity.GetInfo(ctx)
	// The straight path saves the question: a first attempt of a first run cannot have been here before.
	if in.Again || info.Attempt > 1 || info.WorkflowExecution.RunID != in.Origin {
		known, err := a.Ledger.Snapshot(ctx, in.Order)
		if err != nil {
			return ConfirmPaymentResult{}, a.failed(ctx, stepPayment, in.Order, judge(err).class, err)
		}
		if known.Payment == order.PaymentConfirmed && known.Reason != order.ReasonItemsUnknown {
			return a.recorded(known), nil
		}
	}
	environment, found := a.Environments[in.Order.Environment]
	if !found {
		err := fmt.Errorf("environment %q is not in this worker's configuration: %w", in.Order.Environment, errMisconfigured)
		return ConfirmPaymentResult{}, a.stopPayment(ctx, in, order.ClassMisconfigured, err)
	}
	failpoint.Hit("payment.before_retrieve")
	facts, err := environment.Provider.Session(ctx, in.Order.Session)
	if err != nil {
		return a.paymentFailure(ctx, in, err)
	}
	failpoint.Hit("payment.retrieved")
	looked := payment.Assess(in.Order, environment.Mode, a.Catalogue, facts)
	looked.Event = in.Event
	now, err := a.Ledger.RecordPayment(ctx, looked)
	if err != nil {
		return ConfirmPaymentResult{}, a.failed(ctx, stepPayment, in.Order, judge(err).class, err)
	}
	failpoint.Hit("payment.recorded")
	a.done(ctx, stepPayment, in.Order, string(now.Payment))
	return a.recorded(now), nil
}

// recorded is the one answer of every attempt: one whose own answer was lost has to say the same once more, above all
// that the money may have gone back.
func (a *Activities) recorded(r order.Snapshot) ConfirmPaymentResult {
	return a.steered(ConfirmPaymentResult{Payment: r.Payment, Reason: r.Reason, ReversalDue: r.ReversalDue})
}

// steered adds what the run decides its next step by.
func (a *Activities) steered(r ConfirmPaymentResult) ConfirmPaymentResult {
	switch r.Payment {
	case order.PaymentPending:
		r.AwaitSeconds = seconds(a.cfg.AwaitPaymentFor)
	case order.PaymentConfirmed:
		r.OpenSeconds = seconds(a.cfg.OpenFor)
	}
	return r
}

func (a *Activities) paymentFailure(ctx context.Context, in ConfirmPaymentInput, err error) (ConfirmPaymentResult, error) {
	v := judge(err)
	if v.class == order.ClassRateLimited {
		a.Outcomes.StepEnded(stepPayment, v.class)
		return a.steered(ConfirmPaymentResult{Payment: order.PaymentPending, WaitSeconds: seconds(v.wait)}), nil
	}
	if v.class.Final() {
		return ConfirmPaymentResult{}, a.stopPayment(ctx, in, v.class, err)
	}
	return ConfirmPaymentResult{}, a.failed(ctx, stepPayment, in.Order, v.class, err)
}

// stopPayment marks the order before the error ends the attempts.
func (a *Activities) stopPayment(ctx context.Context, in ConfirmPaymentInput, class order.Class, cause error) error {
	ctx, cancel := detached(ctx)
	defer cancel()
	if err := a.Ledger.StopPayment(ctx, in.Order, in.Event, class, reasonFor(stepPayment, class)); err != nil {
		return a.failed(ctx, stepPayment, in.Order, judge(err).class, err)
	}
	return a.failed(ctx, stepPayment, in.Order, class, cause)
}
