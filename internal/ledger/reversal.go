package ledger

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// Reversal is what one look at the provider proved about the money of a paid order. Since is when the look began, by the
// database clock: what was told later asks for another look.
type Reversal struct {
	Key   order.Key
	Since time.Time
	Money order.ReversalFacts
}

// Review is what a look at an order's money starts from.
type Review struct {
	PaymentRef string
	Since      time.Time
}

// BeginReversal reads whose money to ask for. ErrNotFound where there is no order, or one that was never confirmed.
func (l *Ledger) BeginReversal(ctx context.Context, key order.Key) (Review, error) {
	var r Review
	err := l.pool.QueryRow(ctx, `
SELECT coalesce(payment_ref, ''), clock_timestamp() FROM orders
WHERE environment = $1 AND session = $2 AND payment = 'confirmed'`, key.Environment, key.Session).Scan(&r.PaymentRef, &r.Since)
	if noRows(err) {
		return Review{}, ErrNotFound
	}
	return r, safe("begin a review", err)
}

// reviewed notes the money's facts, and everything that was told before the look as dealt with.
const reviewed = `
WITH told AS (
    UPDATE webhook_events SET dispatched_at = coalesce(dispatched_at, now())
    WHERE environment = $1 AND (session = $2 OR payment_ref = (SELECT o.payment_ref FROM orders o WHERE o.environment = $1 AND o.session = $2))
      AND kind IN ('refund', 'dispute') AND received_at <= $3 AND dispatched_at IS NULL
)
UPDATE orders SET refunded = $4, refund_pending = $5, dispute = $6, captured = $7, reversal_read_at = now(), reversal_since = $3,
    reversal_due_at = CASE WHEN reversal_due_at > $3 THEN reversal_due_at END,
    attention_reason = CASE WHEN attention_step = 'refund' THEN NULL ELSE attention_reason END,
    attention_class = CASE WHEN attention_step = 'refund' THEN NULL ELSE attention_class END,
    attention_at = CASE WHEN attention_step = 'refund' THEN NULL ELSE attention_at END,
    attention_step = CASE WHEN attention_step = 'refund' THEN NULL ELSE attention_step END
WHERE environment = $1 AND session = $2 AND (reversal_since IS NULL OR reversal_since <= $3)`

// RecordReversal stores what a look at the money proved, and what that makes of the access, in one transaction: from
// then on the change is owed, whatever dies. A look that began before the one on record changes nothing: its worker was
// stopped, or its run ended, and what it saw may be old.
func (l *Ledger) RecordReversal(ctx context.Context, r Reversal, c *order.Catalogue) error {
	return safe("record a reversal", l.inTx(ctx, func(tx pgx.Tx) error {
		if err := lockOrder(ctx, tx, r.Key); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, reviewed, r.Key.Environment, r.Key.Session, r.Since, r.Money.Refunded, r.Money.Pending, r.Money.Dispute, r.Money.Paid)
		if err != nil || tag.RowsAffected() == 0 {
			return err // a look that began later is on record
		}
		changed, err := settleAccess(ctx, tx, r.Key, c)
		if err != nil {
			return err
		}
		if changed {
			if err := note(ctx, tx, r); err != nil {
				return err
			}
		}
		_, err = attendAgain(ctx, tx, r.Key)
		return err
	}))
}

