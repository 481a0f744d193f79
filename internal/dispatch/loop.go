package dispatch

import (
	"context"
	"slices"
	"sync"
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
// signal failed, and attaches reversals to their orders. Each has a loop of its own, because a payment provider may take
// its time. It returns when the context ends.
func (d *Dispatcher) Run(ctx context.Context) {
	var loops sync.WaitGroup
	for _, sweep := range []func(context.Context) bool{d.events, d.requests, d.attach} {
		loops.Go(func() { repeat(ctx, sweep) })
	}
	loops.Wait()
}

// repeat sweeps in intervals, which widen while the ledger or Temporal does not respond.
func repeat(ctx context.Context, sweep func(context.Context) bool) {
	wait := pause
	for {
		if sweep(ctx) {
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

// events dispatches what is stale, and says whether the ledger and Temporal responded.
func (d *Dispatcher) events(ctx context.Context) bool {
	known, err := d.ledger.Installation(ctx)
	if err != nil {
		d.warn(ctx, "task queue could not be read", err)
		return false
	}
	if known.TaskQueue != "" {
		d.UseQueue(known.TaskQueue) // a worker may have moved to another
	}
	_, left, err := d.DispatchStale(ctx, grace, mostAtOnce)
	switch {
	case err != nil && left > 0:
		d.warn(ctx, "undispatched events are waiting for Temporal", err)
	case err != nil:
		d.warn(ctx, "undispatched events could not be read", err)
	}
	return err == nil
}

// requests signals those whose signal failed.
func (d *Dispatcher) requests(ctx context.Context) bool {
	waiting, err := d.ledger.Waiting(ctx, requestGrace, mostAtOnce)
	if err != nil {
		d.warn(ctx, "waiting requests could not be read", err)
		return false
	}
	skip := d.later.waiting(time.Now())
	failures := 0
	for _, r := range waiting {
		if slices.Contains(skip, r.ID) {
			continue
		}
		if err := d.askLate(ctx, r); err != nil {
			d.later.fail(r.ID, time.Now())
			d.warn(ctx, "requests are waiting for Temporal", err)
			if failures++; failures == inARow {
				return false
			}
			continue
		}
		failures = 0
	}
	return true
}

// DispatchStale dispatches the events that have waited for longer than grace, at most limit of them and the oldest first, and
// says how many went, and how many of those it had found are left. One that does not go holds up none of the others; it ends
// where several in a row do not. An error means that none went, or that it has ended so.
func (d *Dispatcher) DispatchStale(ctx context.Context, grace time.Duration, limit int) (dispatched, left int, err error) {
	events, err := d.ledger.Undispatched(ctx, grace, d.later.waiting(time.Now()), limit)
	if err != nil {
		return 0, 0, err
	}
	failures := 0
	for _, e := range events {
		if failure := d.dispatchLate(ctx, e); failure != nil {
			d.later.fail(e.Event, time.Now())
			err = failure
			if failures++; failures == inARow {
				break
			}
			d.log.WarnContext(ctx, "event could not be dispatched", "order", e.Key.String(), "event_id", e.Event, "error", failure)
			continue
		}
		failures = 0
		dispatched++
		d.later.done(e.Event)
		d.log.InfoContext(ctx, "event dispatched late", "order", e.Key.String(), "event_id", e.Event, "next", string(e.Next))
	}
	if dispatched > 0 && failures < inARow {
		err = nil
	}
	return dispatched, len(events) - dispatched, err
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
