package pages

import (
	"context"

	"handover/internal/order"
)

// maxReads is how many pages read the ledger at once. The pool has at least twice as many connections, so that a flood of
// pages never makes a webhook wait for one.
const maxReads = 8

// bounded lets a few reads through at once. The others wait within their own time.
type bounded struct {
	orders Orders
	slots  chan struct{}
}

func newBounded(orders Orders) bounded {
	return bounded{orders: orders, slots: make(chan struct{}, maxReads)}
}

// Order reads an order when it is its turn.
func (b bounded) Order(ctx context.Context, key order.Key) (order.View, error) {
	if err := b.enter(ctx); err != nil {
		return order.View{}, err
	}
	defer b.leave()
	return b.orders.Order(ctx, key)
}

// OrderByLink reads the order of an emailed link when it is its turn.
func (b bounded) OrderByLink(ctx context.Context, hash [32]byte) (order.View, error) {
	if err := b.enter(ctx); err != nil {
		return order.View{}, err
	}
	defer b.leave()
	return b.orders.OrderByLink(ctx, hash)
}

func (b bounded) enter(ctx context.Context) error {
	select {
	case b.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b bounded) leave() { <-b.slots }
