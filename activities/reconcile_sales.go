package activities

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"golang.org/x/sync/errgroup"

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

// ReconcileSales asks every environment's provider for its paid sessions, from the high-water mark on, and delivers the
// missed ones. What one provider does not return is left to the next run; the others do not wait for it.
func (a *Activities) ReconcileSales(ctx context.Context) (ReconcileSalesResult, error) {
	sum, refused, err := a.everywhere(ctx, stepSales, func(ctx context.Context, s missed.Sales, e missed.Environment, o missed.Options) (found, error) {
		r, err := s.Run(ctx, e, o)
		return found{ReconcileSalesResult{Checked: r.Checked, Repaired: r.Repaired, Ignored: r.Ignored, Left: r.Left}, r.Problem}, err
	})
	if err != nil {
		return sum, err
	}
	if refused {
		a.tellOfSales(ctx, order.ReasonPaymentConfig)
	}
	if sum.Left > 0 {
		a.tellOfSales(ctx, order.ReasonSaleLeft)
	}
	return sum, nil
}

// ReconcileReversals asks every environment's provider for its refunds and disputes, from their own high-water mark on, and
// has those read that nobody reported.
func (a *Activities) ReconcileReversals(ctx context.Context) (ReconcileSalesResult, error) {
	sum, _, err := a.everywhere(ctx, stepReversals, func(ctx context.Context, s missed.Sales, e missed.Environment, o missed.Options) (found, error) {
		r, err := s.Reversals(ctx, e, o)
		return found{ReconcileSalesResult{Checked: r.Checked, Repaired: r.Repaired, Ignored: r.Ignored, Left: r.Left}, r.Problem}, err
	})
	return sum, err
}

// found is what a run over one environment found, and why it could not read all.
type found struct {
	ReconcileSalesResult
	problem order.Class
}

// everywhere runs over all environments side by side, so that a provider that takes its time holds up no other. It says
// whether one of them refuses the settings.
func (a *Activities) everywhere(ctx context.Context, step order.Step,
	run func(context.Context, missed.Sales, missed.Environment, missed.Options) (found, error)) (sum ReconcileSalesResult, refused bool, err error) {
	sales := missed.Sales{Ledger: a.Ledger, Runs: a.Runs, Catalogue: a.Catalogue, Log: a.Log, Now: a.Now, Pause: rest}
	var mu sync.Mutex
	group, running := errgroup.WithContext(ctx)
	for name, e := range a.Environments {
		group.Go(func() error {
			is, err := run(running, sales, missed.Environment{Name: name, Mode: e.Mode, Provider: e.Provider},
				missed.Options{Heartbeat: func() { activity.RecordHeartbeat(ctx) }})
			if err != nil {
				return err
			}
			outcome := order.Class("done")
			if is.problem != "" {
				outcome, is.Unread = is.problem, 1
			}
			mu.Lock()
			defer mu.Unlock()
			sum = sum.plus(is.ReconcileSalesResult)
			refused = refused || is.problem == order.ClassMisconfigured
			a.Outcomes.StepEnded(string(step), outcome)
			a.Log.InfoContext(ctx, "list of a payment provider reconciled", "step", string(step), "environment", name, "checked", is.Checked,
				"repaired", is.Repaired, "ignored", is.Ignored, "left", is.Left, "problem", string(is.problem))
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return sum, refused, a.broken(ctx, step, order.Key{}, err)
	}
	return sum, refused, nil
}

func (r ReconcileSalesResult) plus(o ReconcileSalesResult) ReconcileSalesResult {
	return ReconcileSalesResult{r.Checked + o.Checked, r.Repaired + o.Repaired, r.Ignored + o.Ignored, r.Left + o.Left, r.Unread + o.Unread}
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
