package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"handover/internal/ledger"
	"handover/internal/order"
)

const stepReconcile = "reconcile"

// How a pass goes: what counts as left behind, and how many orders are listed at a time.
const (
	leftBehind   = 10 * time.Minute
	ordersAtOnce = 500
)

type reconcileLedger interface {
	Unfinished(ctx context.Context, after order.Key, age time.Duration, limit int) ([]order.Key, error)
	Reconciled(ctx context.Context, r ledger.Reconciliation) error
}

// Runs are the orders' workflows, seen from outside.
type Runs interface {
	Running(ctx context.Context, key order.Key) (bool, error)
	Ensure(ctx context.Context, key order.Key) error
}

// ReconcileResult is what one pass came to.
type ReconcileResult struct {
	Checked  int `json:"checked"`
	Repaired int `json:"repaired"`
	Left     int `json:"left"`
}

// Reconcile goes through everything in the ledger that should be under way and starts a run where there is none: its
// workflow was terminated, deleted or lost. The new run does what is missing, so going through it twice is safe.
func (a *Activities) Reconcile(ctx context.Context) (ReconcileResult, error) {
	var r ledger.Reconciliation
	for after := (order.Key{}); ; {
		keys, err := a.Ledger.Unfinished(ctx, after, leftBehind, ordersAtOnce)
		if err != nil {
			return ReconcileResult{}, a.failed(ctx, stepReconcile, order.Key{}, judge(err).class, err)
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
			break
		}
		after = keys[len(keys)-1]
	}
	if err := a.Ledger.Reconciled(ctx, r); err != nil {
		return ReconcileResult{}, a.failed(ctx, stepReconcile, order.Key{}, judge(err).class, err)
	}
	a.Outcomes.StepEnded(stepReconcile, "done")
	a.Log.InfoContext(ctx, "reconciled", "checked", r.Checked, "repaired", r.Repaired, "left", r.Remaining)
	return ReconcileResult{Checked: r.Checked, Repaired: r.Repaired, Left: r.Remaining}, nil
}

func (a *Activities) repair(ctx context.Context, key order.Key) (bool, error) {
	running, err := a.Runs.Running(ctx, key)
	if err != nil || running {
		return false, err
	}
	return true, a.Runs.Ensure(ctx, key)
}
