package activities

import (
	"cmp"
	"context"
	"errors"
	"time"

	"handover/internal/ledger"
	"handover/internal/order"
)

// How often, and how long apart at most, the email provider's list is read before the order is marked.
const (
	listTries       = 5
	longestListWait = 5 * time.Minute
)

// StopStepInput names a step whose automatic attempts have ended without the step having marked it itself.
type StopStepInput struct {
	order.Key
	Step       order.Step   `json:"step"`
	Generation int          `json:"generation,omitempty"` // of the email
	Event      string       `json:"event,omitempty"`      // that was the reason to check the payment
	Class      order.Class  `json:"class"`
	Reason     order.Reason `json:"reason,omitempty"` // where the class alone does not say it
}

// StopStepResult is how the order stands then.
type StopStepResult struct{ Progress }

// StopStep marks an order for a person when the last attempt died or failed in a way that promised another one. What has
// been finished, or stopped, in the meantime stays as it is. An email that somebody still works on is waited for.
func (a *Activities) StopStep(ctx context.Context, in StopStepInput) (StopStepResult, error) {
	in.Reason = cmp.Or(in.Reason, order.ReasonFor(in.Step, in.Class))
	var err error
	switch in.Step {
	case order.StepPayment:
		err = a.Ledger.StopPayment(ctx, in.Key, in.Event, in.Class, in.Reason)
	case order.StepReversal:
		err = a.Ledger.StopReversal(ctx, in.Key, in.Class, in.Reason)
	case order.StepAccessChange:
		err = a.Ledger.StopAccessChange(ctx, in.Key, in.Class, in.Reason)
	case order.StepAccess:
		err = a.Ledger.StopAccess(ctx, in.Key, in.Class, in.Reason)
	case order.StepEmail:
		if failure := a.stopUnverifiedEmail(ctx, in); failure != nil {
			return StopStepResult{}, failure
		}
	}
	if err != nil && !errors.Is(err, ledger.ErrLeaseLost) { // lost: the step marked it itself, or is done
		return StopStepResult{}, a.broken(ctx, stepStop, in.Key, err)
	}

	now, err := a.Ledger.Snapshot(ctx, in.Key)
	if err != nil {
		return StopStepResult{}, a.broken(ctx, stepStop, in.Key, err)
	}
	a.done(ctx, stepStop, in.Key, string(now.Reason))
	return StopStepResult{a.progress(now)}, nil
}

// stopUnverifiedEmail marks an email, unless there is evidence that it was accepted. An error is one for Temporal.
func (a *Activities) stopUnverifiedEmail(ctx context.Context, in StopStepInput) error {
	w := ledger.EmailObligation(in.Key, in.Generation)
	accepted, err := a.verifyEmail(ctx, w, "", in.Class)
	var unlisted *unlistedError
	switch {
	case errors.As(err, &unlisted):
		if attempt(ctx) < listTries && unlisted.wait <= longestListWait {
			return a.later(ctx, stepStop, in.Key, unlisted.wait, unlisted)
		}
		a.Log.WarnContext(ctx, "the email provider's list of sent mail could not be read", "order", in.String(), "error", err)
	case err != nil:
		return a.broken(ctx, stepStop, in.Key, err)
	case accepted:
		return nil
	}

	err = a.Ledger.Stop(ctx, w, "", in.Class, in.Reason)
	var held *ledger.NotClaimableError
	switch {
	case err == nil, errors.Is(err, ledger.ErrLeaseLost):
		return nil
	case errors.As(err, &held): // an attempt that died may still hold the claim: it is marked when that has expired
		return a.later(ctx, stepStop, in.Key, held.Until, err)
	}
	return a.broken(ctx, stepStop, in.Key, err)
}
