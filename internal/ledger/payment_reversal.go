package ledger

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// Reversal is what the provider proved about refunds and disputes of a paid order. Since is when the provider began to be
// asked, by the database clock: what was reported later has to be checked again.
type Reversal struct {
	Key   order.Key
	Since time.Time
	Money order.ReversalFacts
}

// ReversalCheck is what a check of an order's reversals starts from.
type ReversalCheck struct {
	PaymentRef string
	Since      time.Time
}

// BeginReversal reads of which payment to ask. ErrNotFound where there is no order, or one that was never confirmed.
func (l *Ledger) BeginReversal(ctx context.Context, key order.Key) (ReversalCheck, error) {
	rows, _ := l.pool.Query(ctx, `
SELECT coalesce(payment_ref, '') AS payment_ref, clock_timestamp() AS since FROM orders
WHERE environment = @environment AND session = @session AND payment = 'confirmed'`, orderArgs(key, nil))
	check, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[ReversalCheck])
	if noRows(err) {
		return ReversalCheck{}, ErrNotFound
	}
	return check, safe("begin a reversal check", err)
}

// recordReversal stores the facts, unless those of a check that began later are on record.
const recordReversal = `
UPDATE orders SET refunded = @refunded, refund_pending = @pending, dispute = @dispute, captured = @captured,
    disputed = @disputed, reversal_currency = @currency,
    reversal_read_at = now(), reversal_since = @since,
    reversal_due_at = CASE WHEN reversal_due_at > @since THEN reversal_due_at END
WHERE environment = @environment AND session = @session AND (reversal_since IS NULL OR reversal_since <= @since)`

// dispatchReversals marks the events that came before the check. The session and the payment each have an index.
const dispatchReversals = `
UPDATE webhook_events SET dispatched_at = coalesce(dispatched_at, now())
WHERE environment = @environment AND kind IN ('refund', 'dispute') AND received_at <= @since AND dispatched_at IS NULL
  AND event_id IN (
    SELECT event_id FROM webhook_events WHERE environment = @environment AND session = @session
    UNION
    SELECT e.event_id FROM webhook_events e JOIN orders o ON o.environment = @environment AND o.session = @session
    WHERE e.environment = @environment AND e.payment_ref = o.payment_ref AND e.kind IN ('refund', 'dispute'))`

// RecordReversal stores what the provider proved about refunds and disputes, and what that makes of the access, in one
// transaction: from then on the change is pending, whatever dies. A check that began before the one on record changes
// nothing: its worker was stopped, or its run ended, and what it saw may be old.
func (l *Ledger) RecordReversal(ctx context.Context, r Reversal, c *order.Catalogue) error {
	return safe("record a reversal", l.inTx(ctx, func(tx pgx.Tx) error {
		if err := lockOrder(ctx, tx, r.Key); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, recordReversal, orderArgs(r.Key, pgx.StrictNamedArgs{
			"since": r.Since, "refunded": r.Money.Refunded, "pending": r.Money.Pending, "dispute": r.Money.Dispute, "captured": r.Money.Paid,
			"disputed": r.Money.Disputed, "currency": r.Money.Currency,
		}))
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, dispatchReversals, orderArgs(r.Key, pgx.StrictNamedArgs{"since": r.Since})); err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return nil
		}
		// A refund that names no item stays on the list, and since when, until settleAccess decides otherwise.
		if _, err := tx.Exec(ctx, `
DELETE FROM attention WHERE environment = @environment AND session = @session AND step IN ('reversal', 'progress') AND reason <> @unclear`,
			orderArgs(r.Key, pgx.StrictNamedArgs{"unclear": order.ReasonRefundUnclear})); err != nil {
			return err
		}
		changed, err := settleAccess(ctx, tx, r.Key, c)
		if err != nil || !changed {
			return err
		}
		return auditReversal(ctx, tx, r)
	}))
}

// auditReversal writes down what is known of refunds and disputes, where that has changed something.
func auditReversal(ctx context.Context, tx pgx.Tx, r Reversal) error {
	var currency string
	err := tx.QueryRow(ctx, `
SELECT coalesce(nullif(reversal_currency, ''), currency, '') FROM orders WHERE environment = @environment AND session = @session`, orderArgs(r.Key, nil)).Scan(&currency)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
INSERT INTO audit (environment, session, who, what, why) VALUES (@environment, @session, 'handover', @what, 'the provider says so')`,
		orderArgs(r.Key, pgx.StrictNamedArgs{"what": "known of the money: " + reversalText(r.Money, currency)}))
	return err
}

// reversalText says what was refunded and disputed, in words for the audit.
func reversalText(m order.ReversalFacts, currency string) string {
	var parts []string
	if m.Refunded > 0 {
		parts = append(parts, "refunded "+order.Money{Minor: m.Refunded, Currency: currency}.String())
	}
	if m.Pending > 0 {
		parts = append(parts, "a refund of "+order.Money{Minor: m.Pending, Currency: currency}.String()+" on its way")
	}
	if m.Dispute != order.DisputeNone {
		text := "dispute " + string(m.Dispute)
		if m.Disputed > 0 {
			text += " over " + order.Money{Minor: m.Disputed, Currency: currency}.String()
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return "nothing is refunded or disputed"
	}
	return strings.Join(parts, ", ")
}

// StopReversal marks an order of which the provider does not say how its refund or dispute stands.
func (l *Ledger) StopReversal(ctx context.Context, key order.Key, class order.Class, reason order.Reason) error {
	_, err := l.pool.Exec(ctx, `
WITH locked AS MATERIALIZED (
    SELECT FROM orders WHERE environment = @environment AND session = @session FOR NO KEY UPDATE
)
INSERT INTO attention (environment, session, step, reason, class)
SELECT @environment, @session, 'reversal', @reason::text, @class::text FROM locked`+attentionAgain,
		orderArgs(key, pgx.StrictNamedArgs{"reason": reason, "class": class}))
	return safe("stop a reversal check", err)
}
