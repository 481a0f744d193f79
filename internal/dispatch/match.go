package dispatch

import (
	"context"
	"time"

	"handover/internal/ledger"
	"handover/internal/order"
)

// Finder asks an environment's payment provider which session a payment reference belongs to; empty for none.
type Finder func(ctx context.Context, environment, ref string) (session string, err error)

// How long an event about money waits for its order before the provider is asked, and the longest wait between two asks.
const (
	askAfter    = time.Minute
	longestAsk  = time.Hour
	findTimeout = 20 * time.Second
)

// UseFinder lets the loop ask the payment providers. It is to be called before Run.
func (d *Dispatcher) UseFinder(f Finder) { d.find = f }

// match joins events about refunds and disputes to their orders: to those that have become known since, and, when one has
// waited for a while, to the session that the provider names. An event of a payment that is no session's is set aside.
func (d *Dispatcher) match(ctx context.Context) bool {
	unmatched, err := d.ledger.Unmatched(ctx, grace, mostAtOnce)
	if err != nil {
		d.complain(ctx, "events without an order could not be read", err)
		return false
	}
	for _, u := range unmatched {
		if u.Session == "" && !d.ask(ctx, &u) {
			continue
		}
		if err := d.joined(ctx, u); err != nil {
			d.complain(ctx, "an event about a refund or a dispute waits for its order", err)
			return false
		}
	}
	return true
}

// ask asks the provider for the event's session, in widening intervals while it does not answer. It says whether the
// answer is known: u.Session is empty when the payment is no session's.
func (d *Dispatcher) ask(ctx context.Context, u *ledger.Unmatched) bool {
	if d.find == nil || u.Waited < askAfter || u.Waited < d.askAgain[u.Event] {
		return false
	}
	d.askAgain[u.Event] = min(2*u.Waited, u.Waited+longestAsk)
	asking, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	session, err := d.find(asking, u.Environment, u.PaymentRef)
	if err != nil {
		d.complain(ctx, "the payment provider does not say whose refund or dispute it is", err)
		return false
	}
	u.Session = session
	return true
}

func (d *Dispatcher) joined(ctx context.Context, u ledger.Unmatched) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	delete(d.askAgain, u.Event)
	key := order.Key{Environment: u.Environment, Session: u.Session}
	if !key.Valid() {
		d.log.InfoContext(ctx, "refund or dispute of a payment that is no session's", "environment", u.Environment, "event_id", u.Event)
		return d.ledger.SetAside(ctx, u.Environment, u.Event)
	}
	if err := d.ledger.Match(ctx, key, u.Event); err != nil {
		return err
	}
	d.log.InfoContext(ctx, "refund or dispute joined to its order", "order", key.String(), "event_id", u.Event)
	return d.HandOver(ctx, key, u.Event, ledger.NextReview)
}
