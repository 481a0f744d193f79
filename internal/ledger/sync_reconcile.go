package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// Unfinished lists orders with work that should long have been done, or should be under way: unpaid ones and open
// obligations older than age, in the sequence of their keys and beginning after the given one. Orders that wait for a
// person are not among them.
func (l *Ledger) Unfinished(ctx context.Context, after order.Key, age time.Duration, limit int) ([]order.Key, error) {
	rows, _ := l.pool.Query(ctx, `
SELECT environment, session FROM (
    SELECT environment, session FROM orders WHERE payment = 'pending' AND created_at < now() - @age::interval
    UNION
    SELECT environment, session FROM open_obligations
    WHERE coalesce(finished_at, stopped_at) IS NULL AND kind <> 'access_change' AND created_at < now() - @age::interval
) unfinished
WHERE (environment, session) > (@environment, @session) ORDER BY environment, session LIMIT @limit`,
		orderArgs(after, pgx.StrictNamedArgs{"age": age, "limit": limit}))
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByName[order.Key])
	return keys, safe("list unfinished orders", err)
}

// ReversalsDue lists orders of which a refund or a dispute should long have been dealt with, and those of which one has an
// end to come that no event may report, once a day. They are in the sequence of their keys, beginning after the given
// one; those whose reversal waits for a person are not among them.
func (l *Ledger) ReversalsDue(ctx context.Context, after order.Key, age time.Duration, limit int) ([]order.Key, error) {
	rows, _ := l.pool.Query(ctx, `
WITH checks AS (
    SELECT environment, session FROM orders WHERE reversal_due_at < now() - @age::interval AND payment = 'confirmed'
    UNION
    SELECT environment, session FROM orders
    WHERE (dispute = 'open' OR refund_pending > 0) AND reversal_read_at < now() - interval '1 day' AND payment = 'confirmed'
)
SELECT environment, session FROM (
    SELECT environment, session FROM checks c
    WHERE NOT EXISTS (SELECT FROM attention w WHERE w.environment = c.environment AND w.session = c.session
                      AND w.step = 'reversal' AND w.reason <> @unclear)
    UNION
    SELECT environment, session FROM open_obligations
    WHERE coalesce(finished_at, stopped_at) IS NULL AND kind = 'access_change' AND created_at < now() - @age::interval
) due
WHERE (environment, session) > (@environment, @session) ORDER BY environment, session LIMIT @limit`,
		orderArgs(after, pgx.StrictNamedArgs{"age": age, "limit": limit, "unclear": order.ReasonRefundUnclear}))
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByName[order.Key])
	return keys, safe("list reversals", err)
}

// Reconciliation is what one run over the ledger came to.
type Reconciliation struct {
	Checked   int // orders that should be under way
	Repaired  int // of these, had no run and have one now, or made no progress and were nudged
	Remaining int // of these, could not be started
	Marked    int // need a person from now on, because they make no progress
}

// Reconciled notes a finished run.
func (l *Ledger) Reconciled(ctx context.Context, r Reconciliation) error {
	_, err := l.pool.Exec(ctx, `
INSERT INTO reconciliations (finished_at, checked, repaired, remaining) VALUES (now(), @checked, @repaired, @remaining)
ON CONFLICT (one) DO UPDATE SET finished_at = excluded.finished_at, checked = excluded.checked,
    repaired = excluded.repaired, remaining = excluded.remaining`,
		pgx.StrictNamedArgs{"checked": r.Checked, "repaired": r.Repaired, "remaining": r.Remaining})
	return safe("note a reconciliation", err)
}

// ReconciledAt is when the last run finished; zero before the first.
func (l *Ledger) ReconciledAt(ctx context.Context) (time.Time, error) {
	var at time.Time
	err := l.pool.QueryRow(ctx, `SELECT finished_at FROM reconciliations`).Scan(&at)
	if noRows(err) {
		return time.Time{}, nil
	}
	return at, safe("read the last reconciliation", err)
}
