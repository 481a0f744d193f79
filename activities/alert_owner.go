package activities

import (
	"context"
	"time"

	"handover/internal/ledger"
	"handover/internal/notify"
	"handover/internal/order"
)

const stepAlert = "alert"

type alertLedger interface {
	ClaimAlert(ctx context.Context, key order.Key, reason order.Reason) (bool, error)
	AlertEnded(ctx context.Context, key order.Key, reason order.Reason, told bool) error
	Unnotified(ctx context.Context, grace time.Duration, limit int) (listed []ledger.Waiting, total int, err error)
	ClaimReminder(ctx context.Context) (bool, error)
}

// Owner is told what needs a person.
type Owner interface {
	Configured() bool
	Notify(ctx context.Context, key order.Key, reason order.Reason, now time.Time) error
	Remind(ctx context.Context, longest []notify.Waiting, total int, now time.Time) error
}

// AlertOwnerInput is what to tell.
type AlertOwnerInput struct {
	Order  order.Key    `json:"order"`
	Reason order.Reason `json:"reason"`
}

// AlertOwnerResult is how telling went: told, failed, told_before or nobody_to_tell.
type AlertOwnerResult struct {
	Outcome string `json:"outcome"`
}

// AlertOwner tells the shop's owner that an order needs a person, at most once a day for an order and a reason, and of a
// fault in the settings once for all orders. It is best effort: a failure is written down and holds nothing up, since the
// order is on the attention list whether or not somebody was told.
func (a *Activities) AlertOwner(ctx context.Context, in AlertOwnerInput) (AlertOwnerResult, error) {
	if !a.Owner.Configured() {
		return AlertOwnerResult{Outcome: "nobody_to_tell"}, nil
	}
	ours, err := a.Ledger.ClaimAlert(ctx, in.Order, in.Reason)
	if err != nil {
		return AlertOwnerResult{}, a.failed(ctx, stepAlert, in.Order, judge(err).class, err)
	}
	if !ours {
		return AlertOwnerResult{Outcome: "told_before"}, nil
	}
	failure := a.Owner.Notify(ctx, in.Order, in.Reason, time.Now())
	write, cancel := detached(ctx)
	defer cancel()
	if err := a.Ledger.AlertEnded(write, in.Order, in.Reason, failure == nil); err != nil {
		a.Log.WarnContext(ctx, "the outcome of an alert could not be written down", "order", in.Order.String(), "error", err)
	}
	if failure != nil {
		a.Outcomes.StepEnded(stepAlert, judge(failure).class)
		a.Log.ErrorContext(ctx, "the owner could not be told", "order", in.Order.String(), "reason", string(in.Reason), "error", failure)
		return AlertOwnerResult{Outcome: "failed"}, nil
	}
	a.done(ctx, stepAlert, in.Order, string(in.Reason))
	return AlertOwnerResult{Outcome: "told"}, nil
}
