package dispatch

import (
	"context"
	"time"

	"handover/internal/ledger"
	"handover/internal/order"
)

// The loop waits for grace before it takes over an event or a request, because its straight path may still be in progress.
const (
	grace        = 3 * time.Second
	requestGrace = time.Minute
	pause        = time.Second
	longestPause = 15 * time.Second
	mostAtOnce   = 200
	callTimeout  = 3 * time.Second
)

// Run dispatches stale events, which were stored while Temporal was away or just before a process died, and requests whose
// signal failed. It returns when the context ends.
func (d *Dispatcher) Run(ctx context.Context) {
	wait := pause
	for {
		if d.sweep(ctx) {
			wait = pause
		} else {
			wait = min(2*wait, longestPause)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// sweep goes through everything once, and says whether the ledger and Temporal responded.
func (d *Dispatcher) sweep(ctx context.Context) bool {
	known, err := d.ledger.Installation(ctx)
	if err != nil {
		d.warn(ctx, "task queue could not be read", err)
		return false
	}
	if known.TaskQueue != "" {
		d.UseQueue(known.TaskQueue) // a worker may have moved to another
	}
	if _, left, err := d.DispatchStale(ctx, grace, mostAtOnce); err != nil {
		what := "undispatched events could not be read"
		if left > 0 {
			what = "undispatched events are waiting for Temporal"
		}
		d.warn(ctx, what, err)
		return false
	}
	if !d.attach(ctx) {
		return false
	}
	requests, err := d.ledger.Waiting(ctx, requestGrace, mostAtOnce)
	if err != nil {
		d.warn(ctx, "waiting requests could not be read", err)
		return false
	}
	for _, r := range requests {
		if err := d.askLate(ctx, r); err != nil {
			d.warn(ctx, "requests are waiting for Temporal", err)
			return false
		}
	}
	return true
}

// DispatchStale dispatches the events that have waited for longer than grace, at most limit of them and the oldest first, and
// says how many went. It ends at the first that does not go, with how many were left of those it had found.
func (d *Dispatcher) DispatchStale(ctx context.Context, grace time.Duration, limit int) (dispatched, left int, err error) {
	events, err := d.ledger.Undispatched(ctx, grace, limit)
	if err != nil {
		return 0, 0, err
	}
	for i, e := range events {
		if err := d.dispatchLate(ctx, e); err != nil {
			return i, len(events) - i, err
		}
		d.log.InfoContext(ctx, "event dispatched late", "order", e.Key.String(), "event_id", e.Event, "next", string(e.Next))
	}
	return len(events), 0, nil
}

func (d *Dispatcher) dispatchLate(ctx context.Context, e ledger.Undispatched) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if e.Next == ledger.NextNothing {
		return d.ledger.MarkDispatched(ctx, e.Key, e.Event)
	}
	return d.Dispatch(ctx, e.Key, e.Event, e.Next)
}

func (d *Dispatcher) askLate(ctx context.Context, r order.Request) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return d.Ask(ctx, r)
}

func (d *Dispatcher) warn(ctx context.Context, message string, err error) {
	if ctx.Err() == nil {
		d.log.WarnContext(ctx, message, "error", err)
	}
}
