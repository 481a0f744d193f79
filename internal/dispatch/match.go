package dispatch

import (
	"context"
	"time"

	"handover/internal/ledger"
	"handover/internal/order"
)

// Finder asks an environment's payment provider about the session of an event: about the one that the event names, or else
// about the one that its payment reference belongs to.
type Finder func(ctx context.Context, environment, named, ref string) (Found, error)

// Found is a session as the provider knows it.
type Found struct {
	Session string // empty when the payment is no session's
	Created time.Time
}

// How long an event about money waits for its order before the provider is asked, and the longest wait between two asks.
const (
	askAfter    = time.Minute
	longestAsk  = time.Hour
	findTimeout = 20 * time.Second
)

// UseFinder lets the loop ask the payment providers. It is to be called before Run.
func (d *Dispatcher) UseFinder(f Finder) { d.find = f }

// match joins events about refunds and disputes to their orders: to those that have become known since, and, when one has
// waited for a while, to the session that the provider names. An event of a payment that is no session's is set aside, and
// so is one of a sale from before.
func (d *Dispatcher) match(ctx context.Context) bool {
	unmatched, err := d.ledger.Unattached(ctx, grace, mostAtOnce)
	if err != nil {
		d.complain(ctx, "events without an order could not be read", err)
		return false
	}
	for _, u := range unmatched {
		found := Found{Session: u.Session}
		if u.Session == "" {
			var answered bool
			if found, answered = d.ask(ctx, u); !answered {
				continue
			}
		}
		if err := d.joined(ctx, u, found); err != nil {
			d.complain(ctx, "an event about a refund or a dispute waits for its order", err)
			return false
		}
	}
	return true
}

// ask asks the provider for the event's session, in widening intervals while it does not answer. It says whether the
// answer is known. An event that names its session waits for nothing: it is only asked when that was created.
func (d *Dispatcher) ask(ctx context.Context, u ledger.Unattached) (found Found, answered bool) {
	if d.find == nil || u.Named == "" && u.Waited < askAfter || u.Waited < d.askAgain[u.Event] {
		return Found{}, false
	}
	d.askAgain[u.Event] = min(2*u.Waited, u.Waited+longestAsk)
	asking, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	found, err := d.find(asking, u.Environment, u.Named, u.PaymentRef)
	if err != nil {
		d.complain(ctx, "the payment provider does not say whose refund or dispute it is", err)
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
		d.log.InfoContext(ctx, "refund or dispute of a payment that is no session's", "environment", u.Environment, "event_id", u.Event)
		return d.ledger.Discard(ctx, u.Environment, u.Event)
	}
	joined, err := d.ledger.Attach(ctx, key, u.Event, found.Created)
	if err != nil {
		return err
	}
	if !joined {
		d.log.InfoContext(ctx, "refund or dispute of a sale from before the environment was served", "order", key.String(), "event_id", u.Event)
		return nil
	}
	d.log.InfoContext(ctx, "refund or dispute joined to its order", "order", key.String(), "event_id", u.Event)
	return d.Dispatch(ctx, key, u.Event, ledger.NextReversal)
}
