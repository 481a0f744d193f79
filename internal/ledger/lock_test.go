package ledger_test

import (
	"context"
	"testing"
	"time"

	"handover/internal/ledger"
	"handover/internal/order"
)

// Every transaction that touches an order locks it first, so that no two of them wait for each other. A third session
// holds the order: whoever waits for it must not hold its event already.
func TestTheOrderIsLockedBeforeItsEvents(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(ctx context.Context, b *env, e ledger.WebhookEvent) error{
		"mark dispatched": func(ctx context.Context, b *env, e ledger.WebhookEvent) error {
			return b.MarkDispatched(ctx, b.key, e.ID)
		},
		"record a payment": func(ctx context.Context, b *env, e ledger.WebhookEvent) error {
			p := b.paid()
			p.Event = e.ID
			_, err := b.RecordPayment(ctx, p)
			return err
		},
		"stop a payment": func(ctx context.Context, b *env, e ledger.WebhookEvent) error {
			return b.StopPayment(ctx, b.key, e.ID, order.ClassPermanent, order.ReasonPaymentStopped)
		},
		"attach": func(ctx context.Context, b *env, e ledger.WebhookEvent) error {
			_, err := b.Attach(ctx, b.key, e.ID, time.Now())
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := ownEnv(t)
			e := b.event("1")
			b.store(e)
			holder, err := b.pool.Begin(t.Context())
			b.must(err)
			_, err = holder.Exec(t.Context(), `SELECT FROM orders WHERE session = $1 FOR NO KEY UPDATE`, b.key.Session)
			b.must(err)

			done := make(chan error, 1)
			go func() { done <- act(t.Context(), b, e) }()
			b.awaitLockWait()
			if _, err := holder.Exec(t.Context(), `SELECT FROM webhook_events WHERE event_id = $1 FOR UPDATE NOWAIT`, e.ID); err != nil {
				t.Errorf("the event is locked before the order: %v", err)
			}
			b.must(holder.Rollback(t.Context()))
			b.must(<-done)
		})
	}
}

// awaitLockWait returns once a session of this database waits for a lock.
func (b *env) awaitLockWait() {
	b.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for b.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 0 {
		select {
		case <-tick.C:
		case <-b.t.Context().Done():
			b.t.Fatal("nobody waits")
		}
	}
}
