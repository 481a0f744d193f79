package missed

import (
	"cmp"
	"context"
	"errors"
	"time"

	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/payment"
)

// process delivers one missed sale, records it as ignored, or leaves it.
func (p *run) process(ctx context.Context, sale order.Sale) error {
	key := order.Key{Environment: p.e.Name, Session: sale.Session}
	switch {
	case sale.Kind == order.SessionOther, p.o.Since == 0 && sale.At.Before(p.from):
		p.result.Ignored++
		return nil
	case !key.Valid() || !p.e.Provider.ValidSession(sale.Session):
		p.left(sale, LeftNoSession, false)
		return nil
	}
	var facts payment.Facts
	class := p.withRetries(ctx, func(ctx context.Context) (err error) {
		facts, err = p.e.Provider.Session(ctx, sale.Session)
		return err
	})
	if class != "" {
		p.left(sale, LeftUnread, class != order.ClassPermanent)
		return ctx.Err()
	}
	assessed := payment.Assess(key, p.e.Mode, p.Catalogue, facts)
	switch assessed.State {
	case order.PaymentIgnored:
		p.result.Ignored++
		if p.o.DryRun {
			return nil
		}
		_, err := p.Ledger.RecordPayment(ctx, assessed) // recorded, so that it can be replayed once the catalogue is corrected
		return err
	case order.PaymentFailed:
		p.result.Ignored++
		return nil
	}
	if paid := facts.PaidAt; p.o.Since == 0 && p.Now().Sub(cmp.Or(paid, facts.Created)) < grace {
		p.again++ // its webhook may be on its way: the next run checks it again
		return nil
	}
	return p.deliver(ctx, key, sale)
}

// grace is how long a sale is left to its webhook, after it was paid or, where that is not known, made. A person who says
// how far to go back waits for none.
const grace = 2 * time.Minute

func (p *run) deliver(ctx context.Context, key order.Key, sale order.Sale) error {
	if p.o.DryRun {
		p.result.Repaired++
		return nil
	}
	if err := p.Ledger.ImportSale(ctx, key, ledger.FoundByReconcile); err != nil {
		return err
	}
	if err := p.Runs.Ensure(ctx, key); err != nil {
		p.Log.WarnContext(ctx, "missed sale imported but not started", "order", key.String(), "error", err)
		p.left(sale, LeftNotStarted, false) // it is in the ledger now: the search for stuck orders starts it
		return ctx.Err()
	}
	p.Log.WarnContext(ctx, "missed sale imported", "order", key.String())
	p.result.Repaired++
	return nil
}

// The retries of one call to a provider.
const (
	maxTries    = 5
	defaultWait = 2 * time.Second
	maxWait     = time.Minute
)

// withRetries makes a call until it succeeds, waiting as long as the provider asks. It returns why it gave up.
func (p *run) withRetries(ctx context.Context, call func(context.Context) error) order.Class {
	for try := 1; ; try++ {
		err := call(ctx)
		if err == nil {
			return ""
		}
		class, wait := classify(err)
		if class.Final() || try == maxTries || wait > maxWait {
			p.Log.WarnContext(ctx, "sales could not be read from the payment provider", "environment", p.e.Name, "class", string(class), "error", err)
			return class
		}
		p.heartbeat()
		if p.Pause(ctx, wait) != nil {
			return class
		}
		p.heartbeat()
	}
}

func classify(err error) (order.Class, time.Duration) {
	var failed *payment.APIError
	if !errors.As(err, &failed) {
		return order.ClassRetry, defaultWait
	}
	class, said := order.Classify(failed.Failure())
	return class, max(said, defaultWait)
}
