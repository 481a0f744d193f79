package workflows

import (
	"errors"

	"go.temporal.io/sdk/workflow"

	"handover/activities"
)

// Reconciled is what one run came to.
type Reconciled struct {
	activities.ReconcileResult
	Sales activities.ReconcileSalesResult `json:"sales"`
}

// Reconcile goes through the ledger for work that nobody is doing, and then through the providers' lists for sales that
// nobody told of. A Temporal Schedule runs it; what cannot be done in one run is the next one's.
func (w *Workflows) Reconcile(ctx workflow.Context) (Reconciled, error) {
	var result Reconciled
	own := workflow.ExecuteActivity(reconciling(ctx, "Start what has no run"), a.Reconcile).Get(ctx, &result.ReconcileResult)
	sales := workflow.ExecuteActivity(reconciling(ctx, "Look for sales that nobody told of"), a.ReconcileSales).Get(ctx, &result.Sales)
	return result, errors.Join(own, sales)
}

func reconciling(ctx workflow.Context, summary string) workflow.Context {
	options := reconcilePolicy.options(summary)
	options.HeartbeatTimeout = reconcileHeartbeat
	return workflow.WithActivityOptions(ctx, options)
}
