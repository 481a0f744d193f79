package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"handover/internal/ledger"
	"handover/internal/order"
)

const stepReconcile = "reconcile"

// How a pass goes: what counts as left behind, and how much is listed at a time.
const (
	leftBehind   = 10 * time.Minute
	undispatched = 5 * time.Minute // of an event: a starter hands it over within seconds
	ordersAtOnce = 500
	eventsAtOnce = 500
	eventsTake   = 20 * time.Second // below the time without a heartbeat after which a pass counts as dead
)

type reconcileLedger interface {
	Unfinished(ctx context.Context, after order.Key, age time.Duration, limit int) ([]order.Key, error)
	Reconciled(ctx context.Context, r ledger.Reconciliation) error
}

// Runs are the orders' workflows, seen from outside.
type Runs interface {
	Running(ctx context.Context, key order.Key) (bool, error)
	Ensure(ctx context.Context, key order.Key) error
	// LeftBehind hands over events that have waited for longer than grace, at most limit of them.
	LeftBehind(ctx context.Context, grace time.Duration, limit int) (handed, left int, err error)
}

// ReconcileResult is what one pass came to.
type ReconcileResult struct {
	Checked  int `json:"checked"`
	Repaired int `json:"repaired"`
	Left     int `json:"left"`
}

// Reconcile goes through everything in the ledger that should be under way: events that no starter has handed over, and
// orders without a run, whose workflow was terminated, deleted or lost. A new run does what is missing, so going through it
// twice is safe. In the end it reminds the owner of what has waited for a day.
func (a *Activities) Reconcile(ctx context.Context) (ReconcileResult, error) {
	var r ledger.Reconciliation
	a.handOverEvents(ctx, &r)
	if err := a.startUnfinished(ctx, &r); err != nil {
		return ReconcileResult{}, a.failed(ctx, stepReconcile, order.Key{}, judge(err).class, err)
	}
	if err := a.Ledger.Reconciled(ctx, r); err != nil {
		return ReconcileResult{}, a.failed(ctx, stepReconcile, order.Key{}, judge(err).class, err)
	}
	a.remind(ctx)
	a.Outcomes.StepEnded(stepReconcile, "done")
	a.Log.InfoContext(ctx, "reconciled", "checked", r.Checked, "repaired", r.Repaired, "left", r.Remaining)
	return ReconcileResult{Checked: r.Checked, Repaired: r.Repaired, Left: r.Remaining}, nil
}

// handOverEvents does what the starters do all the time: none of them may be running. What it has no time for is the
// next pass's.
func (a *Activities) handOverEvents(ctx context.Context, r *ledger.Reconciliation) {
	limited, cancel := context.WithTimeout(ctx, eventsTake)
	defer cancel()
	handed, left, err := a.Runs.LeftBehind(limited, undispatched, eventsAtOnce)
	r.Checked, r.Repaired, r.Remaining = r.Checked+handed+left, r.Repaired+handed, r.Remaining+left
	if err != nil {
		a.Log.WarnContext(ctx, "events that were left behind could not be handed over", "left", left, "error", err)
	}
	activity.RecordHeartbeat(ctx, r.Checked)
}

func (a *Activities) startUnfinished(ctx context.Context, r *ledger.Reconciliation) error {
	for after := (order.Key{}); ; {
		keys, err := a.Ledger.Unfinished(ctx, after, leftBehind, ordersAtOnce)
		if err != nil {
			return err
		}
		for _, key := range keys {
			r.Checked++
			repaired, err := a.repair(ctx, key)
			switch {
			case err != nil:
				r.Remaining++
				a.Log.WarnContext(ctx, "order without a run could not be started", "order", key.String(), "error", err)
			case repaired:
				r.Repaired++
				a.Log.WarnContext(ctx, "order had no run and has one now", "order", key.String())
			}
			activity.RecordHeartbeat(ctx, r.Checked)
		}
		if len(keys) < ordersAtOnce {
			return nil
		}
		after = keys[len(keys)-1]
	}
}

func (a *Activities) repair(ctx context.Context, key order.Key) (bool, error) {
	running, err := a.Runs.Running(ctx, key)
	if err != nil || running {
		return false, err
	}
	return true, a.Runs.Ensure(ctx, key)
}
