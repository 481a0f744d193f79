package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// storeReversal keeps an event about the money of a payment, and notes on its order that there may be something new. The
// order is known by the payment's reference, or by the session where the event names one: then it may be the first that
// is heard of it.
const storeReversal = `
WITH matched AS MATERIALIZED (
    SELECT coalesce((SELECT session FROM orders WHERE environment = $1 AND payment_ref = $5 ORDER BY created_at LIMIT 1), nullif($7, '')) AS session
), event AS (
    INSERT INTO webhook_events (environment, event_id, type, kind, session, payment_ref, body)
    VALUES ($1, $2, $3, $4, (SELECT session FROM matched), nullif($5, ''), $6)
    ON CONFLICT DO NOTHING
    RETURNING 1
), due AS (
    INSERT INTO orders (environment, session, reversal_due_at)
    SELECT $1, session, now() FROM matched WHERE session IS NOT NULL AND EXISTS (SELECT FROM event)
    ON CONFLICT (environment, session) DO UPDATE SET reversal_due_at = now()
)
SELECT EXISTS (SELECT FROM event), coalesce((SELECT session FROM matched), ''),
       coalesce((SELECT dispatched_at IS NOT NULL FROM webhook_events WHERE environment = $1 AND event_id = $2), false)`

// StoreReversal stores an event about a refund or a dispute and returns the session it belongs to: empty for one whose
// order is not known, which waits for it.
func (l *Ledger) StoreReversal(ctx context.Context, e WebhookEvent) (session string, s Stored, err error) {
	var dispatched bool
	err = l.pool.QueryRow(ctx, storeReversal, e.Environment, e.ID, e.Type, e.Kind, e.PaymentRef, e.Body, e.Session).Scan(&s.New, &session, &dispatched)
	if err != nil {
		return "", Stored{}, safe("store an event", err)
	}
	if session != "" && !dispatched {
		s.Next = NextReview
	}
	return session, s, nil
}

// Unmatched is an event about the money of a payment whose order is not known.
type Unmatched struct {
	Environment string
	Event       string
	PaymentRef  string
	Session     string // of the order that has become known since; empty when there is none yet
	Waited      time.Duration
}

// Unmatched lists events about refunds and disputes that wait for their order, oldest first.
func (l *Ledger) Unmatched(ctx context.Context, grace time.Duration, limit int) ([]Unmatched, error) {
	rows, err := l.pool.Query(ctx, `
SELECT e.environment, e.event_id, e.payment_ref,
       coalesce((SELECT o.session FROM orders o WHERE o.environment = e.environment AND o.payment_ref = e.payment_ref ORDER BY o.created_at LIMIT 1), ''),
       now() - e.received_at
FROM webhook_events e
WHERE e.dispatched_at IS NULL AND e.session IS NULL AND e.kind IN ('refund', 'dispute') AND e.received_at < now() - $1::interval
ORDER BY e.received_at LIMIT $2`, grace, limit)
	if err != nil {
		return nil, safe("list unmatched events", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Unmatched])
	return found, safe("list unmatched events", err)
}

// Match joins an event about money to its order, which comes into being where nobody has told of it.
func (l *Ledger) Match(ctx context.Context, key order.Key, event string) error {
	_, err := l.pool.Exec(ctx, `
WITH known AS (
    INSERT INTO orders (environment, session, reversal_due_at) VALUES ($1, $2, now())
    ON CONFLICT (environment, session) DO UPDATE SET reversal_due_at = now()
)
UPDATE webhook_events SET session = $2 WHERE environment = $1 AND event_id = $3`, key.Environment, key.Session, event)
	return safe("match an event", err)
}

// SetAside notes that an event about money belongs to no session of the environment.
func (l *Ledger) SetAside(ctx context.Context, environment, event string) error {
	_, err := l.pool.Exec(ctx, `UPDATE webhook_events SET dispatched_at = coalesce(dispatched_at, now()) WHERE environment = $1 AND event_id = $2`,
		environment, event)
	return safe("set an event aside", err)
}
