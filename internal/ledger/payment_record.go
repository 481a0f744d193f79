package ledger

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// RecordPayment stores what a retrieved session proves and returns how the order stands then, which can differ from what
// the session says: a confirmed payment is never taken back, and the provider's session cannot say that a delayed
// payment failed, so there the event decides. It is one transaction that travels in one round trip: the order first, then
// its items, what it entitles to, what a person has to decide, and the mark on the event that caused the retrieval.
func (l *Ledger) RecordPayment(ctx context.Context, p order.Assessment) (order.Snapshot, error) {
	var now order.Snapshot
	batch := &pgx.Batch{}
	queueOrder(batch, p)
	queueItems(batch, p)
	if len(p.Entitlements) > 0 {
		queueObligations(batch, p)
	}
	queuePaymentAttention(batch, p)
	if p.Event != "" {
		// By its whole key and nothing else: for a list of events, or with a condition on dispatched_at, Postgres may plan,
		// while the tables are young, to go through every event of the environment or every one that waits.
		batch.Queue(dispatchEvent, pgx.StrictNamedArgs{"environment": p.Key.Environment, "event": p.Event})
	}
	queueSnapshot(batch, p.Key, &now)
	err := l.pool.SendBatch(ctx, batch).Close()
	return now, safe("record a payment", err)
}

const dispatchEvent = `
UPDATE webhook_events SET dispatched_at = coalesce(dispatched_at, now()) WHERE environment = @environment AND event_id = @event`

// queueOrder writes the payment's facts. owed_at is set once, when the catalogue knows all of what was bought; the
// statements after this one see by owed_at = now() that it was set by this transaction. Of a session that is not ours
// nothing of the buyer is kept. A refund or dispute that came before its sale waits in webhook_events: it is found by the
// payment here, and reversal_due_at makes the run ask before it grants.
func queueOrder(b *pgx.Batch, p order.Assessment) {
	var amount *int64
	if p.Total.Currency != "" {
		amount = &p.Total.Minor
	}
	email, name, parts := p.Email, p.Name, p.Parts
	if parts == nil {
		parts = []int64{}
	}
	if p.State == order.PaymentIgnored {
		email, name = "", ""
	}
	b.Queue(`
INSERT INTO orders AS o (environment, session, handed_over_at, payment, processing, to_pay, payment_ref, amount, currency,
    buyer_email, buyer_name, parts, looked_at, confirmed_at, owed_at, reversal_due_at)
VALUES (@environment, @session, now(), @state, @processing, @to_pay, nullif(@payment_ref, ''), @amount, nullif(@currency, ''),
    nullif(@email, ''), nullif(@name, ''), @parts, now(),
    CASE WHEN @state = 'confirmed' THEN now() END,
    CASE WHEN @state = 'confirmed' AND @entitled THEN now() END,
    CASE WHEN @reversed OR EXISTS (SELECT FROM webhook_events e WHERE e.environment = @environment AND e.payment_ref = @payment_ref
                                   AND e.kind IN ('refund', 'dispute')) THEN now() END)
ON CONFLICT (environment, session) DO UPDATE SET
    handed_over_at = coalesce(o.handed_over_at, now()),
    payment = CASE
        WHEN o.payment = 'confirmed' THEN 'confirmed'
        WHEN @state = 'pending' AND @processing AND EXISTS (SELECT FROM webhook_events e
            WHERE e.environment = @environment AND e.session = @session AND e.hint = 'failed') THEN 'failed'
        ELSE @state END,
    processing = @processing,
    to_pay = @to_pay,
    payment_ref = coalesce(excluded.payment_ref, o.payment_ref),
    amount = coalesce(excluded.amount, o.amount),
    currency = coalesce(excluded.currency, o.currency),
    buyer_email = CASE WHEN o.erased_at IS NOT NULL OR @state = 'ignored' AND o.payment <> 'confirmed' THEN NULL ELSE coalesce(excluded.buyer_email, o.buyer_email) END,
    buyer_name = CASE WHEN o.erased_at IS NOT NULL OR @state = 'ignored' AND o.payment <> 'confirmed' THEN NULL ELSE coalesce(excluded.buyer_name, o.buyer_name) END,
    parts = excluded.parts,
    looked_at = now(),
    reversal_due_at = coalesce(o.reversal_due_at, CASE WHEN o.owed_at IS NULL THEN excluded.reversal_due_at END),
    confirmed_at = coalesce(o.confirmed_at, excluded.confirmed_at),
    owed_at = coalesce(o.owed_at, excluded.owed_at)`,
		orderArgs(p.Key, pgx.StrictNamedArgs{
			"state": p.State, "processing": p.Processing, "to_pay": p.ToPay, "payment_ref": p.Ref, "amount": amount, "currency": p.Total.Currency,
			"email": email, "name": name, "parts": parts, "entitled": len(p.Entitlements) > 0, "reversed": p.Reversed,
		}))
}

