package workflows

import (
	"errors"

	"go.temporal.io/sdk/workflow"

	"handover/activities"
)

// Reconciled is the result of one run.
type Reconciled struct {
	activities.ReconcileResult
	Sales     activities.ReconcileSalesResult `json:"sales"`
	Reversals activities.ReconcileSalesResult `json:"reversals"`
}

// Reconcile goes through the ledger for work that makes no progress, and through the providers' lists for missed sales and
// for missed refunds and disputes; it reminds the owner, and deletes what is past its time. Each is an activity of its own
// and waits for no other. A Temporal Schedule runs it; what cannot be done in one run is the next one's.
func (w *Workflows) Reconcile(ctx workflow.Context) (Reconciled, error) {
	var r Reconciled
	parts := []struct {
		summary  string
		activity any
		result   any
	}{
		{"Start orders that are stuck", a.Reconcile, &r.ReconcileResult},
		{"Find missed sales", a.ReconcileSales, &r.Sales},
		{"Find missed refunds and disputes", a.ReconcileReversals, &r.Reversals},
		{"Remind the owner", a.RemindOwner, nil},
		{"Delete what is past its time", a.Tidy, nil},
	}
	futures := make([]workflow.Future, len(parts))
	for i, part := range parts {
		futures[i] = workflow.ExecuteActivity(reconciling(ctx, part.summary), part.activity)
	}
	var failures []error
	for i, part := range parts {
		failures = append(failures, futures[i].Get(ctx, part.result))
	}
	return r, errors.Join(failures...)
}

func reconciling(ctx workflow.Context, summary string) workflow.Context {
	options := reconcilePolicy.options(summary)
	options.HeartbeatTimeout = reconcileHeartbeat
	return workflow.WithActivityOptions(ctx, options)
}
