package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// tidy goes by index, one environment after the other: the oldest events of each, and then the notes of alerts.
const tidy = `
WITH RECURSIVE known AS (
    SELECT min(environment) AS environment FROM webhook_events
    UNION ALL
    SELECT (SELECT min(e.environment) FROM webhook_events e WHERE e.environment > known.environment) FROM known WHERE known.environment IS NOT NULL
), old AS (
    SELECT e.environment, e.event_id FROM known CROSS JOIN LATERAL (
        SELECT environment, event_id FROM webhook_events w
        WHERE w.environment = known.environment AND w.received_at < now() - @age::interval AND w.dispatched_at IS NOT NULL
        ORDER BY w.received_at LIMIT @most) e
    LIMIT @most
), events AS (
    DELETE FROM webhook_events w USING old WHERE w.environment = old.environment AND w.event_id = old.event_id
    RETURNING 1
), alerts_gone AS (
    DELETE FROM alerts WHERE (environment, session, reason, day) IN (
        SELECT environment, session, reason, day FROM alerts WHERE claimed_at < now() - @age::interval LIMIT @most)
    RETURNING 1
)
SELECT greatest((SELECT count(*) FROM events), (SELECT count(*) FROM alerts_gone))`

// Tidy deletes at most so many of the dispatched events, and of the notes of alerts, that are older than age. It returns the
// number of the kind of which there were more.
func (l *Ledger) Tidy(ctx context.Context, age time.Duration, most int) (deleted int, err error) {
	err = l.pool.QueryRow(ctx, tidy, pgx.StrictNamedArgs{"age": age, "most": most}).Scan(&deleted)
	return deleted, safe("delete what is past its time", err)
}
