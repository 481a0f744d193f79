package dispatch

import (
	"context"
	"time"

	"handover/internal/ledger"
	"handover/internal/order"
)

// How the loop behaves: how long an event may take its straight path before it counts as left behind, and how often
// the loop looks.
const (
	grace        = 3 * time.Second
	requestGrace = time.Minute
	pause        = time.Second
	longestPause = 15 * time.Second
	mostAtOnce   = 200
	callTimeout  = 3 * time.Second
)

// Run hands over what was left behind: events that were stored while Temporal was away or just before this process
// died, and requests whose signal did not go. It returns when the context ends.
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

// sweep makes one pass and says whether everything it needed answered.
func (d *Dispatcher) sweep(ctx context.Context) bool {
	if _, left, err := d.DispatchStale(ctx, grace, mostAtOnce); err != nil {
		what := "undispatched events could not be read"
		if left > 0 {
			what = "undispatched events are waiting for Temporal"
		}
		d.complain(ctx, what, err)
		return false
	}
	if !d.match(ctx) {
		return false
	}
	requests, err := d.ledger.Waiting(ctx, requestGrace, mostAtOnce)
	if err != nil {
		d.complain(ctx, "waiting requests could not be read", err)
		return false
	}
	for _, r := range requests {
		if err := d.askLate(ctx, r); err != nil {
			d.complain(ctx, "requests are waiting for Temporal", err)
			return false
		}
	}
	return true
}

// DispatchStale hands over the events that have waited for longer than grace, at most limit of them and the oldest first, and
// says how many went. It ends at the first that does not go, with how many were left of those it had found.
func (d *Dispatcher) DispatchStale(ctx context.Context, grace time.Duration, limit int) (handed, left int, err error) {
	events, err := d.ledger.Undispatched(ctx, grace, limit)
	if err != nil {
		return 0, 0, err
	}
	for i, e := range events {
		if err := d.handOverLate(ctx, e); err != nil {
			return i, len(events) - i, err
		}
		d.log.InfoContext(ctx, "event handed over late", "order", e.Key.String(), "event_id", e.Event, "next", string(e.Next))
	}
	return len(events), 0, nil
}

func (d *Dispatcher) handOverLate(ctx context.Context, e ledger.Undispatched) error {
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

func (d *Dispatcher) complain(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		d.log.WarnContext(ctx, what, "error", err)
	}
}
