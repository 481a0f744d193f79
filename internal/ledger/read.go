package ledger

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

const selectGrants = `
SELECT id, product, access_kind, file, unit, secret, state FROM grants
WHERE environment = $1 AND session = $2 ORDER BY id`

func scanGrant(row pgx.CollectableRow) (order.Grant, error) {
	var g order.Grant
	return g, row.Scan(&g.ID, &g.Product, &g.Kind, &g.File, &g.Unit, &g.Secret, &g.State)
}

// accessWork is one access obligation, as far as the state of the access goes.
type accessWork struct {
	finished, stopped bool
	wanted            order.AccessState
}

// proof is what one event of the email provider tells.
type proof struct {
	delivery order.Delivery
	detail   string
}

// Order reads everything known of one order. An order nobody has heard of is ErrNotFound.
func (l *Ledger) Order(ctx context.Context, key order.Key) (order.View, error) {
	v := order.View{Key: key, Facts: order.Pending()}
	var work []accessWork
	evidence := map[string]proof{}
	batch := &pgx.Batch{}
	batch.Queue(selectOrder, key.Environment, key.Session).QueryRow(func(row pgx.Row) error { return scanOrder(row, &v) })
	batch.Queue(selectItems, key.Environment, key.Session).Query(func(rows pgx.Rows) (err error) {
		v.Items, err = pgx.CollectRows(rows, scanItem)
		return err
	})
	batch.Queue(selectGrants, key.Environment, key.Session).Query(func(rows pgx.Rows) (err error) {
		v.Grants, err = pgx.CollectRows(rows, scanGrant)
		return err
	})
	batch.Queue(selectAccess, key.Environment, key.Session).Query(func(rows pgx.Rows) (err error) {
		work, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (w accessWork, err error) {
			return w, row.Scan(&w.finished, &w.stopped, &w.wanted)
		})
		return err
	})
	batch.Queue(selectEmails, key.Environment, key.Session).Query(func(rows pgx.Rows) (err error) {
		v.Emails, err = pgx.CollectRows(rows, scanEmail)
		return err
	})
	batch.Queue(selectEvidence, key.Environment, key.Session).Query(func(rows pgx.Rows) error {
		var subject string
		var p proof
		_, err := pgx.ForEachRow(rows, []any{&subject, &p.delivery, &p.detail}, func() error {
			if p.delivery.Rank() > evidence[subject].delivery.Rank() {
				evidence[subject] = p
			}
			return nil
		})
		return err
	})
	err := l.pool.SendBatch(ctx, batch).Close()
	if noRows(err) {
		return order.View{}, ErrNotFound
	}
	if err != nil {
		return order.View{}, safe("read an order", err)
	}
	for i := range v.Emails {
		strongest := evidence[strconv.Itoa(v.Emails[i].Generation)]
		v.Emails[i].Delivery, v.Emails[i].Detail = strongest.delivery, strongest.detail
	}
	v.Facts.Access = accessState(v, work)
	v.Facts.Email, v.Facts.Delivery = emailState(v.Emails)
	return v, nil
}

// OrderByLink finds the order that an emailed link opens, by the hash of its token. Links that were replaced are
// ErrNotFound, as are those that never were.
func (l *Ledger) OrderByLink(ctx context.Context, hash [32]byte) (order.View, error) {
	var key order.Key
	err := l.pool.QueryRow(ctx, `
SELECT l.environment, l.session FROM links l
JOIN orders o ON o.environment = l.environment AND o.session = l.session AND o.link_version = l.version
WHERE l.token_hash = $1`, hash[:]).Scan(&key.Environment, &key.Session)
	if noRows(err) {
		return order.View{}, ErrNotFound
	}
	if err != nil {
		return order.View{}, safe("find a link", err)
	}
	return l.Order(ctx, key)
}

const selectOrder = `
SELECT created_at, payment, processing, coalesce(payment_ref, ''), coalesce(amount, 0), ` + paid + `, coalesce(currency, ''),
       coalesce(address, buyer_email, ''), confirmed_at, looked_at, link_version,
       ` + reasonNow + `,
       coalesce(attention_class, ''), coalesce(attention_at, refund_unclear_at), refunded, refund_pending, dispute,
       reversal_due_at IS NOT NULL, EXISTS (SELECT FROM obligations b WHERE b.environment = $1 AND b.session = $2 AND b.kind = 'revoke'
           AND b.finished_at IS NULL AND b.stopped_at IS NULL)
FROM orders WHERE environment = $1 AND session = $2`

