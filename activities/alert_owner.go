package activities

import (
	"context"
	"time"

	"handover/internal/notify"
	"handover/internal/order"
)

// Owner is notified of what needs a person.
type Owner interface {
	notify.Owner
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

// AlertOwner notifies the shop's owner of what needs a person: in one message for a reason and an hour, however many orders
// there are. It is best effort: a failure is recorded and holds nothing up, because the order is on the attention list
// anyway.
func (a *Activities) AlertOwner(ctx context.Context, in AlertOwnerInput) (AlertOwnerResult, error) {
	outcome, failure, err := a.alerts().About(ctx, in.Reason)
	switch {
	case err != nil:
		return AlertOwnerResult{}, a.broken(ctx, stepAlert, in.Key, err)
	case failure != nil:
		class, _ := classify(failure)
		a.Outcomes.StepEnded(string(stepAlert), class)
	case outcome == notify.Sent:
		a.done(ctx, stepAlert, in.Key, string(in.Reason))
	}
	return AlertOwnerResult{Outcome: string(outcome)}, nil
}

func (a *Activities) alerts() notify.Alerts {
	return notify.Alerts{Ledger: a.Ledger, Owner: a.Owner, Log: a.Log, Now: a.Now}
}

// alertRest notifies the owner of what has come since the last message about its reason. Like every alert it is best
// effort.
func (a *Activities) alertRest(ctx context.Context) {
	if !a.Owner.Configured() {
		return
	}
	reasons, err := a.Ledger.AlertReasons(ctx)
	if err != nil {
		a.Log.ErrorContext(ctx, "the reasons for alerts could not be listed", "error", err)
	}
	for _, reason := range reasons {
		if _, err := a.AlertOwner(ctx, AlertOwnerInput{Reason: reason}); err != nil {
			a.Log.ErrorContext(ctx, "the owner could not be notified", "reason", string(reason), "error", err)
		}
	}
}
