package notify

import (
	"context"
	"log/slog"
	"time"

	"handover/internal/order"
)

// How the watch goes. A pass of the reconciliation comes every ten minutes.
const (
	watchEvery = 5 * time.Minute
	tooOld     = time.Hour        // the last pass may be as long ago, or the first as long in coming
	settling   = 20 * time.Minute // after a start of everything, in which the first pass is still to come
)

// WatchLedger is what the watch needs of the facts.
type WatchLedger interface {
	ReconciledAt(ctx context.Context) (time.Time, error)
	ClaimAlert(ctx context.Context, key order.Key, reason order.Reason) (bool, error)
	AlertEnded(ctx context.Context, key order.Key, reason order.Reason, told bool) error
}

// Watch notices that nothing looks for orders that were left behind: Temporal's schedule can be paused, deleted or
// without a worker, and says nothing then. It runs in another process than the reconciliation.
type Watch struct {
	ledger  WatchLedger
	owner   *Notifier
	log     *slog.Logger
	now     func() time.Time
	started time.Time
	old     bool // the last check found it too old
}

// NewWatch returns a watch that begins now.
func NewWatch(l WatchLedger, owner *Notifier, log *slog.Logger, now func() time.Time) *Watch {
	return &Watch{ledger: l, owner: owner, log: log, now: now, started: now()}
}

// Run checks every few minutes until the context ends.
func (w *Watch) Run(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
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

// Check looks once, and tells the owner, once a day, when the last pass is too long ago.
func (w *Watch) Check(ctx context.Context) {
	at, err := w.ledger.ReconciledAt(ctx)
	if err != nil {
		return // a database that is away is told by everything else
	}
	up := w.now().Sub(w.started)
	old := up >= settling && w.now().Sub(at) > tooOld
	if at.IsZero() {
		old = up >= tooOld
	}
	if old != w.old {
		if w.old = old; old {
			w.log.WarnContext(ctx, "the reconciliation has stopped: orders whose workflow is lost wait for their next event", "last", at)
		} else {
			w.log.InfoContext(ctx, "the reconciliation is running again", "last", at)
		}
	}
	if old && w.owner.Configured() {
		w.tell(ctx)
	}
}

func (w *Watch) tell(ctx context.Context) {
	ours, err := w.ledger.ClaimAlert(ctx, order.Key{}, order.ReasonReconcileStopped)
	if err != nil || !ours {
		return // the next check tries again, or somebody was told today
	}
	failure := w.owner.Notify(ctx, order.Key{}, order.ReasonReconcileStopped, w.now())
	if failure != nil {
		w.log.ErrorContext(ctx, "the owner could not be told", "reason", string(order.ReasonReconcileStopped), "error", failure)
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 4*time.Second)
	defer cancel()
	if err := w.ledger.AlertEnded(ending, order.Key{}, order.ReasonReconcileStopped, failure == nil); err != nil {
		w.log.WarnContext(ctx, "the outcome of an alert could not be written down", "error", err)
	}
}
