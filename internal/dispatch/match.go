package dispatch

import (
	"context"
	"time"

	"handover/internal/ledger"
	"handover/internal/order"
)

// Finder retrieves the session of an event from the environment's payment provider: the one that the event names, or else
// the one that its payment reference belongs to.
type Finder func(ctx context.Context, environment, named, ref string) (Found, error)

// Found is a session as the provider knows it.
type Found struct {
	Session string // empty when the payment is no session's
	Created time.Time
}

// A reversal waits for its order for askAfter before the provider is asked, then at most longestAsk between two calls.
const (
	askAfter    = time.Minute
	longestAsk  = time.Hour
	findTimeout = 20 * time.Second
)

// UseFinder lets the loop ask the payment providers. It is to be called before Run.
func (d *Dispatcher) UseFinder(f Finder) { d.find = f }

// attach joins reversals to their orders: to those that have become known since, and, when one has waited for a while, to
// the session that the provider names. An event of a payment without a session is discarded, and so is one of a sale from
// before.
func (d *Dispatcher) attach(ctx context.Context) bool {
	unattached, err := d.ledger.Unattached(ctx, grace, mostAtOnce)
	if err != nil {
		d.warn(ctx, "events without an order could not be read", err)
		return false
	}
	ok := true
	for _, u := range unattached {
		found := Found{Session: u.Session}
		if u.Session == "" {
			var answered bool
			if found, answered = d.ask(ctx, u); !answered {
				continue
			}
		}
		if err := d.joined(ctx, u, found); err != nil {
			d.warn(ctx, "reversal could not be attached to its order", err)
			ok = false
		}
	}
	return ok
}

// ask retrieves the event's session, in widening intervals while the provider does not respond. It says whether there was
// a response. An event that names its session does not wait: only the time of its creation is missing.
func (d *Dispatcher) ask(ctx context.Context, u ledger.Unattached) (found Found, answered bool) {
	if d.find == nil || u.Named == "" && u.Waited < askAfter || u.Waited < d.askAgain[u.Event] {
		return Found{}, false
	}
	d.askAgain[u.Event] = min(2*u.Waited, u.Waited+longestAsk)
	asking, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	found, err := d.find(asking, u.Environment, u.Named, u.PaymentRef)
	if err != nil {
		d.warn(ctx, "session of a reversal could not be retrieved", err)
		return Found{}, false
	}
	return found, true
}

func (d *Dispatcher) joined(ctx context.Context, u ledger.Unattached, found Found) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	delete(d.askAgain, u.Event)
	key := order.Key{Environment: u.Environment, Session: found.Session}
	if !key.Valid() {
		d.log.InfoContext(ctx, "reversal discarded: its payment has no session", "environment", u.Environment, "event_id", u.Event)
		return d.ledger.Discard(ctx, u.Environment, u.Event)
	}
	joined, err := d.ledger.Attach(ctx, key, u.Event, found.Created)
	if err != nil {
		return err
	}
	if !joined {
		d.log.InfoContext(ctx, "reversal discarded: its sale is from before", "order", key.String(), "event_id", u.Event)
		return nil
	}
	d.log.InfoContext(ctx, "reversal attached to its order", "order", key.String(), "event_id", u.Event)
	return nil // it is an event of the order now, and dispatched like any other that waits
}
