package notify

import (
	"context"
	"log/slog"
	"time"

	"handover/internal/order"
)

// The reconciliation runs every ten minutes.
const (
	checkEvery = 5 * time.Minute
	maxAge     = time.Hour        // of the last run; also how long the first may take to come
	settling   = 20 * time.Minute // after a start of everything, before the first run is expected
)

// WatchdogLedger is what the watchdog needs of the ledger.
type WatchdogLedger interface {
	ReconciledAt(ctx context.Context) (time.Time, error)
	ClaimNotice(ctx context.Context, reason order.Reason) (bool, error)
	AlertEnded(ctx context.Context, reason order.Reason, sent bool) error
}

// Watchdog notices that the reconciliation has stopped. Temporal's schedule can be paused, deleted or without a worker,
// and reports none of that, so the watchdog runs in another process than the reconciliation.
type Watchdog struct {
	ledger  WatchdogLedger
	owner   *Notifier
	log     *slog.Logger
	now     func() time.Time
	started time.Time
	stopped bool // the last check found that the reconciliation has stopped
}

// NewWatchdog returns a watchdog that begins now.
func NewWatchdog(l WatchdogLedger, owner *Notifier, log *slog.Logger, now func() time.Time) *Watchdog {
	return &Watchdog{ledger: l, owner: owner, log: log, now: now, started: now()}
}

// Run checks every few minutes until the context ends.
func (w *Watchdog) Run(ctx context.Context) {
	tick := time.NewTicker(checkEvery)
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

// Check notifies the owner, at most once a day, when the last run is too long ago.
func (w *Watchdog) Check(ctx context.Context) {
	at, err := w.ledger.ReconciledAt(ctx)
	if err != nil {
		return // a database that is away is reported by everything else
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
	if stopped && w.owner.Configured() {
		w.alert(ctx)
	}
}

func (w *Watchdog) alert(ctx context.Context) {
	claimed, err := w.ledger.ClaimNotice(ctx, order.ReasonReconcileStopped)
	if err != nil || !claimed {
		return // the next check tries again, or the owner was notified today
	}

	failure := w.owner.Notify(ctx, order.Alert{Reason: order.ReasonReconcileStopped}, w.now())
	if failure != nil {
		w.log.ErrorContext(ctx, "alert could not be sent", "reason", string(order.ReasonReconcileStopped), "error", failure)
	}

	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 4*time.Second)
	defer cancel()
	if err := w.ledger.AlertEnded(ending, order.ReasonReconcileStopped, failure == nil); err != nil {
		w.log.WarnContext(ctx, "outcome of an alert could not be stored", "error", err)
	}
}
