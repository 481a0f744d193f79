package activities

import (
	"context"
	"maps"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"

	"handover/internal/order"
	"handover/internal/recovery/missed"
)

// ReconcileSalesResult is what one pass over the providers' lists came to, all environments together.
type ReconcileSalesResult struct {
	Checked  int `json:"checked"`
	Repaired int `json:"repaired"`
	Ignored  int `json:"ignored"`
	Left     int `json:"left"`
	Unread   int `json:"unread"` // environments whose list could not be read to its end
}

// ReconcileSales asks every environment's provider for its paid sessions, from when they are not known to be complete on,
// and delivers the missed ones. What one provider does not return is left to the next run; the others do not wait for it.
func (a *Activities) ReconcileSales(ctx context.Context) (ReconcileSalesResult, error) {
	r := missed.Sales{Ledger: a.Ledger, Runs: a.Runs, Catalogue: a.Catalogue, Log: a.Log, Now: a.Now, Pause: rest}
	var sum ReconcileSalesResult
	refused := false
	for _, name := range slices.Sorted(maps.Keys(a.Environments)) {
		e := a.Environments[name]
		result, err := r.Run(ctx, missed.Environment{Name: name, Mode: e.Mode, Provider: e.Provider},
			missed.Options{Heartbeat: func() { activity.RecordHeartbeat(ctx) }})
		if err != nil {
			return sum, a.broken(ctx, stepSales, order.Key{}, err)
		}
		sum.Checked, sum.Repaired = sum.Checked+result.Checked, sum.Repaired+result.Repaired
		sum.Ignored, sum.Left = sum.Ignored+result.Ignored, sum.Left+result.Left
		outcome := order.Class("done")
		if result.Problem != "" {
			outcome, sum.Unread = result.Problem, sum.Unread+1
			refused = refused || result.Problem == order.ClassMisconfigured
		}
		a.Outcomes.StepEnded(string(stepSales), outcome)
		a.Log.InfoContext(ctx, "sales reconciled", "environment", name, "checked", result.Checked, "repaired", result.Repaired,
			"ignored", result.Ignored, "left", result.Left, "problem", string(result.Problem))
	}
	if refused {
		a.tellOfSales(ctx, order.ReasonPaymentConfig)
	}
	if sum.Left > 0 {
		a.tellOfSales(ctx, order.ReasonSaleLeft)
	}
	return sum, nil
}

// tellOfSales tells the owner, at most once a day, what keeps sales from being found or delivered.
func (a *Activities) tellOfSales(ctx context.Context, reason order.Reason) {
	if _, err := a.AlertOwner(ctx, AlertOwnerInput{Reason: reason}); err != nil {
		a.Log.WarnContext(ctx, "the owner could not be notified", "reason", string(reason), "error", err)
	}
}

// rest waits with a heartbeat.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return nil
		case <-time.After(10 * time.Second):
			activity.RecordHeartbeat(ctx)
		}
	}
}
