package pages

import (
	"context"
	"errors"
	"sync"
	"testing"

	"handover/internal/order"
)

// held is a ledger whose reads last until they are released.
type held struct {
	begun   chan struct{}
	release chan struct{}
}

func (h held) Order(context.Context, order.Key) (order.View, error) {
	h.begun <- struct{}{}
	<-h.release
	return order.View{}, nil
}

func (h held) OrderByLink(ctx context.Context, _ [32]byte) (order.View, error) {
	return h.Order(ctx, order.Key{})
}

func TestAFloodOfPagesLeavesConnectionsForWebhooks(t *testing.T) {
	t.Parallel()
	h := held{make(chan struct{}), make(chan struct{})}
	b := newBounded(h)
	var reading sync.WaitGroup
	for i := range maxReads {
		reading.Go(func() {
			if i%2 == 0 {
				_, _ = b.Order(context.Background(), order.Key{})
			} else {
				_, _ = b.OrderByLink(context.Background(), [32]byte{})
			}
		})
		<-h.begun
	}

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Order(ended, order.Key{}); !errors.Is(err, context.Canceled) {
		t.Errorf("one read more: %v, want it to wait until its time is over", err)
	}

	close(h.release)
	reading.Wait()
}
