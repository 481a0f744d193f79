package activities

import (
	"context"
	"errors"
	"fmt"

	"handover/internal/failpoint"
	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/payment"
)

// CheckReversalInput asks how the money of a confirmed payment stands.
type CheckReversalInput struct {
	order.Key
	Turn int `json:"turn,omitempty"` // how many waits there have been before
}

// CheckReversalResult is how the order stands then.
type CheckReversalResult struct{ Progress }

// CheckReversal makes it known what became of the money of a confirmed payment: it asks the provider for the refunds and
// disputes as they stand now, and records what that makes of the access. It changes no access itself. It is a read, so
// running it twice is safe. Final: the provider does not know the payment, or refuses our key.
func (a *Activities) CheckReversal(ctx context.Context, in CheckReversalInput) (CheckReversalResult, error) {
	began, err := a.Ledger.BeginReversal(ctx, in.Key)
	switch {
	case errors.Is(err, ledger.ErrNotFound): // not confirmed yet: the payment comes first
		return a.reversalChecked(ctx, in)
	case err != nil:
		return CheckReversalResult{}, a.broken(ctx, order.StepReversal, in.Key, err)
	}
	facts := order.ReversalFacts{}
	if began.PaymentRef != "" { // else nothing was paid, and nothing can be paid back
		if facts, err = a.reversals(ctx, in.Key, began.PaymentRef); err != nil {
			return a.reversalFailure(ctx, in, err)
		}
	}

	err = a.Ledger.RecordReversal(ctx, ledger.Reversal{Key: in.Key, Since: began.Since, Money: facts}, a.Catalogue)
	if err != nil {
		return CheckReversalResult{}, a.broken(ctx, order.StepReversal, in.Key, err)
	}
	failpoint.Hit("revoke.recorded")
	a.done(ctx, order.StepReversal, in.Key, "recorded")
	return a.reversalChecked(ctx, in)
}

func (a *Activities) reversalChecked(ctx context.Context, in CheckReversalInput) (CheckReversalResult, error) {
	now, err := a.Ledger.Snapshot(ctx, in.Key)
	if err != nil {
		return CheckReversalResult{}, a.broken(ctx, order.StepReversal, in.Key, err)
	}
	return CheckReversalResult{a.progress(now)}, nil
}

func (a *Activities) reversals(ctx context.Context, key order.Key, ref string) (order.ReversalFacts, error) {
	environment, found := a.Environments[key.Environment]
	if !found {
		return order.ReversalFacts{}, fmt.Errorf("environment %q is not in this worker's configuration: %w", key.Environment, errMisconfigured)
	}
	r, err := environment.Provider.Reversals(ctx, ref)
	if err != nil {
		return order.ReversalFacts{}, err
	}
	return order.ReversalFacts{
		Paid: r.Paid.Minor, Refunded: r.Refunded(payment.RefundSucceeded), Pending: r.Refunded(payment.RefundPending), Dispute: r.Dispute,
		Disputed: r.Disputed, Currency: r.Paid.Currency,
	}, nil
}

func (a *Activities) reversalFailure(ctx context.Context, in CheckReversalInput, err error) (CheckReversalResult, error) {
	class, said := classify(err)
	if class == order.ClassRateLimited {
		a.Outcomes.StepEnded(string(order.StepReversal), class)
		wait := pause(said, in.Turn)
		a.postpone(ctx, in.Key, wait)
		return CheckReversalResult{Progress{WaitSeconds: seconds(wait), GiveUpSeconds: seconds(a.cfg.PaymentGiveUp)}}, nil
	}
	if !class.Final() {
		a.postpone(ctx, in.Key, a.cfg.PaymentWait(attempt(ctx)))
		return CheckReversalResult{}, a.failed(ctx, order.StepReversal, in.Key, class, err)
	}
	write, cancel := detached(ctx)
	defer cancel()
	if failure := a.Ledger.StopReversal(write, in.Key, class, order.ReasonFor(order.StepReversal, class)); failure != nil {
		return CheckReversalResult{}, a.broken(ctx, order.StepReversal, in.Key, failure)
	}
	return CheckReversalResult{}, a.failed(ctx, order.StepReversal, in.Key, class, err)
}
