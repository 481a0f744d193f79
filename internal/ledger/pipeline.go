package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// inPipelinedTx runs one transaction with as few round trips as there are decisions in it: BEGIN travels with the first
// statements, COMMIT with the last ones, which then queues. Each round trip costs both processes more than most
// statements do. An error of then, or of any statement, undoes everything.
func (l *Ledger) inPipelinedTx(ctx context.Context, first func(*pgx.Batch), then func(conn *pgx.Conn, last *pgx.Batch) error) error {
	pooled, err := l.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer pooled.Release() // the pool closes a connection that is still in a transaction

	conn := pooled.Conn()
	opening, last := &pgx.Batch{}, &pgx.Batch{}
	opening.Queue("BEGIN")
	first(opening)
	err = conn.SendBatch(ctx, opening).Close()
	if err == nil {
		err = then(conn, last)
	}
	if err == nil {
		last.Queue("COMMIT")
		err = conn.SendBatch(ctx, last).Close()
	}

	if err != nil && !conn.IsClosed() {
		undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_, _ = conn.Exec(undo, "ROLLBACK") // a connection where that fails is closed with what it had begun
	}
	return err
}

// orderArgs are the named arguments of a statement about one order, and those given beside its key.
func orderArgs(key order.Key, more pgx.StrictNamedArgs) pgx.StrictNamedArgs {
	args := pgx.StrictNamedArgs{"environment": key.Environment, "session": key.Session}
	for name, value := range more {
		args[name] = value
	}
	return args
}

// collect puts the rows of a queued statement into a slice, by the names of their columns.
func collect[T any](into *[]T) func(pgx.Rows) error {
	return func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectRows(rows, pgx.RowToStructByName[T])
		return err
	}
}
