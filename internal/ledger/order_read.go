package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// Order reads everything known of one order; ErrNotFound where the ledger has no such order.
func (l *Ledger) Order(ctx context.Context, key order.Key) (order.View, error) {
	views, err := l.orders(ctx, []order.Key{key})
	if err != nil {
		return order.View{}, safe("read an order", err)
	}
	if len(views) == 0 {
		return order.View{}, ErrNotFound
	}
	return views[0], nil
}

// OrderByLink finds the order that an emailed link opens, by the hash of its token. Links that were replaced are
// ErrNotFound, as are those that never were.
func (l *Ledger) OrderByLink(ctx context.Context, hash [32]byte) (order.View, error) {
	rows, _ := l.pool.Query(ctx, `
SELECT l.environment, l.session FROM links l
JOIN orders o ON o.environment = l.environment AND o.session = l.session AND o.link_version = l.version
WHERE l.token_hash = @hash`, pgx.StrictNamedArgs{"hash": hash[:]})
	key, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[order.Key])
	if noRows(err) {
		return order.View{}, ErrNotFound
	}
	if err != nil {
		return order.View{}, safe("find a link", err)
	}
	return l.Order(ctx, key)
}

// The statements below read what belongs to the orders in @environments and @sessions, two arrays of the same length.
const (
	// chosen are the keys of those orders.
	chosen = `unnest(@environments::text[], @sessions::text[]) AS k (environment, session)`

	selectOrders = `
SELECT o.environment, o.session, o.created_at, o.payment, o.processing, o.to_pay, coalesce(o.payment_ref, '') AS payment_ref,
       coalesce(o.amount, 0) AS amount, ` + paid + ` AS paid, coalesce(o.currency, '') AS currency, coalesce(o.address, o.buyer_email, '') AS address,
       o.confirmed_at, o.looked_at AS checked_at, o.refunded, o.refund_pending, o.dispute, o.reversal_due_at IS NOT NULL AS reversal_due,
       o.link_version, o.reference, o.found,
       EXISTS (SELECT FROM requests q WHERE q.environment = o.environment AND q.session = o.session
               AND q.kind = 'revoke' AND q.carried_out_at IS NULL) AS revoke_asked,
       (SELECT at FROM reach r WHERE r.environment = o.environment AND r.session = o.session AND r.kind = 'opened') AS opened_at,
       (SELECT at FROM reach r WHERE r.environment = o.environment AND r.session = o.session AND r.kind = 'downloaded') AS downloaded_at
FROM ` + chosen + ` JOIN orders o USING (environment, session)`

	selectAttentions = `
SELECT w.environment, w.session, w.step, w.reason, w.class, w.since
FROM ` + chosen + ` JOIN attention w USING (environment, session) ORDER BY ` + byUrgency

	selectItems = `
SELECT i.environment, i.session, i.line, i.refs, i.name, i.quantity, coalesce(i.product, '') AS product, i.amount
FROM ` + chosen + ` JOIN order_items i USING (environment, session) ORDER BY i.line`

	// What has been decided to end can be opened no more from that commit on, also while nobody carries it out.
	selectGrantsOf = `
SELECT g.environment, g.session, g.id, g.product, g.access_kind AS kind, g.file, g.item, g.unit, g.secret,
       CASE WHEN g.state <> 'granted' THEN g.state
            WHEN b.wanted <> 'granted' THEN b.wanted
            WHEN b.keep > 0 AND g.unit > b.keep THEN 'revoked'
            ELSE g.state END AS state
FROM ` + chosen + ` JOIN grants g USING (environment, session)
LEFT JOIN obligations b ON b.environment = g.environment AND b.session = g.session AND b.kind = 'access'
    AND b.product = g.product AND b.access_kind = g.access_kind AND coalesce(b.file, '') = g.file
ORDER BY g.id`

	selectAccess = `
SELECT b.environment, b.session, b.kind, b.wanted, b.finished_at IS NOT NULL AS finished, b.stopped_at IS NOT NULL AS stopped
FROM ` + chosen + ` JOIN obligations b USING (environment, session) WHERE b.kind IN ('access', 'access_change')`

	selectEmails = `
SELECT b.environment, b.session, b.subject::int AS generation, b.superseded_at IS NOT NULL AS superseded, coalesce(b.failure_class, '') AS class,
       b.attempts, b.first_attempt_at, b.finished_at AS accepted_at, b.stopped_at IS NOT NULL AS stopped,
       coalesce(b.recipient, '') AS address, b.wanted <> 'granted' AS suspended
FROM ` + chosen + ` JOIN obligations b USING (environment, session) WHERE b.kind = 'email' ORDER BY b.subject::int`

	// Evidence is joined by the tags we put on the message, and by the provider's id of it where an event carries no tags.
	selectEvidence = `
SELECT e.environment, e.session, coalesce(e.generation::text, b.subject) AS subject, e.delivery, e.detail
FROM ` + chosen + ` JOIN email_evidence e USING (environment, session)
LEFT JOIN obligations b ON b.provider_id = e.message_id AND b.kind = 'email'
WHERE e.delivery <> ''
UNION
SELECT b.environment, b.session, b.subject, e.delivery, e.detail
FROM ` + chosen + ` JOIN obligations b USING (environment, session) JOIN email_evidence e ON e.message_id = b.provider_id
WHERE e.delivery <> '' AND b.kind = 'email' AND b.provider_id IS NOT NULL`
)

