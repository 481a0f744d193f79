package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"

	"handover/internal/ledger"
	"handover/internal/order"
)

const stepStop = "stop"

// How often, and how long apart at most, the email provider's list is asked for before the order is marked.
const (
	lookTries       = 5
	longestLookWait = 5 * time.Minute
)

// StopStepInput names a step whose automatic attempts have ended without the step having marked it itself.
type StopStepInput struct {
	Order      order.Key    `json:"order"`
	Step       string       `json:"step"`                 // payment or email
	Generation int          `json:"generation,omitempty"` // of the email
	Event      string       `json:"event,omitempty"`      // that made us look at the payment
	Class      order.Class  `json:"class"`
	Reason     order.Reason `json:"reason,omitempty"` // where the class alone does not say it
}

// StopStepResult is why the order needs attention now.
type StopStepResult struct {
	Reason order.Reason `json:"reason,omitempty"`
	// Accepted says that the email provider's events or list prove that the message was taken: nothing has to be stopped.
	Accepted bool `json:"accepted,omitempty"`
}

// StopStep marks an order for a person when the last attempt died or failed in a way that promised another one. What
// has been finished, or stopped, in the meantime stays as it is.
func (a *Activities) StopStep(ctx context.Context, in StopStepInput) (StopStepResult, error) {
	reason := in.Reason
	if reason == "" {
		reason = reasonFor(in.Step, in.Class)
	}
	var err error
	switch in.Step {
	case stepPayment:
		err = a.Ledger.StopPayment(ctx, in.Order, in.Event, in.Class, reason)
	case stepEmail:
		proved, failure := a.proveEmail(ctx, ledger.EmailObligation(in.Order, in.Generation), "", in.Class)
		var later *laterError
		switch {
		case errors.As(failure, &later):
			if activity.GetInfo(ctx).Attempt < lookTries && later.wait <= longestLookWait {
				return StopStepResult{}, a.failedFor(ctx, stepStop, in.Order, later)
			}
			a.Log.WarnContext(ctx, "the email provider's list of sent mail could not be looked through", "order", in.Order.String(), "error", failure)
		case failure != nil:
			return StopStepResult{}, a.failed(ctx, stepStop, in.Order, judge(failure).class, failure)
		case proved:
			a.done(ctx, stepStop, in.Order, "accepted by evidence")
			return StopStepResult{Accepted: true}, nil
		}
		err = a.Ledger.Stop(ctx, ledger.EmailObligation(in.Order, in.Generation), "", in.Class, reason)
	case stepReversal:
		err = a.Ledger.StopReversal(ctx, in.Order, in.Class, reason)
	case stepAccessChange:
		err = a.Ledger.StopAccessChange(ctx, in.Order, in.Class, reason)
	case stepAccess:
		err = a.Ledger.StopAccess(ctx, in.Order, in.Class, reason)
	}
	if err != nil && !errors.Is(err, ledger.ErrLeaseLost) {
		return StopStepResult{}, a.failed(ctx, stepStop, in.Order, judge(err).class, err)
	}
	if errors.Is(err, ledger.ErrLeaseLost) { // the step marked it itself, and knew more
		if v, err := a.Ledger.Order(ctx, in.Order); err == nil && v.Reason != "" {
			reason = v.Reason
		}
	}
	a.done(ctx, stepStop, in.Order, string(reason))
	return StopStepResult{Reason: reason}, nil
}
