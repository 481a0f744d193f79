package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// inTrips runs one transaction with as few trips to the database as there are decisions in it: BEGIN travels with the
// first statements, COMMIT with the last ones, which then queues. Each trip costs both processes more than most
// statements do. An error of then, or of any statement, undoes everything.
func (l *Ledger) inTrips(ctx context.Context, first func(*pgx.Batch), then func(tx *pgx.Conn, last *pgx.Batch) error) error {
	pooled, err := l.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer pooled.Release() // the pool closes a connection that is still in a transaction
	tx := pooled.Conn()
	opening, last := &pgx.Batch{}, &pgx.Batch{}
	opening.Queue("BEGIN")
	first(opening)
	err = tx.SendBatch(ctx, opening).Close()
	if err == nil {
		err = then(tx, last)
	}
	if err == nil {
		last.Queue("COMMIT")
		err = tx.SendBatch(ctx, last).Close()
	}
	if err != nil && !tx.IsClosed() {
		undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_, _ = tx.Exec(undo, "ROLLBACK") // a connection where that fails is closed with what it had begun
	}
	return err
}
