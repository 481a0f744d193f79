package activities

import (
	"context"
	"errors"
	"time"

	"handover/internal/notify"
	"handover/internal/order"
)

// How a reminder goes: how long telling may take for its claim to count as going well, how many orders it lists, and how
// long it may hold up the pass.
const (
	tellingTakes   = time.Hour
	remindersList  = 20
	remindersLimit = 20 * time.Second
)

// RemindOwner notifies the owner of what has come since the last message about its reason, and once a day of everything that
// still needs a person. Like every alert it is best effort, and nothing fails with it.
func (a *Activities) RemindOwner(ctx context.Context) error {
	a.alertRest(ctx)
	a.remind(ctx)
	a.digest(ctx)
	return nil
}

// digest names, once a day, the orders of which nothing shows that the buyer has it.
func (a *Activities) digest(ctx context.Context) {
	if !a.Owner.Configured() {
		return
	}
	what, err := a.Ledger.Unreached(ctx, a.cfg.UnreachedAfter, order.MostReferences)
	if err != nil || what.Orders == 0 {
		a.complain(ctx, err)
		return
	}
	_, failure, err := a.alerts().Notice(ctx, what)
	a.complain(ctx, errors.Join(failure, err))
}

// remind notifies the owner, once a day and in one message, of orders that still need a person after their alert was
// sent, and of those whose alert failed. Like every alert it is best effort, and nothing fails with it.
func (a *Activities) remind(ctx context.Context) {
	if !a.Owner.Configured() {
		return
	}
	listed, total, err := a.Ledger.Unnotified(ctx, tellingTakes, remindersList)
	if err != nil || total == 0 {
		a.complain(ctx, err)
		return
	}
	ours, err := a.Ledger.ClaimReminder(ctx)
	if err != nil || !ours {
		a.complain(ctx, err)
		return
	}
	now := a.Now()
	longest := make([]notify.Waiting, len(listed))
	for i, w := range listed {
		longest[i] = notify.Waiting{Reference: w.Reference, Reason: w.Reason, Since: w.Since}
	}
	telling, cancel := context.WithTimeout(ctx, remindersLimit)
	defer cancel()
	failure := a.Owner.Remind(telling, longest, total, now)
	write, done := detached(ctx)
	defer done()
	a.complain(ctx, a.Ledger.AlertEnded(write, order.ReasonStillWaiting, failure == nil))
	if failure != nil {
		class, _ := classify(failure)
		a.Outcomes.StepEnded(string(stepAlert), class)
		a.complain(ctx, failure)
		return
	}
	a.Outcomes.StepEnded(string(stepAlert), "done")
	a.Log.InfoContext(ctx, "the owner was reminded", "orders", total)
}

func (a *Activities) complain(ctx context.Context, err error) {
	if err != nil {
		a.Log.ErrorContext(ctx, "the owner could not be reminded", "error", err)
	}
}
