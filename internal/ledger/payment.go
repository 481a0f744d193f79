package ledger

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// recordPayment does in one statement, and so one commit: the payment's facts, the items, everything that is owed from
// now on, and the mark on the event that brought us here. A confirmed payment is never taken back; what is owed on it is
// written down once, when the catalogue knows all of it. The provider's session cannot say that a delayed payment failed:
// there the event's claim decides. The event is named by its whole key and nothing else: for a list of them, or with a
// condition on dispatched_at, Postgres may plan, while the tables are young, to go through every event of the
// environment or every one that waits.
const recordPayment = `
WITH o AS (
    INSERT INTO orders AS o (environment, session, handed_over_at, payment, processing, payment_ref, amount, currency,
        buyer_email, buyer_name, looked_at, confirmed_at, owed_at, attention_step, attention_reason, attention_class, attention_at, reversal_due_at)
    VALUES ($1, $2, now(), $3, $4, nullif($5, ''), $6, nullif($7, ''), nullif($8, ''), nullif($9, ''),
        now(), CASE WHEN $3 = 'confirmed' THEN now() END, CASE WHEN $3 = 'confirmed' AND cardinality($17::text[]) > 0 THEN now() END,
        nullif($23, ''), nullif($10, ''), nullif($11, ''), CASE WHEN $10 <> '' THEN now() END,
        CASE WHEN $24 OR EXISTS (SELECT FROM webhook_events e WHERE e.environment = $1 AND e.payment_ref = $5 AND e.kind IN ('refund', 'dispute')) THEN now() END)
    ON CONFLICT (environment, session) DO UPDATE SET
        handed_over_at = coalesce(o.handed_over_at, now()),
        payment = CASE
            WHEN o.payment = 'confirmed' THEN 'confirmed'
            WHEN $3 = 'pending' AND $4 AND EXISTS (
                SELECT FROM webhook_events e WHERE e.environment = $1 AND e.session = $2 AND e.hint = 'failed') THEN 'failed'
            ELSE $3 END,
        processing = $4,
        payment_ref = coalesce(excluded.payment_ref, o.payment_ref),
        amount = coalesce(excluded.amount, o.amount),
        currency = coalesce(excluded.currency, o.currency),
        buyer_email = coalesce(excluded.buyer_email, o.buyer_email),
        buyer_name = coalesce(excluded.buyer_name, o.buyer_name),
        looked_at = now(),
        reversal_due_at = coalesce(o.reversal_due_at, CASE WHEN o.owed_at IS NULL THEN excluded.reversal_due_at END),
        confirmed_at = coalesce(o.confirmed_at, excluded.confirmed_at),
        owed_at = coalesce(o.owed_at, excluded.owed_at),
        attention_step = CASE WHEN o.owed_at IS NOT NULL OR o.payment = 'confirmed' AND $3 <> 'confirmed' THEN o.attention_step ELSE excluded.attention_step END,
        attention_reason = CASE WHEN o.owed_at IS NOT NULL OR o.payment = 'confirmed' AND $3 <> 'confirmed' THEN o.attention_reason ELSE excluded.attention_reason END,
        attention_class = CASE WHEN o.owed_at IS NOT NULL OR o.payment = 'confirmed' AND $3 <> 'confirmed' THEN o.attention_class ELSE excluded.attention_class END,
        attention_at = CASE WHEN o.owed_at IS NOT NULL OR o.payment = 'confirmed' AND $3 <> 'confirmed' THEN o.attention_at ELSE excluded.attention_at END
    RETURNING owed_at IS NULL OR owed_at = now() AS unsettled, coalesce(owed_at = now(), false) AS first
), items AS (
    INSERT INTO order_items (environment, session, line, refs, name, quantity, product, amount)
    SELECT $1, $2, i.line, string_to_array(i.refs, ' '), i.name, i.quantity, nullif(i.product, ''), i.amount
    FROM o, unnest($12::int[], $13::text[], $14::text[], $15::bigint[], $16::text[], $25::bigint[]) AS i (line, refs, name, quantity, product, amount)
    WHERE o.unsettled
    ON CONFLICT (environment, session, line) DO UPDATE SET product = excluded.product, amount = excluded.amount
), owed AS (
    INSERT INTO obligations (environment, session, kind, subject, product, access_kind, file, units)
    SELECT $1, $2, 'access', d.subject, d.product, d.kind, d.file, d.units
    FROM o, unnest($17::text[], $18::text[], $19::text[], $20::text[], $21::bigint[]) AS d (subject, product, kind, file, units)
    WHERE o.first
    ON CONFLICT DO NOTHING
), email AS (
    INSERT INTO obligations (environment, session, kind, subject, stopped_at, failure_class)
    SELECT $1, $2, 'email', '1', CASE WHEN $8 = '' THEN now() END, CASE WHEN $8 = '' THEN 'permanent' END
    FROM o WHERE o.first
    ON CONFLICT DO NOTHING
), told AS (
    UPDATE webhook_events SET dispatched_at = coalesce(dispatched_at, now()) WHERE environment = $1 AND event_id = $22
)
SELECT FROM o`

// RecordPayment stores what the provider says about a session, and returns how the order stands then, which can differ:
// see recordPayment.
func (l *Ledger) RecordPayment(ctx context.Context, p order.Assessment) (order.Snapshot, error) {
	i := itemColumns(p.Items)
	d := dueColumns(p.Entitlements)
	var amount *int64
	if p.Total.Currency != "" {
		amount = &p.Total.Minor
	}

	var now order.Snapshot
	batch := &pgx.Batch{} // one round trip and one commit
	batch.Queue(recordPayment,
		p.Key.Environment, p.Key.Session, p.State, p.Processing, p.Ref, amount, p.Total.Currency, p.Email, p.Name, p.Reason, p.Class,
		i.line, i.refs, i.name, i.quantity, i.product, d.subject, d.product, d.kind, d.file, d.units, p.Event, p.Reason.Step(), p.Reversed, i.amount)
	queueSnapshot(batch, p.Key, &now)
	err := l.pool.SendBatch(ctx, batch).Close()
	return now, safe("record a payment", err)
}

type itemArrays struct {
	line       []int32
	refs, name []string
	quantity   []int64
	product    []string
	amount     []int64
}

func itemColumns(items []order.Item) itemArrays {
	a := itemArrays{line: []int32{}, refs: []string{}, name: []string{}, quantity: []int64{}, product: []string{}, amount: []int64{}}
	for _, item := range items {
		a.line = append(a.line, int32(item.Line))
		a.refs = append(a.refs, strings.Join(item.Refs, " "))
		a.name = append(a.name, item.Name)
		a.quantity = append(a.quantity, item.Quantity)
		a.product = append(a.product, item.Product)
		a.amount = append(a.amount, item.Amount)
	}
	return a
}

type dueArrays struct {
	subject, product, kind, file []string
	units                        []int64
}

func dueColumns(dues []order.Entitlement) dueArrays {
	a := dueArrays{subject: []string{}, product: []string{}, kind: []string{}, file: []string{}, units: []int64{}}
	for _, due := range dues {
		a.subject = append(a.subject, due.Subject())
		a.product = append(a.product, due.Product)
		a.kind = append(a.kind, string(due.Kind))
		a.file = append(a.file, due.File)
		a.units = append(a.units, due.Units)
	}
	return a
}
