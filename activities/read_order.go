package activities

import (
	"context"
	"time"

	"handover/internal/order"
)

// ReadOrderInput asks how an order stands.
type ReadOrderInput struct{ order.Key }

// ReadOrderResult is what a run of a known order goes on from.
type ReadOrderResult struct{ Progress }

// ReadOrder reads how an order stands, so that a run does only what is missing. It only reads.
func (a *Activities) ReadOrder(ctx context.Context, in ReadOrderInput) (ReadOrderResult, error) {
	known, err := a.Ledger.Snapshot(ctx, in.Key)
	if err != nil {
		return ReadOrderResult{}, a.broken(ctx, stepRead, in.Key, err)
	}
	p := Progress{Snapshot: known}
	if known.ConfirmedAt != 0 {
		since := time.Duration(known.AsOf-known.ConfirmedAt) * time.Microsecond
		p.OpenSeconds = max(0, int((a.cfg.OpenFor - since).Seconds()))
	}
	return ReadOrderResult{p}, nil
}
