package missed

import (
	"context"
	"errors"
	"time"

	"handover/internal/order"
	"handover/internal/payment"
)

// deal delivers one sale that nobody has told of, writes it down as ignored, or leaves it.
func (p *pass) deal(ctx context.Context, sale order.Sale) error {
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
	class := p.patiently(ctx, func(ctx context.Context) (err error) {
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
		_, err := p.Ledger.RecordPayment(ctx, assessed) // a row, so that it can be replayed once the catalogue is mended
		return err
	case order.PaymentFailed:
		p.result.Ignored++
		return nil
	}
	return p.deliver(ctx, key, sale)
}

func (p *pass) deliver(ctx context.Context, key order.Key, sale order.Sale) error {
	if p.o.DryRun {
		p.result.Repaired++
		return nil
	}
	if err := p.Ledger.ImportSale(ctx, key); err != nil {
		return err
	}
	if err := p.Runs.Ensure(ctx, key); err != nil {
		p.Log.WarnContext(ctx, "a sale nobody told of is written down and could not be started", "order", key.String(), "error", err)
		p.left(sale, LeftNotStarted, false) // it is on record now: the pass over our own orders starts it
		return ctx.Err()
	}
	p.Log.WarnContext(ctx, "a sale nobody told of was found at the provider", "order", key.String())
	p.result.Repaired++
	return nil
}

// How patient a pass is with a provider.
const (
	mostTries  = 5
	unsaidWait = 2 * time.Second
	mostWait   = time.Minute
)

// patiently makes a call until it succeeds, waiting as long as the provider asks. It returns why it gave up.
func (p *pass) patiently(ctx context.Context, call func(context.Context) error) order.Class {
	for try := 1; ; try++ {
		err := call(ctx)
		if err == nil {
			return ""
		}
		class, wait := judge(err)
		if class.Final() || try == mostTries || wait > mostWait {
			p.Log.WarnContext(ctx, "the payment provider's sales could not be read", "environment", p.e.Name, "class", string(class), "error", err)
			return class
		}
		p.heartbeat()
		if p.Pause(ctx, wait) != nil {
			return class
		}
		p.heartbeat()
	}
}

func judge(err error) (order.Class, time.Duration) {
	var answer *payment.APIError
	if !errors.As(err, &answer) {
		return order.ClassRetry, unsaidWait
	}
	return answer.Class(), max(answer.RetryAfter, unsaidWait)
}
