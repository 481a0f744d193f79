package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// stalled lists the orders that have made no progress for longer than @age, whether or not a run is open: with a payment
// that nobody has checked, or not since its last event; with a refund or a dispute that nobody has read; or with an open
// obligation. A wait that is stated is progress, and so is an attempt that is under way. An email waits for what comes
// before it, and a payment that is on its way is checked once a day at least. Orders with a step that has stopped wait for a
// person and not for us.
const stalled = `
WITH work AS (
    SELECT o.environment, o.session, greatest(o.next_attempt_at, CASE WHEN o.looked_at IS NULL THEN o.created_at ELSE coalesce(
        (SELECT min(e.received_at) FROM webhook_events e
         WHERE e.environment = o.environment AND e.session = o.session AND e.received_at > o.looked_at),
        o.looked_at + interval '25 hours') END) AS since
    FROM orders o WHERE o.payment = 'pending' AND o.created_at < now() - @age::interval
    UNION ALL
    SELECT environment, session, greatest(next_attempt_at, reversal_due_at)
    FROM orders WHERE reversal_due_at < now() - @age::interval AND payment = 'confirmed'
    UNION ALL
    SELECT b.environment, b.session, greatest(b.created_at, b.next_attempt_at, b.claim_expires_at, o.next_attempt_at,
        CASE WHEN b.kind = 'email' THEN (SELECT max(a.next_attempt_at) FROM open_obligations a
                                         WHERE a.environment = b.environment AND a.session = b.session) END)
    FROM open_obligations b JOIN orders o ON o.environment = b.environment AND o.session = b.session
    WHERE coalesce(b.finished_at, b.stopped_at) IS NULL AND b.created_at < now() - @age::interval
), stalled AS (
    SELECT environment, session FROM work
    WHERE since < now() - @age::interval
      AND NOT EXISTS (SELECT FROM attention a WHERE a.environment = work.environment AND a.session = work.session AND a.step <> 'progress')
    GROUP BY environment, session
)`

// Stalled lists orders that have made no progress for longer than age, in the sequence of their keys and beginning after the
// given one.
func (l *Ledger) Stalled(ctx context.Context, after order.Key, age time.Duration, limit int) ([]order.Key, error) {
	rows, _ := l.pool.Query(ctx, stalled+`
SELECT environment, session FROM stalled
WHERE (environment, session) > (@environment, @session) ORDER BY environment, session LIMIT @limit`,
		orderArgs(after, pgx.StrictNamedArgs{"age": age, "limit": limit}))
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByName[order.Key])
	return keys, safe("list orders that make no progress", err)
}

// MarkStalled puts the orders that have made no progress for longer than age on the attention list, and takes those off it
// that do again. It returns those that are new there. Their work goes on by itself as soon as it can.
func (l *Ledger) MarkStalled(ctx context.Context, age time.Duration) ([]order.Key, error) {
	rows, _ := l.pool.Query(ctx, stalled+`, moving AS (
    DELETE FROM attention a WHERE a.step = 'progress'
      AND NOT EXISTS (SELECT FROM stalled s WHERE s.environment = a.environment AND s.session = a.session)
)
INSERT INTO attention (environment, session, step, reason) SELECT environment, session, 'progress', @reason::text FROM stalled
ORDER BY environment, session
ON CONFLICT (environment, session, step) DO NOTHING
RETURNING environment, session`, pgx.StrictNamedArgs{"age": age, "reason": order.ReasonNotProgressing})
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByName[order.Key])
	return keys, safe("mark orders that make no progress", err)
}

// Postpone states when the payment provider is asked again about an order that waits for its answer.
func (l *Ledger) Postpone(ctx context.Context, key order.Key, wait time.Duration) error {
	_, err := l.pool.Exec(ctx, `
UPDATE orders SET next_attempt_at = now() + @wait::interval
WHERE environment = @environment AND session = @session AND (payment = 'pending' OR reversal_due_at IS NOT NULL)`,
		orderArgs(key, pgx.StrictNamedArgs{"wait": wait}))
	return safe("postpone a check", err)
}