// note writes down what is known of the money, where that has changed something.
func note(ctx context.Context, tx pgx.Tx, r Reversal) error {
	var currency string
	err := tx.QueryRow(ctx, `SELECT coalesce(currency, '') FROM orders WHERE environment = $1 AND session = $2`, r.Key.Environment, r.Key.Session).Scan(&currency)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO audit (environment, session, who, what, why) VALUES ($1, $2, 'handover', $3, 'the provider says so')`,
		r.Key.Environment, r.Key.Session, "known of the money: "+told(r.Money, currency))
	return err
}

// told says how the money stands, in words for the audit.
func told(m order.ReversalFacts, currency string) string {
	var parts []string
	if m.Refunded > 0 {
		parts = append(parts, "refunded "+order.Money{Minor: m.Refunded, Currency: currency}.String())
	}
	if m.Pending > 0 {
		parts = append(parts, "a refund of "+order.Money{Minor: m.Pending, Currency: currency}.String()+" on its way")
	}
	if m.Dispute != order.DisputeNone {
		parts = append(parts, "dispute "+string(m.Dispute))
	}
	if len(parts) == 0 {
		return "nothing is refunded or disputed"
	}
	return strings.Join(parts, ", ")
}

// owing is what the rule of refunds and disputes decides on.
type owing struct {
	dues  []order.Entitlement
	items []order.Item
	money order.ReversalFacts
	by    order.OverrideSnapshot
}

// settleAccess decides how each piece of access has to be by what is on record, and writes down what has to change. It
// says whether that was anything.
func settleAccess(ctx context.Context, tx pgx.Tx, key order.Key, c *order.Catalogue) (changed bool, err error) {
	o, err := readOwing(ctx, tx, key)
	if err != nil {
		return false, err
	}
	wants, unclear := order.DecideAccess(c, o.dues, o.items, o.money, o.by)
	for _, w := range wants {
		n, err := want(ctx, tx, key, w)
		if err != nil {
			return false, err
		}
		changed = changed || n > 0
	}
	if err := restEmail(ctx, tx, key, wants); err != nil {
		return false, err
	}
	tag, err := tx.Exec(ctx, `
UPDATE orders SET refund_unclear_at = CASE WHEN $3 THEN coalesce(refund_unclear_at, now()) END
WHERE environment = $1 AND session = $2 AND (refund_unclear_at IS NULL) = $3`, key.Environment, key.Session, unclear)
	return changed || tag.RowsAffected() > 0, err
}

// paid is what the buyer paid: what the provider says with the refunds, else the session's total.
const paid = `coalesce(nullif(captured, 0), amount, 0)`

func readOwing(ctx context.Context, tx pgx.Tx, key order.Key) (owing, error) {
	var o owing
	err := tx.QueryRow(ctx, `
SELECT `+paid+`, refunded, refund_pending, dispute, verdict, verdict_refunded, verdict_dispute
FROM orders WHERE environment = $1 AND session = $2`, key.Environment, key.Session).
		Scan(&o.money.Paid, &o.money.Refunded, &o.money.Pending, &o.money.Dispute, &o.by.Override, &o.by.Refunded, &o.by.Dispute)
	if err != nil {
		return o, err
	}
	rows, err := tx.Query(ctx, `
SELECT product, access_kind, file, units FROM obligations
WHERE environment = $1 AND session = $2 AND kind = 'access' ORDER BY subject`, key.Environment, key.Session)
	if err != nil {
		return o, err
	}
	if o.dues, err = pgx.CollectRows(rows, scanDue); err != nil {
		return o, err
	}
	rows, err = tx.Query(ctx, selectItems, key.Environment, key.Session)
	if err != nil {
		return o, err
	}
	o.items, err = pgx.CollectRows(rows, scanItem)
	return o, err
}

func scanDue(row pgx.CollectableRow) (order.Entitlement, error) {
	var d order.Entitlement
	return d, row.Scan(&d.Product, &d.Kind, &d.File, &d.Units)
}

// want writes down how one piece of access has to be. Where that is new, carrying it out becomes owed: a claim on the
// change before it is void.
func want(ctx context.Context, tx pgx.Tx, key order.Key, w order.DesiredAccess) (changed int64, err error) {
	tag, err := tx.Exec(ctx, `
WITH access AS (
    UPDATE obligations SET wanted = $5, keep = $6
    WHERE environment = $1 AND session = $2 AND kind = 'access' AND subject = $3 AND (wanted, keep) IS DISTINCT FROM ($5, $6::bigint)
    RETURNING product, access_kind, file, units
)
INSERT INTO obligations AS r (environment, session, kind, subject, product, access_kind, file, units, wanted, keep)
SELECT $1, $2, $4, $3, product, access_kind, file, units, $5, $6 FROM access
ON CONFLICT (environment, session, kind, subject) DO UPDATE SET wanted = excluded.wanted, keep = excluded.keep,
    created_at = now(), attempts = 0, token = NULL, claim_expires_at = NULL, first_attempt_at = NULL, finished_at = NULL,
    stopped_at = NULL, failure_class = NULL`,
		key.Environment, key.Session, w.Entitlement.Subject(), KindAccessChange, w.State, w.Keep)
	return tag.RowsAffected(), err
}

// restEmail lets an email that is still to go out rest while nothing can be opened, and wakes it when that has changed.
func restEmail(ctx context.Context, tx pgx.Tx, key order.Key, wants []order.DesiredAccess) error {
	state := order.AccessRevoked
	for _, w := range wants {
		switch {
		case w.State == order.AccessGranted:
			state = order.AccessGranted
		case w.State == order.AccessHeld && state == order.AccessRevoked:
			state = order.AccessHeld
		}
	}
	_, err := tx.Exec(ctx, `
UPDATE obligations SET wanted = $3
WHERE environment = $1 AND session = $2 AND kind = 'email' AND finished_at IS NULL AND wanted <> $3`, key.Environment, key.Session, state)
	return err
}

// ChangeLocal claims, carries out and finishes, in one transaction, every change of access that is owed, for kinds that
// are wholly ours. It returns how many pieces it changed.
func (l *Ledger) ChangeLocal(ctx context.Context, key order.Key, kinds []order.AccessKind, t LeaseOptions) (int, error) {
	tag, err := l.pool.Exec(ctx, `
WITH done AS (
    UPDATE obligations SET finished_at = now(), attempts = attempts + 1, first_attempt_at = coalesce(first_attempt_at, now()),
        token = NULL, claim_expires_at = NULL, failure_class = NULL
    WHERE environment = $1 AND session = $2 AND kind = 'revoke' AND access_kind = ANY ($3)
      AND finished_at IS NULL AND stopped_at IS NULL
      AND (claim_expires_at IS NULL OR claim_expires_at <= clock_timestamp())
      AND attempts < $4
    RETURNING product, access_kind, file, wanted, keep
), changed AS (
    UPDATE grants g SET state = CASE WHEN d.keep > 0 AND g.unit > d.keep THEN 'revoked' ELSE d.wanted END
    FROM done d
    WHERE g.environment = $1 AND g.session = $2 AND g.product = d.product AND g.access_kind = d.access_kind AND g.file = coalesce(d.file, '')
)
SELECT FROM done`, key.Environment, key.Session, kinds, t.MaxAttempts)
	return int(tag.RowsAffected()), safe("change access", err)
}

// StopReversal marks an order of which the provider does not say how its refund or dispute stands.
func (l *Ledger) StopReversal(ctx context.Context, key order.Key, class order.Class, reason order.Reason) error {
	_, err := l.pool.Exec(ctx, `
UPDATE orders SET attention_reason = $3, attention_class = $4, attention_step = 'refund', attention_at = now()
WHERE environment = $1 AND session = $2 AND (attention_at IS NULL OR attention_step = 'refund')`, key.Environment, key.Session, reason, class)
	return safe("stop a review", err)
}

// StopAccessChange marks an order whose access could not be changed, and every change of it that is still owed.
func (l *Ledger) StopAccessChange(ctx context.Context, key order.Key, class order.Class, reason order.Reason) error {
	tag, err := l.pool.Exec(ctx, `
WITH locked AS MATERIALIZED (
    SELECT FROM orders WHERE environment = $1 AND session = $2 FOR NO KEY UPDATE
), stopped AS (
    UPDATE obligations SET stopped_at = now(), failure_class = $3
    WHERE environment = $1 AND session = $2 AND kind = 'revoke' AND finished_at IS NULL AND stopped_at IS NULL AND EXISTS (SELECT FROM locked)
    RETURNING 1
)
UPDATE orders SET attention_reason = $4, attention_class = $3, attention_step = 'revoke', attention_at = now()
WHERE environment = $1 AND session = $2 AND EXISTS (SELECT FROM stopped)`, key.Environment, key.Session, class, reason)
	return lost(tag.RowsAffected(), safe("stop a change", err))
}
