package ledger

import (
	"context"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// lockToRead makes a snapshot wait for whoever changes the order, so that snapshots can be put in sequence by their time.
const lockToRead = `SELECT FROM orders WHERE environment = $1 AND session = $2 FOR SHARE`

// lockToChange is the same for a transaction that changes the order's obligations. It lets those pass who only refer to
// the order.
const lockToChange = `SELECT FROM orders WHERE environment = $1 AND session = $2 FOR NO KEY UPDATE`

// selectSnapshot reads one row, also where there is no such order. Its time is read under the order's lock.
const selectSnapshot = `
SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, coalesce(o.payment, 'pending'), coalesce(` + reasonNow + `, ''),
       o.reversal_due_at IS NOT NULL, coalesce(w.change_due, false),
       coalesce(w.pieces, 0), coalesce(w.stopped, false), coalesce(w.open, false), coalesce(w.suspended, '{}'), coalesce(g.states, '{}'),
       coalesce(e.subject::int, 1), e.finished_at IS NOT NULL, e.stopped_at IS NOT NULL, coalesce(e.failure_class, ''), coalesce(e.wanted <> 'granted', false)
FROM (VALUES (1)) AS one LEFT JOIN orders o ON o.environment = $1 AND o.session = $2
LEFT JOIN LATERAL (
    SELECT bool_or(kind = 'revoke' AND finished_at IS NULL AND stopped_at IS NULL) AS change_due,
           count(*) FILTER (WHERE kind = 'access') AS pieces,
           bool_or(kind = 'access' AND stopped_at IS NOT NULL) AS stopped,
           bool_or(kind = 'access' AND finished_at IS NULL AND wanted = 'granted') AS open,
           array_agg(DISTINCT wanted) FILTER (WHERE kind = 'access' AND finished_at IS NULL AND wanted <> 'granted') AS suspended
    FROM obligations WHERE environment = $1 AND session = $2
) w ON true
LEFT JOIN LATERAL (SELECT array_agg(DISTINCT state) AS states FROM grants WHERE environment = $1 AND session = $2) g ON true
LEFT JOIN LATERAL (
    SELECT subject, finished_at, stopped_at, failure_class, wanted FROM obligations
    WHERE environment = $1 AND session = $2 AND kind = 'email' ORDER BY subject::int DESC LIMIT 1
) e ON true`

// Snapshot reads what steers the run of an order. An order that is not in the ledger is pending.
func (l *Ledger) Snapshot(ctx context.Context, key order.Key) (order.Snapshot, error) {
	var s order.Snapshot
	batch := &pgx.Batch{}
	batch.Queue(lockToRead, key.Environment, key.Session)
	queueSnapshot(batch, key, &s)
	err := l.pool.SendBatch(ctx, batch).Close()
	return s, safe("read a snapshot", err)
}

// queueSnapshot reads a snapshot in the transaction that holds the order's lock, after what the transaction has written.
func queueSnapshot(b *pgx.Batch, key order.Key, s *order.Snapshot) {
	b.Queue(selectSnapshot, key.Environment, key.Session).QueryRow(func(row pgx.Row) error {
		var pieces int
		var stopped, open, accepted, emailStopped bool
		var suspended, granted []order.AccessState
		var class order.Class
		err := row.Scan(&s.AsOf, &s.Payment, &s.Reason, &s.ReversalDue, &s.AccessChangeDue,
			&pieces, &stopped, &open, &suspended, &granted,
			&s.Generation, &accepted, &emailStopped, &class, &s.EmailSuspended)
		if err != nil {
			return err
		}

		s.Access = snapshotAccess(*s, pieces, stopped, open, append(suspended, granted...))
		s.Email = newestEmail(accepted, emailStopped, class)
		return nil
	})
}

func snapshotAccess(s order.Snapshot, pieces int, stopped, open bool, states []order.AccessState) order.AccessState {
	switch {
	case s.Payment == order.PaymentConfirmed && s.Reason.Step() == order.StepAccess, stopped:
		return order.AccessAttention
	case open || pieces == 0 || len(states) == 0:
		return order.AccessPending
	}
	return strongest(states)
}

func newestEmail(accepted, stopped bool, class order.Class) order.EmailState {
	switch {
	case accepted:
		return order.EmailAccepted
	case !stopped:
		return order.EmailPending
	case class == order.ClassUnknown || class == order.ClassUncertain || class == order.ClassPastWindow:
		return order.EmailUncertain
	}
	return order.EmailAttention
}