// queueItems writes the line items, as long as it is not settled what they entitle to.
func queueItems(b *pgx.Batch, p order.Assessment) {
	if len(p.Items) == 0 {
		return
	}
	var lines []int32
	var refs, names, products []string
	var quantities, amounts []int64
	for _, item := range p.Items {
		lines, quantities, amounts = append(lines, int32(item.Line)), append(quantities, item.Quantity), append(amounts, item.Amount)
		refs, names, products = append(refs, strings.Join(item.Refs, " ")), append(names, item.Name), append(products, item.Product)
	}
	b.Queue(`
INSERT INTO order_items (environment, session, line, refs, name, quantity, product, amount)
SELECT @environment, @session, i.line, string_to_array(i.refs, ' '), i.name, i.quantity, nullif(i.product, ''), i.amount
FROM orders o, unnest(@lines::int[], @refs::text[], @names::text[], @quantities::bigint[], @products::text[], @amounts::bigint[])
     AS i (line, refs, name, quantity, product, amount)
WHERE o.environment = @environment AND o.session = @session AND (o.owed_at IS NULL OR o.owed_at = now())
ON CONFLICT (environment, session, line) DO UPDATE SET product = excluded.product, amount = excluded.amount`,
		orderArgs(p.Key, pgx.StrictNamedArgs{
			"lines": lines, "refs": refs, "names": names, "quantities": quantities, "products": products, "amounts": amounts,
		}))
}

// queueObligations writes what the payment entitles to, once: the access, and the first email. An email to nobody has
// stopped from the beginning.
func queueObligations(b *pgx.Batch, p order.Assessment) {
	b.Queue(`
INSERT INTO obligations (environment, session, kind, subject, product, access_kind, file, units, item)
SELECT @environment, @session, 'access', d.subject, d.product, d.kind, d.file, d.units, d.item
FROM orders o, unnest(@subjects::text[], @products::text[], @kinds::text[], @files::text[], @units::bigint[], @items::text[])
     AS d (subject, product, kind, file, units, item)
WHERE o.environment = @environment AND o.session = @session AND o.owed_at = now()
ON CONFLICT DO NOTHING`, orderArgs(p.Key, arraysOf(p.Entitlements)))
	b.Queue(`
INSERT INTO obligations (environment, session, kind, subject, stopped_at, failure_class)
SELECT @environment, @session, 'email', '1', CASE WHEN @nobody THEN now() END, CASE WHEN @nobody THEN 'permanent' END
FROM orders o WHERE o.environment = @environment AND o.session = @session AND o.owed_at = now()
ON CONFLICT DO NOTHING`, orderArgs(p.Key, pgx.StrictNamedArgs{"nobody": p.Email == ""}))
}

// queuePaymentAttention takes the order off the list for what this retrieval has settled, and puts it on for what it found.
// Both hold as long as it is not settled what the order entitles to; a payment that was confirmed before is not questioned
// by a retrieval that proves less.
func queuePaymentAttention(b *pgx.Batch, p order.Assessment) {
	confirmed := p.State == order.PaymentConfirmed
	b.Queue(`
DELETE FROM attention w USING orders o
WHERE w.environment = @environment AND w.session = @session AND o.environment = @environment AND o.session = @session
  AND (w.step IN ('payment', 'access') AND `+unsettled+` OR w.step = 'progress')`,
		orderArgs(p.Key, pgx.StrictNamedArgs{"confirmed": confirmed}))
	if p.Reason == "" {
		return
	}
	b.Queue(`
INSERT INTO attention (environment, session, step, reason, class)
SELECT @environment, @session, @step::text, @reason::text, @class::text
FROM orders o WHERE o.environment = @environment AND o.session = @session AND `+unsettled+attentionAgain,
		orderArgs(p.Key, pgx.StrictNamedArgs{"step": p.Reason.Step(), "reason": p.Reason, "class": p.Class, "confirmed": confirmed}))
}

const unsettled = `(o.owed_at IS NULL OR o.owed_at = now()) AND (o.payment <> 'confirmed' OR @confirmed)`

// StopPayment marks an order whose payment could not be retrieved, and the event that caused the retrieval. A confirmed
// payment stays confirmed.
func (l *Ledger) StopPayment(ctx context.Context, key order.Key, event string, class order.Class, reason order.Reason) error {
	batch := &pgx.Batch{}
	batch.Queue(`
WITH stopped AS (
    UPDATE orders SET payment = 'needs_attention', looked_at = now(), handed_over_at = coalesce(handed_over_at, now())
    WHERE environment = @environment AND session = @session AND payment <> 'confirmed'
    RETURNING 1
)
INSERT INTO attention (environment, session, step, reason, class)
SELECT @environment, @session, 'payment', @reason::text, @class::text FROM stopped`+attentionAgain,
		orderArgs(key, pgx.StrictNamedArgs{"reason": reason, "class": class}))
	batch.Queue(dispatchEvent, pgx.StrictNamedArgs{"environment": key.Environment, "event": event})
	return safe("stop a payment", l.pool.SendBatch(ctx, batch).Close())
}
