package ledger

import (
	"context"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// lockToRead makes a snapshot wait for whoever changes the order, so that snapshots can be put in sequence by their time.
const lockToRead = `SELECT FROM orders WHERE environment = @environment AND session = @session FOR SHARE`

// lockToChange is the same for a transaction that changes the order's obligations. It lets those pass who only refer to
// the order.
const lockToChange = `SELECT FROM orders WHERE environment = @environment AND session = @session FOR NO KEY UPDATE`

// snapshotRow is the row of selectSnapshot.
type snapshotRow struct {
	AsOf            int64
	ConfirmedAt     int64
	Payment         order.PaymentState
	Reason          order.Reason
	ReversalDue     bool
	AccessChangeDue bool

	Pieces        int  // of access
	AccessStopped bool // access waits for a person
	AccessOpen    bool // access is pending
	AccessStates  []order.AccessState

	Generation     int
	EmailAccepted  bool
	EmailStopped   bool
	EmailClass     order.Class
	EmailSuspended bool
}

// selectSnapshot reads one row, also where there is no such order. Its time is read under the order's lock.
const selectSnapshot = `
SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS as_of,
       coalesce((extract(epoch FROM o.confirmed_at) * 1000000)::bigint, 0) AS confirmed_at, coalesce(o.payment, 'pending') AS payment,
       coalesce(a.reason, '') AS reason, o.reversal_due_at IS NOT NULL AS reversal_due, coalesce(w.change_due, false) AS access_change_due,
       coalesce(w.pieces, 0) AS pieces, coalesce(w.open, false) AS access_open,
       coalesce(w.stopped, false) OR o.payment = 'confirmed' AND coalesce(a.access, false) AS access_stopped,
       coalesce(w.suspended, '{}') || coalesce(g.states, '{}') AS access_states,
       coalesce(e.subject::int, 1) AS generation, e.finished_at IS NOT NULL AS email_accepted, e.stopped_at IS NOT NULL AS email_stopped,
       coalesce(e.failure_class, '') AS email_class, coalesce(e.wanted <> 'granted', false) AS email_suspended
FROM (VALUES (1)) AS one LEFT JOIN orders o ON o.environment = @environment AND o.session = @session
LEFT JOIN LATERAL (
    SELECT (array_agg(reason ORDER BY ` + byUrgency + `))[1] AS reason, bool_or(step = 'access') AS access
    FROM attention WHERE environment = @environment AND session = @session
) a ON true
LEFT JOIN LATERAL (
    SELECT bool_or(kind = 'access_change' AND finished_at IS NULL AND stopped_at IS NULL) AS change_due,
           count(*) FILTER (WHERE kind = 'access') AS pieces,
           bool_or(kind = 'access' AND stopped_at IS NOT NULL) AS stopped,
           bool_or(kind = 'access' AND finished_at IS NULL AND wanted = 'granted') AS open,
           array_agg(DISTINCT wanted) FILTER (WHERE kind = 'access' AND finished_at IS NULL AND wanted <> 'granted') AS suspended
    FROM obligations WHERE environment = @environment AND session = @session
) w ON true
LEFT JOIN LATERAL (
    SELECT array_agg(DISTINCT state) AS states FROM grants WHERE environment = @environment AND session = @session
) g ON true
LEFT JOIN LATERAL (` + newestEmail + `) e ON true`

// Snapshot reads what steers the run of an order. An order that is not in the ledger is pending.
func (l *Ledger) Snapshot(ctx context.Context, key order.Key) (order.Snapshot, error) {
	var s order.Snapshot
	batch := &pgx.Batch{}
	batch.Queue(lockToRead, orderArgs(key, nil))
	queueSnapshot(batch, key, &s)
	err := l.pool.SendBatch(ctx, batch).Close()
	return s, safe("read a snapshot", err)
}

// queueSnapshot reads a snapshot in the transaction that holds the order's lock, after what the transaction has written.
func queueSnapshot(b *pgx.Batch, key order.Key, s *order.Snapshot) {
	b.Queue(selectSnapshot, orderArgs(key, nil)).Query(func(rows pgx.Rows) error {
		row, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[snapshotRow])
		*s = row.snapshot()
		return err
	})
}

func (r snapshotRow) snapshot() order.Snapshot {
	return order.Snapshot{
		AsOf: r.AsOf, ConfirmedAt: r.ConfirmedAt, Payment: r.Payment, Access: r.accessState(),
		Email: generationState(r.EmailAccepted, r.EmailStopped, r.EmailClass), Generation: r.Generation,
		EmailSuspended: r.EmailSuspended, ReversalDue: r.ReversalDue, AccessChangeDue: r.AccessChangeDue, Reason: r.Reason,
	}
}

func (r snapshotRow) accessState() order.AccessState {
	switch {
	case r.AccessStopped:
		return order.AccessAttention
	case r.AccessOpen || r.Pieces == 0 || len(r.AccessStates) == 0:
		return order.AccessPending
	}
	return strongestAccess(r.AccessStates)
}
