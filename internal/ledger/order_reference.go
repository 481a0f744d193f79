package ledger

import (
	"context"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// KeyOf finds the order of a reference; ErrNotFound where the ledger has none.
func (l *Ledger) KeyOf(ctx context.Context, reference order.Reference) (order.Key, error) {
	rows, _ := l.pool.Query(ctx, `SELECT environment, session FROM orders WHERE reference = @reference`, pgx.StrictNamedArgs{"reference": reference})
	key, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[order.Key])
	if noRows(err) {
		return order.Key{}, ErrNotFound
	}
	return key, safe("find a reference", err)
}
