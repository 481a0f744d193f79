package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// storeReversal keeps an event about the money of a payment, and notes on its order that there may be something new. The
// order is known by the payment's reference, or by the session where the event names one. An event brings no order into
// being here: the session may be from before Handover served the environment, which only the provider can say.
const storeReversal = `
WITH matched AS MATERIALIZED (
    SELECT coalesce((SELECT session FROM orders WHERE environment = $1 AND payment_ref = $5 ORDER BY created_at LIMIT 1),
        (SELECT session FROM orders WHERE environment = $1 AND session = $7)) AS session
), event AS (
    INSERT INTO webhook_events (environment, event_id, type, kind, session, payment_ref, body)
    VALUES ($1, $2, $3, $4, coalesce((SELECT session FROM matched), nullif($7, '')), nullif($5, ''), $6)
    ON CONFLICT DO NOTHING
    RETURNING 1
), due AS (
    UPDATE orders SET reversal_due_at = now()
    WHERE environment = $1 AND session = (SELECT session FROM matched) AND EXISTS (SELECT FROM event)
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
		s.Next = NextReversal
	}
	return session, s, nil
}

// Unattached is an event about the money of a payment whose order is not known.
type Unattached struct {
	Environment string
	Event       string
	PaymentRef  string
	Named       string // the session that the event itself names; empty where it names none
	Session     string // of the order that has become known since; empty when there is none yet
	Waited      time.Duration
}

// Unattached lists events about refunds and disputes that wait for their order, oldest first.
func (l *Ledger) Unattached(ctx context.Context, grace time.Duration, limit int) ([]Unattached, error) {
	rows, err := l.pool.Query(ctx, `
SELECT e.environment, e.event_id, coalesce(e.payment_ref, ''), coalesce(e.session, ''),
       coalesce((SELECT o.session FROM orders o WHERE o.environment = e.environment AND o.payment_ref = e.payment_ref ORDER BY o.created_at LIMIT 1), ''),
       now() - e.received_at
FROM webhook_events e
WHERE e.dispatched_at IS NULL AND e.kind IN ('refund', 'dispute') AND e.received_at < now() - $1::interval
  AND NOT EXISTS (SELECT FROM orders o WHERE o.environment = e.environment AND o.session = e.session)
ORDER BY e.received_at LIMIT $2`, grace, limit)
	if err != nil {
		return nil, safe("list unmatched events", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Unattached])
	return found, safe("list unmatched events", err)
}

// Match joins an event about money to its order, which comes into being where nobody has told of it and its session was
// created after Handover began to serve the environment. What was sold before that was somebody else's to deliver: unless
// a checkout event or a person has made it an order of ours, the event is discarded, and the audit says so. created is
// when the session was; it may be zero for an order that is known.
func (l *Ledger) Attach(ctx context.Context, key order.Key, event string, created time.Time) (joined bool, err error) {
	err = l.pool.QueryRow(ctx, `
WITH ours AS MATERIALIZED (
    SELECT EXISTS (SELECT FROM orders WHERE environment = $1 AND session = $2)
        OR EXISTS (SELECT FROM sales_lists WHERE environment = $1 AND $4 >= date_trunc('second', covered_from)) AS it -- providers tell whole seconds
), known AS (
    INSERT INTO orders (environment, session, reversal_due_at) SELECT $1, $2, now() FROM ours WHERE it
    ON CONFLICT (environment, session) DO UPDATE SET reversal_due_at = now()
), event AS (
    UPDATE webhook_events SET session = $2, dispatched_at = CASE WHEN NOT it THEN now() END FROM ours
    WHERE environment = $1 AND event_id = $3 AND dispatched_at IS NULL
    RETURNING it
), noted AS (
    INSERT INTO audit (environment, session, who, what, why)
    SELECT $1, $2, 'handover', 'discarded the refund or dispute event ' || $3, 'the session was created before Handover served the environment'
    FROM event WHERE NOT it
)
SELECT it FROM ours`, key.Environment, key.Session, event, created).Scan(&joined)
	return joined, safe("match an event", err)
}

// Discard notes that an event about money belongs to no session of the environment.
func (l *Ledger) Discard(ctx context.Context, environment, event string) error {
	_, err := l.pool.Exec(ctx, `UPDATE webhook_events SET dispatched_at = coalesce(dispatched_at, now()) WHERE environment = $1 AND event_id = $2`,
		environment, event)
	return safe("set an event aside", err)
}
