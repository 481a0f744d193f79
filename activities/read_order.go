package activities

import (
	"context"

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
	return ReadOrderResult{a.progress(known)}, nil
}