func scanOrder(row pgx.Row, v *order.View) error {
	return row.Scan(&v.CreatedAt, &v.Facts.Payment, &v.Facts.Processing, &v.PaymentRef, &v.Total.Minor, &v.Paid, &v.Total.Currency,
		&v.Address, &v.ConfirmedAt, &v.CheckedAt, &v.LinkVersion, &v.Reason, &v.Class, &v.AttentionAt, &v.Refunded, &v.RefundPending, &v.Dispute, &v.ReversalDue, &v.AccessChangeDue)
}

const selectItems = `
SELECT line, refs, name, quantity, coalesce(product, ''), amount FROM order_items
WHERE environment = $1 AND session = $2 ORDER BY line`

func scanItem(row pgx.CollectableRow) (order.Item, error) {
	var i order.Item
	return i, row.Scan(&i.Line, &i.Refs, &i.Name, &i.Quantity, &i.Product, &i.Amount)
}

const selectAccess = `
SELECT finished_at IS NOT NULL, stopped_at IS NOT NULL, wanted FROM obligations
WHERE environment = $1 AND session = $2 AND kind = 'access'`

const selectEmails = `
SELECT subject::int, superseded_at IS NOT NULL, coalesce(failure_class, ''), attempts, first_attempt_at, finished_at,
       stopped_at IS NOT NULL, coalesce(recipient, ''), wanted <> 'granted'
FROM obligations WHERE environment = $1 AND session = $2 AND kind = 'email' ORDER BY subject::int`

func scanEmail(row pgx.CollectableRow) (order.EmailView, error) {
	var e order.EmailView
	var stopped bool
	err := row.Scan(&e.Generation, &e.Superseded, &e.Class, &e.Attempts, &e.FirstAttemptAt, &e.AcceptedAt, &stopped, &e.Address, &e.Suspended)
	e.State = generationState(e, stopped)
	return e, err
}

// Evidence is joined by the tags we put on the message, and by the provider's id of it where an event carries no tags.
const selectEvidence = `
SELECT coalesce(e.generation::text, b.subject), e.delivery, e.detail FROM email_evidence e
LEFT JOIN obligations b ON b.provider_id = e.message_id AND b.kind = 'email'
WHERE e.delivery <> '' AND e.environment = $1 AND e.session = $2
UNION
SELECT b.subject, e.delivery, e.detail FROM obligations b JOIN email_evidence e ON e.message_id = b.provider_id
WHERE e.delivery <> '' AND b.environment = $1 AND b.session = $2 AND b.kind = 'email' AND b.provider_id IS NOT NULL`

func generationState(e order.EmailView, stopped bool) order.EmailState {
	switch {
	case e.AcceptedAt != nil:
		return order.EmailAccepted
	case !stopped:
		return order.EmailPending
	case e.Class == order.ClassUnknown || e.Class == order.ClassUncertain || e.Class == order.ClassPastWindow:
		return order.EmailUncertain
	}
	return order.EmailAttention
}

func emailState(emails []order.EmailView) (order.EmailState, order.Delivery) {
	if len(emails) == 0 {
		return order.EmailPending, order.DeliveryNone
	}
	newest := emails[len(emails)-1]
	return newest.State, newest.Delivery
}

func accessState(v order.View, work []accessWork) order.AccessState {
	if v.Facts.Payment == order.PaymentConfirmed && v.Reason.Step() == "access" {
		return order.AccessAttention
	}
	resting := []order.AccessState{}
	for _, w := range work {
		switch {
		case w.stopped:
			return order.AccessAttention
		case !w.finished && w.wanted == order.AccessGranted:
			return order.AccessPending
		case !w.finished:
			resting = append(resting, w.wanted)
		}
	}
	if len(work) == 0 || len(v.Grants)+len(resting) == 0 {
		return order.AccessPending
	}
	for _, g := range v.Grants {
		resting = append(resting, g.State)
	}
	return strongest(resting)
}

// strongest is granted while anything can still be opened: a partial refund ends some grants and not the order.
func strongest(states []order.AccessState) order.AccessState {
	switch {
	case slices.Contains(states, order.AccessGranted):
		return order.AccessGranted
	case slices.Contains(states, order.AccessHeld):
		return order.AccessHeld
	}
	return order.AccessRevoked
}