// selectGrants reads the grants of one order.
const selectGrants = `
SELECT id, product, access_kind AS kind, file, item, unit, secret, state FROM grants
WHERE environment = @environment AND session = @session ORDER BY id`

type orderRow struct {
	order.Key
	CreatedAt     time.Time
	Payment       order.PaymentState
	Processing    bool
	ToPay         bool
	PaymentRef    string
	Amount        int64
	Paid          int64
	Currency      string
	Address       string
	ConfirmedAt   *time.Time
	CheckedAt     *time.Time
	OpenedAt      *time.Time
	DownloadedAt  *time.Time
	Refunded      int64
	RefundPending int64
	Dispute       order.Dispute
	ReversalDue   bool
	LinkVersion   int
	Reference     order.Reference
	RevokeAsked   bool
	Found         string
}

type stoppedRow struct {
	order.Key
	order.Stopped
}

type itemRow struct {
	order.Key
	order.Item
}

type grantRow struct {
	order.Key
	order.Grant
}

type accessRow struct {
	order.Key
	Kind              Kind
	Wanted            order.AccessState
	Finished, Stopped bool
}

type emailRow struct {
	order.Key
	Generation     int
	Superseded     bool
	Class          order.Class
	Attempts       int
	FirstAttemptAt *time.Time
	AcceptedAt     *time.Time
	Stopped        bool
	Address        string
	Suspended      bool
}

type evidenceRow struct {
	order.Key
	Subject  string
	Delivery order.Delivery
	Detail   string
}

// orders reads everything known of the given orders, in their sequence. Those that the ledger does not have are left out, and
// cost one statement: strangers can ask for any.
func (l *Ledger) orders(ctx context.Context, keys []order.Key) ([]order.View, error) {
	environments, sessions := make([]string, len(keys)), make([]string, len(keys))
	for i, key := range keys {
		environments[i], sessions[i] = key.Environment, key.Session
	}
	args := pgx.StrictNamedArgs{"environments": environments, "sessions": sessions}
	var (
		attention []stoppedRow
		items     []itemRow
		grants    []grantRow
		access    []accessRow
		emails    []emailRow
		evidence  []evidenceRow
	)
	rows, _ := l.pool.Query(ctx, selectOrders, args)
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[orderRow])
	if err != nil || len(found) == 0 {
		return nil, err
	}
	batch := &pgx.Batch{}
	batch.Queue(selectAttentions, args).Query(collect(&attention))
	batch.Queue(selectItems, args).Query(collect(&items))
	batch.Queue(selectGrantsOf, args).Query(collect(&grants))
	batch.Queue(selectAccess, args).Query(collect(&access))
	batch.Queue(selectEmails, args).Query(collect(&emails))
	batch.Queue(selectEvidence, args).Query(collect(&evidence))
	if err := l.pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, err
	}

	parts := map[order.Key]*orderParts{}
	for _, row := range found {
		parts[row.Key] = &orderParts{row: row}
	}
	of := func(key order.Key) *orderParts {
		if p := parts[key]; p != nil {
			return p
		}
		return &orderParts{} // evidence may come before its order, and an order after the first statement
	}
	for _, row := range attention {
		of(row.Key).attention = append(of(row.Key).attention, row.Stopped)
	}
	for _, row := range items {
		of(row.Key).items = append(of(row.Key).items, row.Item)
	}
	for _, row := range grants {
		of(row.Key).grants = append(of(row.Key).grants, row.Grant)
	}
	for _, row := range access {
		of(row.Key).access = append(of(row.Key).access, row)
	}
	for _, row := range emails {
		of(row.Key).emails = append(of(row.Key).emails, row)
	}
	for _, row := range evidence {
		of(row.Key).evidence = append(of(row.Key).evidence, row)
	}

	views := make([]order.View, 0, len(found))
	for _, key := range keys {
		if p := parts[key]; p != nil {
			views = append(views, p.view())
		}
	}
	return views, nil
}
