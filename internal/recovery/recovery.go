// Package recovery finds the orders that are stuck: events that nobody dispatched, unfinished work without a run, and
// reversals that no run has applied. It starts or signals their workflows.
package recovery

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/recovery/missed"
)

// When the schedule counts something as stuck, and how much is read at a time.
const (
	orderAge     = 10 * time.Minute
	reversalAge  = 2 * time.Minute // shorter, because what a refund ends can be opened meanwhile
	eventAge     = 5 * time.Minute // a starter dispatches an event within seconds
	ordersAtOnce = 500
	eventsAtOnce = 500
	eventsLimit  = 20 * time.Second // below the activity's heartbeat timeout
)

// Ledger lists what should be in progress.
type Ledger interface {
	Unfinished(ctx context.Context, after order.Key, age time.Duration, limit int) ([]order.Key, error)
	ReversalsDue(ctx context.Context, after order.Key, age time.Duration, limit int) ([]order.Key, error)
	Stalled(ctx context.Context, after order.Key, age time.Duration, limit int) ([]order.Key, error)
	MarkStalled(ctx context.Context, age time.Duration) ([]order.Key, error)
}

// Runs are the orders' workflows, seen from outside.
type Runs interface {
	missed.Runs
	Running(ctx context.Context, key order.Key) (bool, error)
	// Replay makes an order's run, or a new one, check the payment again, or read the ledger again where that is settled.
	Replay(ctx context.Context, key order.Key) error
	// DispatchStale dispatches events that have waited for longer than grace, at most limit of them.
	DispatchStale(ctx context.Context, grace time.Duration, limit int) (dispatched, left int, err error)
}

// Stuck goes through everything in the ledger that should be in progress: events that no starter has dispatched, orders
// whose run was terminated, deleted or lost, and reversals that no run has applied. A run does only what is missing, so a
// second start is safe.
type Stuck struct {
	Ledger    Ledger
	Runs      Runs
	Log       *slog.Logger
	Age       time.Duration     // the age from which something without a run is stuck; 0 for the schedule's
	DryRun    bool              // change nothing, and count what would be started; events are left out
	Heartbeat func(checked int) // called after each piece
	// Without progress an order is nudged after the one, also where it has an open run, and a person is asked after the
	// other.
	StuckAfter, AttentionAfter time.Duration
}

// Run goes through the ledger once. An error is the ledger's.
func (s Stuck) Run(ctx context.Context) (ledger.Reconciliation, error) {
	var r ledger.Reconciliation
	if !s.DryRun {
		s.dispatchEvents(ctx, &r)
	}
	err := each(ctx, s.Ledger.Unfinished, cmp.Or(s.Age, orderAge), func(key order.Key) { s.start(ctx, key, &r) })
	if err == nil {
		err = each(ctx, s.Ledger.ReversalsDue, cmp.Or(s.Age, reversalAge), func(key order.Key) { s.review(ctx, key, &r) })
	}
	if err == nil {
		err = each(ctx, s.Ledger.Stalled, s.StuckAfter, func(key order.Key) { s.nudge(ctx, key, &r) })
	}
	if err == nil && !s.DryRun {
		err = s.mark(ctx, &r)
	}
	return r, err
}

// nudge makes the open run of an order that makes no progress read the ledger again. An order without one has just got one.
func (s Stuck) nudge(ctx context.Context, key order.Key, r *ledger.Reconciliation) {
	running, err := s.Runs.Running(ctx, key)
	if err == nil && running && !s.DryRun {
		err = s.Runs.Replay(ctx, key)
	}
	switch {
	case err != nil:
		r.Remaining++
		s.Log.WarnContext(ctx, "order without progress could not be nudged", "order", key.String(), "error", err)
	case running:
		r.Repaired++
		s.Log.WarnContext(ctx, "order without progress nudged", "order", key.String())
	}
	s.Heartbeat(r.Checked)
}

// mark has a person asked about the orders that make no progress all the same.
func (s Stuck) mark(ctx context.Context, r *ledger.Reconciliation) error {
	marked, err := s.Ledger.MarkStalled(ctx, s.AttentionAfter)
	for _, key := range marked {
		s.Log.WarnContext(ctx, "order makes no progress", "order", key.String())
	}
	r.Marked = len(marked)
	return err
}

// each calls do with every key of a list that is read in pieces.
func each(ctx context.Context, list func(context.Context, order.Key, time.Duration, int) ([]order.Key, error), age time.Duration, do func(order.Key)) error {
	for after := (order.Key{}); ; {
		keys, err := list(ctx, after, age, ordersAtOnce)
		if err != nil {
			return err
		}
		for _, key := range keys {
			do(key)
		}
		if len(keys) < ordersAtOnce {
			return nil
		}
		after = keys[len(keys)-1]
	}
}

func (s Stuck) review(ctx context.Context, key order.Key, r *ledger.Reconciliation) {
	r.Checked++
	if s.DryRun {
		r.Repaired++
		return
	}
	if err := s.Runs.Review(ctx, key); err != nil {
		r.Remaining++
		s.Log.WarnContext(ctx, "stuck reversal could not be dispatched", "order", key.String(), "error", err)
	} else {
		r.Repaired++
		s.Log.WarnContext(ctx, "stuck reversal dispatched", "order", key.String())
	}
	s.Heartbeat(r.Checked)
}

// dispatchEvents does what every starter does all the time, because none of them may be running. The next run dispatches
// what this one has no time for.
func (s Stuck) dispatchEvents(ctx context.Context, r *ledger.Reconciliation) {
	limited, cancel := context.WithTimeout(ctx, eventsLimit)
	defer cancel()
	dispatched, left, err := s.Runs.DispatchStale(limited, cmp.Or(s.Age, eventAge), eventsAtOnce)
	r.Checked, r.Repaired, r.Remaining = r.Checked+dispatched+left, r.Repaired+dispatched, r.Remaining+left
	if err != nil {
		s.Log.WarnContext(ctx, "stale events could not be dispatched", "left", left, "error", err)
	}
	s.Heartbeat(r.Checked)
}

func (s Stuck) start(ctx context.Context, key order.Key, r *ledger.Reconciliation) {
	r.Checked++
	running, err := s.Runs.Running(ctx, key)
	switch {
	case err == nil && !running && s.DryRun:
		r.Repaired++
	case err == nil && !running:
		if err = s.Runs.Ensure(ctx, key); err == nil {
			r.Repaired++
			s.Log.WarnContext(ctx, "run started for a stuck order", "order", key.String())
		}
	}
	if err != nil {
		r.Remaining++
		s.Log.WarnContext(ctx, "run of a stuck order could not be started", "order", key.String(), "error", err)
	}
	s.Heartbeat(r.Checked)
}
