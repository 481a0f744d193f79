package activities

import (
	"context"
	"time"

	"handover/internal/notify"
	"handover/internal/order"
)

// Owner is notified of what needs a person.
type Owner interface {
	Configured() bool
	Notify(ctx context.Context, key order.Key, reason order.Reason, now time.Time) error
	Remind(ctx context.Context, longest []notify.Waiting, total int, now time.Time) error
}

// AlertOwnerInput is why.
type AlertOwnerInput struct {
	order.Key
	Reason order.Reason `json:"reason"`
}

// AlertOwnerResult says whether the owner was notified, by this attempt or before, or why not.
type AlertOwnerResult struct {
	Outcome string `json:"outcome"`
}

// AlertOwner notifies the shop's owner that an order needs a person, at most once a day for an order and a reason, and of a
// fault in the settings once for all orders. It is best effort: a failure is recorded and holds nothing up, because the
// order is on the attention list anyway.
func (a *Activities) AlertOwner(ctx context.Context, in AlertOwnerInput) (AlertOwnerResult, error) {
	if !a.Owner.Configured() {
		return AlertOwnerResult{Outcome: "nobody_to_tell"}, nil
	}
	claimed, err := a.Ledger.ClaimAlert(ctx, in.Key, in.Reason)
	if err != nil {
		return AlertOwnerResult{}, a.broken(ctx, stepAlert, in.Key, err)
	}
	if !claimed {
		return AlertOwnerResult{Outcome: "told_before"}, nil
	}
	failure := a.Owner.Notify(ctx, in.Key, in.Reason, a.Now())
	write, cancel := detached(ctx)
	defer cancel()
	if err := a.Ledger.AlertEnded(write, in.Key, in.Reason, failure == nil); err != nil {
		a.Log.WarnContext(ctx, "the outcome of an alert could not be recorded", "order", in.String(), "error", err)
	}
	if failure != nil {
		class, _ := classify(failure)
		a.Outcomes.StepEnded(string(stepAlert), class)
		a.Log.ErrorContext(ctx, "the owner could not be notified", "order", in.String(), "reason", string(in.Reason), "error", failure)
		return AlertOwnerResult{Outcome: "failed"}, nil
	}
	a.done(ctx, stepAlert, in.Key, string(in.Reason))
	return AlertOwnerResult{Outcome: "told"}, nil
}
