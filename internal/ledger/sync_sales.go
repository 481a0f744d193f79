package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// SyncWindow is which sales of an environment are certainly known: all of those made between the two times.
type SyncWindow struct {
	From  time.Time // when Handover began to serve the environment
	Until time.Time // the high-water mark
}

// StartSync begins the sync window of an environment, from now on. One that has begun stays as it is.
func (l *Ledger) StartSync(ctx context.Context, environment string) error {
	_, err := l.pool.Exec(ctx, `INSERT INTO sales_lists (environment) VALUES (@environment) ON CONFLICT DO NOTHING`,
		pgx.StrictNamedArgs{"environment": environment})
	return safe("begin a sync window", err)
}

// SyncWindow reads which sales are known; both times are zero before an environment was first served.
func (l *Ledger) SyncWindow(ctx context.Context, environment string) (SyncWindow, error) {
	rows, _ := l.pool.Query(ctx, `
SELECT covered_from AS "from", complete_until AS until FROM sales_lists WHERE environment = @environment`,
		pgx.StrictNamedArgs{"environment": environment})
	window, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[SyncWindow])
	if noRows(err) {
		return SyncWindow{}, nil
	}
	return window, safe("read a sync window", err)
}

// AdvanceHighWater moves the end of the sync window on. It never goes back.
func (l *Ledger) AdvanceHighWater(ctx context.Context, environment string, until time.Time) error {
	_, err := l.pool.Exec(ctx, `
INSERT INTO sales_lists AS s (environment, complete_until) VALUES (@environment, @until)
ON CONFLICT (environment) DO UPDATE SET complete_until = greatest(s.complete_until, excluded.complete_until)`,
		pgx.StrictNamedArgs{"environment": environment, "until": until})
	return safe("advance a high-water mark", err)
}

// UnknownSales returns those of the sales whose session, or whose payment, is on no order.
func (l *Ledger) UnknownSales(ctx context.Context, environment string, sales []order.Sale) ([]order.Sale, error) {
	sessions, refs := make([]string, len(sales)), make([]string, len(sales))
	for i, s := range sales {
		sessions[i], refs[i] = s.Session, s.Ref
	}
	rows, _ := l.pool.Query(ctx, `
SELECT s.i FROM unnest(@sessions::text[], @refs::text[]) WITH ORDINALITY AS s (session, ref, i)
WHERE NOT EXISTS (SELECT FROM orders o WHERE o.environment = @environment AND o.session = s.session AND s.session <> '')
  AND NOT EXISTS (SELECT FROM orders o WHERE o.environment = @environment AND o.payment_ref = s.ref AND s.ref <> '')
ORDER BY s.i`, pgx.StrictNamedArgs{"environment": environment, "sessions": sessions, "refs": refs})
	places, err := pgx.CollectRows(rows, pgx.RowTo[int])
	unknown := make([]order.Sale, len(places))
	for i, place := range places {
		unknown[i] = sales[place-1]
	}
	return unknown, safe("search for sales", err)
}

// Found says how a sale whose webhook was missed came to be known.
type Found string

// The ways of finding a missed sale.
const (
	FoundByPage      Found = "page"
	FoundByReconcile Found = "reconcile"
)

// ImportSale writes down an order whose webhook was missed, or that one was missed of an order whose payment is pending.
func (l *Ledger) ImportSale(ctx context.Context, key order.Key, found Found) error {
	what := map[Found]string{
		FoundByPage: "found when the buyer opened the order page", FoundByReconcile: "found in the provider's list of paid sessions",
	}[found]
	_, err := l.pool.Exec(ctx, `
WITH found AS (
    INSERT INTO orders AS o (environment, session, found) VALUES (@environment, @session, @found)
    ON CONFLICT (environment, session) DO UPDATE SET found = @found WHERE o.payment = 'pending' AND o.found = ''
    RETURNING 1
)
INSERT INTO audit (environment, session, who, what, why)
SELECT @environment, @session, 'handover', @what::text, 'its webhook was missed' FROM found`,
		orderArgs(key, pgx.StrictNamedArgs{"found": found, "what": what}))
	return safe("import a sale", err)
}
