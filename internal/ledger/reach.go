package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// Reached notes the first time at which the buyer has opened the emailed link, or asked for a file.
func (l *Ledger) Reached(ctx context.Context, key order.Key, kind order.Reach) error {
	_, err := l.pool.Exec(ctx, `
INSERT INTO reach (environment, session, kind) VALUES (@environment, @session, @kind) ON CONFLICT DO NOTHING`,
		orderArgs(key, pgx.StrictNamedArgs{"kind": kind}))
	return safe("note that the buyer was reached", err)
}

// Unreached says how many orders were paid, of whose buyers nothing shows that they have it, and names those that have waited
// longest, at most so many. after is how long an accepted email may take.
func (l *Ledger) Unreached(ctx context.Context, after time.Duration, most int) (a order.Alert, err error) {
	a.Reason = order.ReasonUnreached
	var since *time.Time
	err = l.pool.QueryRow(ctx, `
WITH found AS (`+selectUnreached+`)
SELECT count(*), min(o.confirmed_at), coalesce((array_agg(o.reference ORDER BY o.confirmed_at))[1:@most], '{}')
FROM found JOIN orders o USING (environment, session) WHERE o.confirmed_at < now() - @after::interval`,
		pgx.StrictNamedArgs{"since": time.Duration(0), "after": after, "limit": 100_000, "most": most}).Scan(&a.Orders, &since, &a.References)
	if since != nil {
		a.Since = *since
	}
	return a, safe("count who was not reached", err)
}
