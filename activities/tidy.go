package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"handover/internal/order"
)

// What is kept, and for how long: events that were dispatched, because no provider sends one again after that, and notes of
// alerts.
const (
	keptFor    = 90 * 24 * time.Hour
	tidyAtOnce = 1000
	tidyLimit  = 5 * time.Minute
)

// Tidy deletes what is past its time, in small batches, so that deliveries beside it wait for no lock. What it has no time
// for is the next run's.
func (a *Activities) Tidy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, tidyLimit)
	defer cancel()
	for {
		deleted, err := a.Ledger.Tidy(ctx, keptFor, tidyAtOnce)
		if err != nil {
			return a.broken(ctx, stepTidy, order.Key{}, err)
		}
		if deleted < tidyAtOnce {
			return nil
		}
		activity.RecordHeartbeat(ctx)
	}
}
