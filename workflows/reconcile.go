package workflows

import (
	"errors"

	"go.temporal.io/sdk/workflow"

	"handover/activities"
)

// Reconciled is the result of one run.
type Reconciled struct {
	activities.ReconcileResult
	Sales activities.ReconcileSalesResult `json:"sales"`
}

// Reconcile goes through the ledger for work that makes no progress, and then through the providers' lists for missed
// sales. A Temporal Schedule runs it; what cannot be done in one run is the next one's.
func (w *Workflows) Reconcile(ctx workflow.Context) (Reconciled, error) {
	var result Reconciled
	own := workflow.ExecuteActivity(reconciling(ctx, "Start orders that are stuck"), a.Reconcile).Get(ctx, &result.ReconcileResult)
	sales := workflow.ExecuteActivity(reconciling(ctx, "Find missed sales"), a.ReconcileSales).Get(ctx, &result.Sales)
	return result, errors.Join(own, sales)
}

func reconciling(ctx workflow.Context, summary string) workflow.Context {
	options := reconcilePolicy.options(summary)
	options.HeartbeatTimeout = reconcileHeartbeat
	return workflow.WithActivityOptions(ctx, options)
}
