package crash

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// AwaitReviewed waits until everything that was reported about an order's money has been dealt with, and its workflow only
// listens. From then on the order is as it stays, also where nothing was changed.
func (s *Shop) AwaitReviewed(session string) {
	s.t.Helper()
	s.Eventually("what became of the money of "+session+" has been dealt with", func() bool {
		return s.Reviewed(session) && s.idle(session)
	})
}

// Reviewed says that everything that was reported about the money of an order, of whatever environment, has been read at the
// provider, decided, and carried out.
func (s *Shop) Reviewed(session string) (done bool) {
	s.t.Helper()
	s.query(func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, `
SELECT count(*) > 0 FROM orders o
WHERE o.session = $1 AND o.reversal_read_at IS NOT NULL AND o.reversal_due_at IS NULL
  AND NOT EXISTS (SELECT FROM webhook_events e WHERE e.kind IN ('refund', 'dispute') AND e.dispatched_at IS NULL
      AND (e.session = $1 OR e.payment_ref = o.payment_ref))
  AND NOT EXISTS (SELECT FROM obligations b WHERE b.session = $1 AND b.kind IN ('access', 'access_change')
      AND b.finished_at IS NULL AND b.stopped_at IS NULL AND NOT (b.kind = 'access' AND b.wanted <> 'granted'))`, session).Scan(&done)
	})
	return done
}

// AccessChanges counts how often what is known of the money has changed what an order gives.
func (s *Shop) AccessChanges(session string) (n int) {
	s.t.Helper()
	s.query(func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, `SELECT count(*) FROM audit WHERE session = $1 AND who = 'handover' AND what LIKE 'known of the money: %'`, session).Scan(&n)
	})
	return n
}

// Heard counts the orders and the events that the ledger holds.
func (s *Shop) Heard() (orders, events int) {
	s.t.Helper()
	s.query(func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, `SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM webhook_events)`).Scan(&orders, &events)
	})
	return orders, events
}