// Filter chooses orders for a list.
type Filter struct {
	Attention bool
	Class     order.Class // with Attention: only what stopped for this
	Pending   bool
	Ignored   bool
	Unreached bool   // paid, and the buyer has no email: it came back, or did not go out
	Address   string // any letter case
	Payment   string // the provider's reference of the payment
	Limit     int
}

// List reads the chosen orders, those that have waited longest first; without a choice, the newest first.
func (l *Ledger) List(ctx context.Context, f Filter) ([]order.View, error) {
	query := `SELECT environment, session FROM orders ORDER BY created_at DESC LIMIT $1`
	args := []any{f.Limit}
	switch {
	case f.Attention:
		query = `
SELECT environment, session FROM orders WHERE (attention_at IS NOT NULL OR refund_unclear_at IS NOT NULL) AND ($2 = '' OR attention_class = $2)
ORDER BY coalesce(attention_at, refund_unclear_at) LIMIT $1`
		args = append(args, f.Class)
	case f.Ignored:
		query = `SELECT environment, session FROM orders WHERE payment = 'ignored' ORDER BY created_at LIMIT $1`
	case f.Unreached:
		query = selectUnreached
	case f.Pending:
		query = selectPending
	case f.Payment != "":
		query = `SELECT environment, session FROM orders WHERE payment_ref = $2 ORDER BY created_at DESC LIMIT $1`
		args = append(args, f.Payment)
	case f.Address != "":
		query = `SELECT environment, session FROM orders WHERE lower(address) = lower($2) OR lower(buyer_email) = lower($2) ORDER BY created_at DESC LIMIT $1`
		args = append(args, f.Address)
	}
	rows, err := l.pool.Query(ctx, query, args...)
	if err != nil {
		return nil, safe("list orders", err)
	}
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByPos[order.Key])
	if err != nil {
		return nil, safe("list orders", err)
	}
	views := make([]order.View, 0, len(keys))
	for _, key := range keys {
		v, err := l.Order(ctx, key)
		if err != nil {
			return nil, err
		}
		views = append(views, v)
	}
	return views, nil
}

// selectPending finds what has not come to its end by itself yet: unpaid orders and open obligations.
const selectPending = `
SELECT environment, session FROM (
    (SELECT environment, session, created_at FROM orders WHERE payment = 'pending' ORDER BY created_at LIMIT $1)
    UNION
    (SELECT environment, session, min(created_at) FROM obligations
     WHERE coalesce(finished_at, stopped_at) IS NULL AND (wanted = 'granted' OR kind = 'revoke')
     GROUP BY environment, session ORDER BY min(created_at) LIMIT $1)
) waiting GROUP BY environment, session ORDER BY min(created_at) LIMIT $1`

// selectUnreached finds the buyers whom the newest email has not reached, as far as is known.
const selectUnreached = `
SELECT o.environment, o.session FROM orders o
JOIN LATERAL (
    SELECT * FROM obligations b WHERE b.environment = o.environment AND b.session = o.session AND b.kind = 'email' ORDER BY b.subject::int DESC LIMIT 1
) e ON true
WHERE o.payment = 'confirmed' AND e.wanted = 'granted' AND (e.finished_at IS NULL AND e.stopped_at IS NOT NULL OR EXISTS (
    SELECT FROM email_evidence v WHERE v.delivery IN ('bounced', 'failed', 'suppressed')
      AND (v.message_id = e.provider_id OR v.environment = o.environment AND v.session = o.session AND v.generation::text = e.subject)))
ORDER BY o.created_at LIMIT $1`

// Audit lists what people and automatic decisions did to an order, oldest first.
func (l *Ledger) Audit(ctx context.Context, key order.Key) ([]AuditEntry, error) {
	rows, err := l.pool.Query(ctx, `SELECT at, who, what, why FROM audit WHERE environment = $1 AND session = $2 ORDER BY id`,
		key.Environment, key.Session)
	if err != nil {
		return nil, safe("read the audit", err)
	}
	entries, err := pgx.CollectRows(rows, pgx.RowToStructByPos[AuditEntry])
	return entries, safe("read the audit", err)
}

// AuditEntry is one line of an order's audit.
type AuditEntry struct {
	At             time.Time
	Who, What, Why string
}
