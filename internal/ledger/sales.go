package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// SyncWindow is which sales of an environment are known to have been heard of: all of those made between the two times.
type SyncWindow struct {
	From  time.Time // when Handover began to serve the environment
	Until time.Time
}

// Cover begins to cover an environment, from now on. What is covered already stays as it is.
func (l *Ledger) StartSync(ctx context.Context, environment string) error {
	_, err := l.pool.Exec(ctx, `INSERT INTO sales_lists (environment) VALUES ($1) ON CONFLICT DO NOTHING`, environment)
	return safe("begin to cover an environment", err)
}

// Covered reads which sales are known; both times are zero before an environment was first served.
func (l *Ledger) SyncWindow(ctx context.Context, environment string) (SyncWindow, error) {
	var c SyncWindow
	err := l.pool.QueryRow(ctx, `SELECT covered_from, complete_until FROM sales_lists WHERE environment = $1`, environment).Scan(&c.From, &c.Until)
	if noRows(err) {
		return SyncWindow{}, nil
	}
	return c, safe("read which sales are known", err)
}

// AdvanceHighWater moves the end of what is covered on. It never goes back.
func (l *Ledger) AdvanceHighWater(ctx context.Context, environment string, until time.Time) error {
	_, err := l.pool.Exec(ctx, `
INSERT INTO sales_lists AS s (environment, complete_until) VALUES ($1, $2)
ON CONFLICT (environment) DO UPDATE SET complete_until = greatest(s.complete_until, excluded.complete_until)`, environment, until)
	return safe("note which sales are known", err)
}

// UnknownSales returns those of the sales whose session, or whose payment, is on no order.
func (l *Ledger) UnknownSales(ctx context.Context, environment string, sales []order.Sale) ([]order.Sale, error) {
	sessions, refs := make([]string, len(sales)), make([]string, len(sales))
	for i, s := range sales {
		sessions[i], refs[i] = s.Session, s.Ref
	}
	rows, err := l.pool.Query(ctx, `
SELECT s.i FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS s (session, ref, i)
WHERE NOT EXISTS (SELECT FROM orders o WHERE o.environment = $1 AND o.session = s.session AND s.session <> '')
  AND NOT EXISTS (SELECT FROM orders o WHERE o.environment = $1 AND o.payment_ref = s.ref AND s.ref <> '')
ORDER BY s.i`, environment, sessions, refs)
	if err != nil {
		return nil, safe("look for sales", err)
	}
	places, err := pgx.CollectRows(rows, pgx.RowTo[int])
	unheard := make([]order.Sale, len(places))
	for i, place := range places {
		unheard[i] = sales[place-1]
	}
	return unheard, safe("look for sales", err)
}

// ImportSale writes down an order that nobody has told of.
func (l *Ledger) ImportSale(ctx context.Context, key order.Key) error {
	_, err := l.pool.Exec(ctx, `
WITH found AS (
    INSERT INTO orders (environment, session) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING 1
)
INSERT INTO audit (environment, session, who, what, why)
SELECT $1, $2, 'handover', 'found in the provider''s list of paid sessions', 'no webhook had told of it' FROM found`, key.Environment, key.Session)
	return safe("write down an order", err)
}
