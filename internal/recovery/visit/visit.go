// Package visit finds the missed sale of a session whose page a buyer has opened: where no webhook came in time, the
// provider is asked, and what was paid is delivered as the reconciliation would.
package visit

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/payment"
)

// Ledger is what a check needs of the ledger.
type Ledger interface {
	Order(ctx context.Context, key order.Key) (order.View, error)
	EventPending(ctx context.Context, key order.Key) (bool, error)
	SyncWindow(ctx context.Context, environment string) (ledger.SyncWindow, error)
	ImportSale(ctx context.Context, key order.Key, found ledger.Found) error
	RecordPayment(ctx context.Context, p order.Assessment) (order.Snapshot, error)
}

// Runs starts and signals the orders' workflows.
type Runs interface {
	Ensure(ctx context.Context, key order.Key) error
	Replay(ctx context.Context, key order.Key) error
}

// Environment is one payment account.
type Environment struct {
	Mode     order.Mode
	Provider payment.Provider
}

// Visits checks the sessions of the pages that are opened. It is safe for concurrent use.
type Visits struct {
	Ledger       Ledger
	Runs         Runs
	Environments map[string]Environment
	Catalogue    *order.Catalogue
	Log          *slog.Logger

	bounds bounds
	slots  chan struct{}
	ctx    context.Context
}

// checkTime bounds one check with its call to the provider.
const checkTime = 20 * time.Second

// atOnce bounds how many checks run beside the webhooks.
const atOnce = 4

// Open prepares the visits. Checks end with the context.
func (v *Visits) Open(ctx context.Context) *Visits {
	v.bounds, v.slots, v.ctx = newBounds(), make(chan struct{}, atOnce), ctx
	return v
}

// Seen notes that a page was opened whose payment is not confirmed, by a client of that address. It does not wait: where
// it is time for that, the provider is asked in the background.
func (v *Visits) Seen(key order.Key, client string) {
	wait, due := v.bounds.seen(key, client, time.Now())
	if !due {
		return
	}
	time.AfterFunc(wait, func() {
		select {
		case v.slots <- struct{}{}:
			defer func() { <-v.slots }()
		case <-v.ctx.Done():
			return
		}
		ctx, cancel := context.WithTimeout(v.ctx, checkTime)
		defer cancel()
		result, err := v.check(ctx, key)
		if err != nil && v.ctx.Err() == nil {
			v.Log.WarnContext(ctx, "a session whose page was opened could not be checked", "order", key.String(), "error", err)
		}
		v.bounds.checked(key, result, time.Now())
	})
}

// result is what a check came to.
type result int

const (
	settled result = iota // nothing is left to ask
	waiting               // not paid yet, or the provider did not answer
	unknown               // the provider knows no such session
)

// check asks the provider, unless a webhook came in time.
func (v *Visits) check(ctx context.Context, key order.Key) (result, error) {
	before, err := v.Ledger.Order(ctx, key)
	known := !errors.Is(err, ledger.ErrNotFound)
	switch {
	case err != nil && known:
		return waiting, err
	case known && before.Facts.Payment != order.PaymentPending:
		return settled, nil
	case known:
		if busy, err := v.busy(ctx, before); busy || err != nil {
			return waiting, err
		}
	}
	environment := v.Environments[key.Environment]
	facts, err := environment.Provider.Session(ctx, key.Session)
	if err != nil {
		var failed *payment.APIError
		if class, _ := order.Classify(failure(err)); errors.As(err, &failed) && class == order.ClassPermanent {
			return unknown, nil
		}
		return waiting, err
	}
	assessed := payment.Assess(key, environment.Mode, v.Catalogue, facts)
	if assessed.State == order.PaymentPending || assessed.State == order.PaymentFailed && !known {
		return waiting, nil
	}
	if known {
		return settled, v.heal(ctx, key, assessed)
	}
	return v.unreported(ctx, key, facts, assessed)
}

// busy says that a worker checks an order that waits anyhow: it has just done so, or a webhook is on its way to it.
func (v *Visits) busy(ctx context.Context, before order.View) (bool, error) {
	if before.CheckedAt == nil || time.Since(*before.CheckedAt) < firstPause {
		return true, nil
	}
	return v.Ledger.EventPending(ctx, before.Key)
}

func failure(err error) order.Failure {
	var failed *payment.APIError
	if errors.As(err, &failed) {
		return failed.Failure()
	}
	return order.Failure{}
}

// heal makes the run of an order that waits check by itself.
func (v *Visits) heal(ctx context.Context, key order.Key, assessed order.Assessment) error {
	if assessed.State == order.PaymentConfirmed {
		if err := v.Ledger.ImportSale(ctx, key, ledger.FoundByPage); err != nil {
			return err
		}
	}
	return v.Runs.Replay(ctx, key)
}

// unreported delivers a session that the ledger does not have. One from before Handover served the environment was
// somebody else's to deliver.
func (v *Visits) unreported(ctx context.Context, key order.Key, facts payment.Facts, assessed order.Assessment) (result, error) {
	window, err := v.Ledger.SyncWindow(ctx, key.Environment)
	if err != nil {
		return waiting, err
	}
	if window.From.IsZero() || facts.Created.Before(window.From.Truncate(time.Second)) {
		return settled, nil
	}
	if assessed.State == order.PaymentIgnored {
		_, err := v.Ledger.RecordPayment(ctx, assessed) // recorded, so that it can be replayed once the catalogue is corrected
		return settled, err
	}
	if err := v.Ledger.ImportSale(ctx, key, ledger.FoundByPage); err != nil {
		return waiting, err
	}
	v.Log.WarnContext(ctx, "missed sale found by a visit of its page", "order", key.String())
	return settled, v.Runs.Ensure(ctx, key)
}
