package ledger

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Installation is one shop: its database, and the task queue on which its orders run.
type Installation struct {
	ID        string
	TaskQueue string // empty until a process has said it
}

// Installation reads which installation this is.
func (l *Ledger) Installation(ctx context.Context) (Installation, error) {
	rows, _ := l.pool.Query(ctx, `SELECT id::text, task_queue FROM installation`)
	is, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Installation])
	return is, safe("read the installation", err)
}

// MoveTaskQueue says that orders run on another task queue from now on. It says false where another process has moved them
// meanwhile.
func (l *Ledger) MoveTaskQueue(ctx context.Context, from, to string) (moved bool, err error) {
	tag, err := l.pool.Exec(ctx, `UPDATE installation SET task_queue = @to WHERE task_queue = @from`, pgx.StrictNamedArgs{"from": from, "to": to})
	return tag.RowsAffected() == 1, safe("move to another task queue", err)
}

// OpenEnvironments lists the environments of orders that are not done: their payment is pending, or something is owed.
func (l *Ledger) OpenEnvironments(ctx context.Context) ([]string, error) {
	rows, _ := l.pool.Query(ctx, `
SELECT environment FROM orders WHERE payment = 'pending'
UNION SELECT environment FROM orders WHERE reversal_due_at IS NOT NULL
UNION SELECT environment FROM open_obligations WHERE coalesce(finished_at, stopped_at) IS NULL
ORDER BY environment`)
	environments, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return environments, safe("list environments", err)
}
