package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// storeReversal keeps an event about a refund or a dispute, and notes on its order that there may be something new. The
// order is known by the payment's reference, or by the session where the event names one. An event brings no order into
// being here: the session may be from before Handover served the environment, which only the provider can say. Without an order the event's row is what waits: Unattached lists it.
const storeReversal = `
WITH known AS MATERIALIZED (
    SELECT coalesce((SELECT session FROM orders WHERE environment = @environment AND payment_ref = @payment_ref ORDER BY created_at LIMIT 1),
        (SELECT session FROM orders WHERE environment = @environment AND session = @session)) AS session
), event AS (
    INSERT INTO webhook_events (environment, event_id, type, kind, session, payment_ref)
    VALUES (@environment, @event, @type, @kind, coalesce((SELECT session FROM known), nullif(@session, '')), nullif(@payment_ref, ''))
    ON CONFLICT DO NOTHING
    RETURNING 1
), due AS (
    UPDATE orders SET reversal_due_at = now()
    WHERE environment = @environment AND session = (SELECT session FROM known) AND EXISTS (SELECT FROM event)
)
SELECT EXISTS (SELECT FROM event), coalesce((SELECT session FROM known), ''),
       coalesce((SELECT dispatched_at IS NOT NULL FROM webhook_events WHERE environment = @environment AND event_id = @event), false)`

// storeReversal stores an event about a refund or a dispute. Its session is empty while its order is not known.
func (l *Ledger) storeReversal(ctx context.Context, e WebhookEvent) (s Stored, err error) {
	var dispatched bool
	err = l.pool.QueryRow(ctx, storeReversal, pgx.StrictNamedArgs{
		"environment": e.Environment, "event": e.ID, "type": e.Type, "kind": e.Kind, "payment_ref": e.PaymentRef, "session": e.Session,
	}).Scan(&s.New, &s.Session, &dispatched)
	if err != nil {
		return Stored{}, safe("store an event", err)
	}
	if s.Session != "" && !dispatched {
		s.Next = NextReversal
	}
	return s, nil
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

const selectUnattached = `
SELECT e.environment, e.event_id AS event, coalesce(e.payment_ref, '') AS payment_ref, coalesce(e.session, '') AS named,
       coalesce((SELECT o.session FROM orders o WHERE o.environment = e.environment AND o.payment_ref = e.payment_ref
                 ORDER BY o.created_at LIMIT 1), '') AS session,
       now() - e.received_at AS waited
FROM webhook_events e
WHERE e.dispatched_at IS NULL AND e.kind IN ('refund', 'dispute') AND e.received_at < now() - @grace::interval
  AND NOT EXISTS (SELECT FROM orders o WHERE o.environment = e.environment AND o.session = e.session)
ORDER BY e.received_at LIMIT @limit`

// Unattached lists events about refunds and disputes that wait for their order, oldest first.
func (l *Ledger) Unattached(ctx context.Context, grace time.Duration, limit int) ([]Unattached, error) {
	rows, _ := l.pool.Query(ctx, selectUnattached, pgx.StrictNamedArgs{"grace": grace, "limit": limit})
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[Unattached])
	return found, safe("list unattached events", err)
}

// Attach joins an event about money to its order, which comes into being where it is not in the ledger and its session was
// created after Handover began to serve the environment. What was sold before that was somebody else's to deliver: unless
// a checkout event or a person has made it an order of ours, the event is discarded, and the audit says so. created is
// when the session was; it may be zero for an order that is known. Providers give it in whole seconds.
func (l *Ledger) Attach(ctx context.Context, key order.Key, event string, created time.Time) (attached bool, err error) {
	err = l.pool.QueryRow(ctx, `
WITH ours AS MATERIALIZED (
    SELECT EXISTS (SELECT FROM orders WHERE environment = @environment AND session = @session)
        OR EXISTS (SELECT FROM sales_lists WHERE environment = @environment AND @created >= date_trunc('second', covered_from)) AS it
), known AS (
    INSERT INTO orders (environment, session, reversal_due_at) SELECT @environment, @session, now() FROM ours WHERE it
    ON CONFLICT (environment, session) DO UPDATE SET reversal_due_at = now()
    RETURNING 1
), event AS (
    UPDATE webhook_events SET session = @session, dispatched_at = CASE WHEN NOT it THEN now() END FROM ours
    WHERE environment = @environment AND event_id = @event AND dispatched_at IS NULL AND (SELECT count(*) FROM known) >= 0
    RETURNING it
), noted AS (
    INSERT INTO audit (environment, session, who, what, why)
    SELECT @environment, @session, 'handover', 'discarded the refund or dispute event ' || @event,
           'the session was created before Handover served the environment'
    FROM event WHERE NOT it
)
SELECT it FROM ours`, orderArgs(key, pgx.StrictNamedArgs{"event": event, "created": created})).Scan(&attached)
	return attached, safe("attach an event", err)
}

// Discard notes that an event about money belongs to no session of the environment.
func (l *Ledger) Discard(ctx context.Context, environment, event string) error {
	_, err := l.pool.Exec(ctx, `
UPDATE webhook_events SET dispatched_at = coalesce(dispatched_at, now()) WHERE environment = @environment AND event_id = @event`,
		pgx.StrictNamedArgs{"environment": environment, "event": event})
	return safe("discard an event", err)
}
