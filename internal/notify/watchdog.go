package notify

import (
	"context"
	"log/slog"
	"time"

	"handover/internal/order"
)

// The reconciliation runs every ten minutes.
const (
	checkEvery = time.Minute
	maxAge     = time.Hour        // of the last run; also how long the first may take to come
	settling   = 20 * time.Minute // after a start of everything, before the first run is expected
)

// WatchdogLedger is what the watchdog needs of the ledger.
type WatchdogLedger interface {
	AlertsLedger
	ReconciledAt(ctx context.Context) (time.Time, error)
	MarkStalled(ctx context.Context, age time.Duration) ([]order.Key, error)
	Behind(ctx context.Context, environments []string, age time.Duration) ([]string, error)
}

// Watchdog notices that orders make no progress, and that the reconciliation has stopped. Temporal's schedule can be
// paused, deleted or without a worker, and reports none of that, so the watchdog runs in another process.
type Watchdog struct {
	ledger  WatchdogLedger
	alerts  Alerts
	after   time.Duration // without progress, until an order needs a person
	names   []string      // of the environments
	log     *slog.Logger
	now     func() time.Time
	started time.Time
	stopped bool // the last check found that the reconciliation has stopped
}

// NewWatchdog returns a watchdog over the environments that begins now. An order that makes no progress for longer than
// after needs a person.
func NewWatchdog(l WatchdogLedger, owner Owner, environments []string, after time.Duration, log *slog.Logger, now func() time.Time) *Watchdog {
	return &Watchdog{ledger: l, alerts: Alerts{Ledger: l, Owner: owner, Log: log, Now: now}, names: environments, after: after, log: log, now: now, started: now()}
}

// Run checks every minute, or twice in the time after which an order needs a person, until the context ends.
func (w *Watchdog) Run(ctx context.Context) {
	tick := time.NewTicker(min(checkEvery, w.after/2))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			checking, cancel := context.WithTimeout(ctx, time.Minute)
			w.Check(checking)
			cancel()
		}
	}
}

// Check marks the orders that make no progress, and notifies the owner of them, and, at most once a day, of a last run that is
// too long ago. A database that is away is reported by everything else.
func (w *Watchdog) Check(ctx context.Context) {
	marked, err := w.ledger.MarkStalled(ctx, w.after)
	if err != nil {
		return
	}
	for _, key := range marked {
		w.log.WarnContext(ctx, "order makes no progress", "order", key.String())
	}
	_, _, _ = w.alerts.About(ctx, order.ReasonNotProgressing) // the next check tries again
	at, err := w.ledger.ReconciledAt(ctx)
	if err != nil {
		return
	}

	up := w.now().Sub(w.started)
	stopped := up >= settling && w.now().Sub(at) > maxAge
	if at.IsZero() {
		stopped = up >= maxAge
	}

	if stopped != w.stopped {
		if w.stopped = stopped; stopped {
			w.log.WarnContext(ctx, "reconciliation stopped", "last", at)
		} else {
			w.log.InfoContext(ctx, "reconciliation running again", "last", at)
		}
	}
	if stopped {
		_, _, _ = w.alerts.About(ctx, order.ReasonReconcileStopped)
		return
	}
	if behind, err := w.ledger.Behind(ctx, w.names, maxAge); err == nil && len(behind) > 0 && up >= settling {
		_, _, _ = w.alerts.About(ctx, order.ReasonListBehind)
	}
}
