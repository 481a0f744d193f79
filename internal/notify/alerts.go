package notify

import (
	"context"
	"log/slog"
	"time"

	"handover/internal/order"
)

// AlertsLedger lets an alert through once.
type AlertsLedger interface {
	ClaimAlert(ctx context.Context, reason order.Reason) (order.Alert, error)
	ClaimNotice(ctx context.Context, reason order.Reason) (bool, error)
	AlertEnded(ctx context.Context, reason order.Reason, notified bool) error
	AlertReasons(ctx context.Context) ([]order.Reason, error)
}

// Owner is notified.
type Owner interface {
	Configured() bool
	Notify(ctx context.Context, what order.Alert, now time.Time) error
}

// Alerts notifies the owner of what needs a person: in one message for a reason and an hour, however many orders there
// are, and once a day of what is about no single order.
type Alerts struct {
	Ledger AlertsLedger
	Owner  Owner
	Log    *slog.Logger
	Now    func() time.Time
}

// Outcome is what became of an alert.
type Outcome string

// The outcomes.
const (
	Nobody Outcome = "nobody_to_tell"
	Before Outcome = "told_before"
	Sent   Outcome = "told"
	Failed Outcome = "failed"
)

// About notifies the owner of the reason. It is best effort: failure says why the owner could not be notified, is recorded
// and holds nothing up. An error is the ledger's.
func (a Alerts) About(ctx context.Context, reason order.Reason) (is Outcome, failure, err error) {
	if !a.Owner.Configured() {
		return Nobody, nil, nil
	}
	if reason.Step() == "" {
		return a.Notice(ctx, order.Alert{Reason: reason})
	}
	what, err := a.Ledger.ClaimAlert(ctx, reason)
	if err != nil || what.Orders == 0 {
		return Before, nil, err
	}
	return a.send(ctx, what)
}

// Notice notifies the owner, once a day, of what is about no single order.
func (a Alerts) Notice(ctx context.Context, what order.Alert) (is Outcome, failure, err error) {
	if !a.Owner.Configured() {
		return Nobody, nil, nil
	}
	claimed, err := a.Ledger.ClaimNotice(ctx, what.Reason)
	if err != nil || !claimed {
		return Before, nil, err
	}
	return a.send(ctx, what)
}

func (a Alerts) send(ctx context.Context, what order.Alert) (is Outcome, failure, err error) {
	failure = a.Owner.Notify(ctx, what, a.Now())
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 4*time.Second)
	defer cancel()
	if err := a.Ledger.AlertEnded(ending, what.Reason, failure == nil); err != nil {
		a.Log.WarnContext(ctx, "outcome of an alert could not be recorded", "reason", string(what.Reason), "error", err)
	}
	if failure != nil {
		a.Log.ErrorContext(ctx, "owner could not be notified", "reason", string(what.Reason), "orders", what.Orders, "error", failure)
		return Failed, failure, nil
	}
	return Sent, nil, nil
}
