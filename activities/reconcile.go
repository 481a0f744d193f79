package activities

import (
	"context"

	"go.temporal.io/sdk/activity"

	"handover/internal/order"
	"handover/internal/recovery"
)

// Runs are the orders' workflows, seen from outside.
type Runs = recovery.Runs

// ReconcileResult is what one pass came to.
type ReconcileResult struct {
	Checked  int `json:"checked"`
	Repaired int `json:"repaired"`
	Left     int `json:"left"`
}

// Reconcile goes through everything in the ledger that should be under way. Going through it twice is safe.
func (a *Activities) Reconcile(ctx context.Context) (ReconcileResult, error) {
	stuck := recovery.Stuck{Ledger: a.Ledger, Runs: a.Runs, Log: a.Log,
		StuckAfter: a.cfg.StuckAfter, AttentionAfter: a.cfg.AttentionAfter, Heartbeat: func(checked int) { activity.RecordHeartbeat(ctx, checked) }}
	r, err := stuck.Run(ctx)
	if err == nil {
		err = a.Ledger.Reconciled(ctx, r)
	}
	if err != nil {
		return ReconcileResult{}, a.broken(ctx, stepReconcile, order.Key{}, err)
	}
	a.Outcomes.StepEnded(string(stepReconcile), "done")
	a.Log.InfoContext(ctx, "reconciled", "checked", r.Checked, "repaired", r.Repaired, "left", r.Remaining, "marked", r.Marked)
	return ReconcileResult{Checked: r.Checked, Repaired: r.Repaired, Left: r.Remaining}, nil
}
