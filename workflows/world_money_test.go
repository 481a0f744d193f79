package workflows_test

import (
	"context"

	"handover/activities"
	"handover/internal/flow"
	"handover/internal/order"
)

// money is what the world knows of refunds and disputes: what the provider would say if it were asked, how the access has
// to be by what was recorded, and what is still to be done.
type money struct {
	provider  order.AccessState // what the provider's answer makes of the access
	part      bool              // the provider tells of a refund that names no item
	wanted    order.AccessState
	unclear   bool
	reviewDue bool
	changeDue bool
	stopped   bool // automatic work on the change has ended
}

// reverse is what happens at the provider, and what the starter writes down of its event.
func (w *world) reverse(state order.AccessState, part bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.money.provider, w.money.part, w.money.reviewDue = state, part, true
}

// stopped is why a person is needed still when one reason has been dealt with.
func (w *world) stopped() order.Reason {
	if w.money.stopped && w.money.wanted != w.access {
		return order.ReasonRevokeStopped
	}
	if n := len(w.emails); n > 0 && w.emails[n-1].stopped && !w.emails[n-1].accepted {
		return order.ReasonEmailRefused
	}
	return ""
}

// want makes the access have to be so.
func (w *world) want(state order.AccessState) {
	w.money.wanted, w.money.stopped = state, false
	w.money.changeDue = w.access != order.AccessPending && w.access != order.AccessAttention && w.access != state || w.money.changeDue && w.access != state
}

func (w *world) CheckReversal(_ context.Context, _ activities.CheckReversalInput) (activities.CheckReversalResult, error) {
	n := w.begin("CheckReversal")
	if w.review != nil {
		wait, err := w.review(n)
		if err != nil || wait > 0 {
			w.mu.Lock()
			defer w.mu.Unlock()
			if final(err) && w.reason == "" {
				w.reason = order.ReasonReversalUnread
			}
			return activities.CheckReversalResult{Progress: activities.Progress{WaitSeconds: wait, GiveUpSeconds: int(w.steer.giveUp.Seconds())}}, err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.payment != order.PaymentConfirmed {
		w.breaks("the money was reviewed while the payment was %s", w.payment)
	}
	w.money.reviewDue = false
	w.money.unclear = w.money.part
	if w.reason.Step() == order.StepReversal {
		w.reason = w.stopped()
	}
	w.want(w.money.provider)
	return activities.CheckReversalResult{Progress: w.progress()}, nil
}

func (w *world) ChangeAccess(_ context.Context, _ activities.ChangeAccessInput) (activities.ChangeAccessResult, error) {
	n := w.begin("ChangeAccess")
	if w.change != nil {
		if err := w.change(n); err != nil {
			return activities.ChangeAccessResult{}, err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.money.changeDue {
		w.money.changeDue, w.access = false, w.money.wanted
	}
	return activities.ChangeAccessResult{Progress: w.progress()}, nil
}

// override decides as the ledger does.
func (w *world) override(kind string) flow.Answer {
	facts := order.OverrideFacts{Payment: w.payment, Asked: w.money.unclear || w.reason.Step() == order.StepReversal || w.reason.Step() == order.StepAccessChange, Owed: 1}
	override, state, outcome := order.OverrideRevoke, order.AccessRevoked, order.OutcomeRevoking
	if kind == flow.KindRestore {
		override, state, outcome = order.OverrideRestore, order.AccessGranted, order.OutcomeRestoring
	}
	switch w.money.wanted {
	case order.AccessGranted:
		facts.Whole = 1
	case order.AccessRevoked:
		facts.Revoked = 1
	}
	if decided, refusal := order.DecideOverride(override, facts); decided == order.OutcomeRefused {
		return flow.Answer{Outcome: decided, Refusal: refusal, Says: refusal.Message()}
	}
	w.money.unclear, w.money.part, w.money.provider = false, false, state
	if step := w.reason.Step(); step == order.StepReversal || step == order.StepAccessChange {
		w.reason = w.stopped()
	}
	w.want(state)
	return flow.Answer{Outcome: outcome}
}
