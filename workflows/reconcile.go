package workflows

import (
	"go.temporal.io/sdk/workflow"

	"handover/activities"
)

// ReconcileName is the name under which Temporal knows the workflow.
const ReconcileName = "Reconcile"

// Reconcile goes through the ledger for work that nobody is doing. A Temporal Schedule runs it; what cannot be done in one
// run is the next one's.
func (w *Workflows) Reconcile(ctx workflow.Context) (activities.ReconcileResult, error) {
	options := reconcilePolicy.options("Start what has no run")
	options.HeartbeatTimeout = reconcileHeartbeat
	var result activities.ReconcileResult
	err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options), a.Reconcile).Get(ctx, &result)
	return result, err
}
