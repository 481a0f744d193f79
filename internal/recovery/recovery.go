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

// How a pass over our own orders goes: what counts as left behind, and how much is listed at a time.
const (
	leftBehind   = 10 * time.Minute
	moneyBehind  = 2 * time.Minute // of a refund: meanwhile what it ends can be opened
	undispatched = 5 * time.Minute // of an event: a starter hands it over within seconds
	ordersAtOnce = 500
	eventsAtOnce = 500
	eventsTake   = 20 * time.Second // below the time without a heartbeat after which a pass counts as dead
)

// Ledger lists what should be under way.
type Ledger interface {
	Unfinished(ctx context.Context, after order.Key, age time.Duration, limit int) ([]order.Key, error)
	ReversalsDue(ctx context.Context, after order.Key, age time.Duration, limit int) ([]order.Key, error)
}

// Runs are the orders' workflows, seen from outside.
type Runs interface {
	missed.Runs
	Running(ctx context.Context, key order.Key) (bool, error)
	// Review has an order's run, or a new one, ask how its money stands.
	Review(ctx context.Context, key order.Key) error
	// DispatchStale hands over events that have waited for longer than grace, at most limit of them.
	DispatchStale(ctx context.Context, grace time.Duration, limit int) (handed, left int, err error)
}

// Stuck goes through everything in the ledger that should be under way: events that no starter has handed over, orders
// without a run, whose workflow was terminated, deleted or lost, and refunds of which a run may not have heard. A run does
// what is missing, so going through it twice is safe.
type Stuck struct {
	Ledger    Ledger
	Runs      Runs
	Log       *slog.Logger
	Age       time.Duration     // what counts as left behind; 0 for what a schedule should leave alone
	DryRun    bool              // change nothing, and count what would be started; events are left out
	Heartbeat func(checked int) // is called after each piece
}

// Run makes one pass. An error is the ledger's.
func (s Stuck) Run(ctx context.Context) (ledger.Reconciliation, error) {
	var r ledger.Reconciliation
	if !s.DryRun {
		s.handOverEvents(ctx, &r)
	}
	err := each(ctx, s.Ledger.Unfinished, cmp.Or(s.Age, leftBehind), func(key order.Key) { s.start(ctx, key, &r) })
	if err == nil {
		err = each(ctx, s.Ledger.ReversalsDue, cmp.Or(s.Age, moneyBehind), func(key order.Key) { s.review(ctx, key, &r) })
	}
	return r, err
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
		s.Log.WarnContext(ctx, "a refund or dispute that was left behind could not be handed over", "order", key.String(), "error", err)
	} else {
		r.Repaired++
		s.Log.WarnContext(ctx, "a refund or dispute was left behind and is handed over", "order", key.String())
	}
	s.Heartbeat(r.Checked)
}

// handOverEvents does what the starters do all the time: none of them may be running. What it has no time for is the
// next pass's.
func (s Stuck) handOverEvents(ctx context.Context, r *ledger.Reconciliation) {
	limited, cancel := context.WithTimeout(ctx, eventsTake)
	defer cancel()
	handed, left, err := s.Runs.DispatchStale(limited, cmp.Or(s.Age, undispatched), eventsAtOnce)
	r.Checked, r.Repaired, r.Remaining = r.Checked+handed+left, r.Repaired+handed, r.Remaining+left
	if err != nil {
		s.Log.WarnContext(ctx, "events that were left behind could not be handed over", "left", left, "error", err)
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
			s.Log.WarnContext(ctx, "order had no run and has one now", "order", key.String())
		}
	}
	if err != nil {
		r.Remaining++
		s.Log.WarnContext(ctx, "order without a run could not be started", "order", key.String(), "error", err)
	}
	s.Heartbeat(r.Checked)
}
