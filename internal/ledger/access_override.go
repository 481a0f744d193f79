package ledger

import (
	"context"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// Revoke decides a request to end the access of an order, once: a repetition gets the first decision.
func (l *Ledger) Revoke(ctx context.Context, r order.Request, c *order.Catalogue) (order.Decision, error) {
	return l.overrideAccess(ctx, r, c, order.OverrideRevoke)
}

// Restore decides a request to give the access of an order back, or to leave it as it is after a refund that names no
// item, once: a repetition gets the first decision.
func (l *Ledger) Restore(ctx context.Context, r order.Request, c *order.Catalogue) (order.Decision, error) {
	return l.overrideAccess(ctx, r, c, order.OverrideRestore)
}

func (l *Ledger) overrideAccess(ctx context.Context, r order.Request, c *order.Catalogue, v order.Override) (order.Decision, error) {
	return l.decide(ctx, r, "decide about access", func(tx pgx.Tx, d *order.Decision) error {
		freed := false
		if v == order.OverrideRestore {
			var err error
			if freed, err = entitleKnownItems(ctx, tx, r.Key, c); err != nil {
				return err
			}
		}
		facts, known, err := overrideFacts(ctx, tx, r.Key)
		if err != nil {
			return err
		}
		facts.Asked = facts.Asked || freed
		d.Outcome, d.Refusal = order.DecideOverride(v, facts)
		if d.Outcome != order.OutcomeRefused {
			if err := recordOverride(ctx, tx, r, c, v); err != nil {
				return err
			}
		}
		return conclude(ctx, tx, r, *d, known)
	})
}

// entitleKnownItems writes what a paid order with unknown items entitles to as far as today's catalogue knows them: a
// person has decided that the rest is not ours to deliver. It says whether there was something.
func entitleKnownItems(ctx context.Context, tx pgx.Tx, key order.Key, c *order.Catalogue) (bool, error) {
	p := order.Assessment{Key: key, State: order.PaymentConfirmed}
	err := tx.QueryRow(ctx, `
SELECT coalesce(address, buyer_email, '') FROM orders
WHERE environment = @environment AND session = @session AND payment = 'confirmed' AND owed_at IS NULL`, orderArgs(key, nil)).Scan(&p.Email)
	if noRows(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	items, err := readItems(ctx, tx, key)
	if err != nil {
		return false, err
	}
	p.Items, _, _ = c.Match(items)
	if p.Entitlements = c.Entitlements(p.Items); len(p.Entitlements) == 0 {
		return false, nil
	}
	if p.Email == "" {
		p.Reason, p.Class = order.ReasonNoAddress, order.ClassPermanent
	}
	batch := &pgx.Batch{}
	batch.Queue(`UPDATE orders SET owed_at = now() WHERE environment = @environment AND session = @session`, orderArgs(key, nil))
	queueItems(batch, p)
	queueObligations(batch, p)
	queuePaymentAttention(batch, p)
	return true, tx.SendBatch(ctx, batch).Close()
}

// recordOverride stores a person's decision about access, and what it makes of the access. Who decided, and why, is in the
// audit with the request.
func recordOverride(ctx context.Context, tx pgx.Tx, r order.Request, c *order.Catalogue, v order.Override) error {
	_, err := tx.Exec(ctx, `
UPDATE orders SET verdict = @override, verdict_refunded = refunded, verdict_dispute = dispute
WHERE environment = @environment AND session = @session`, orderArgs(r.Key, pgx.StrictNamedArgs{"override": v}))
	if err != nil {
		return err
	}
	steps := []order.Step{order.StepReversal, order.StepAccessChange}
	if _, err := tx.Exec(ctx, clearAttention, orderArgs(r.Key, pgx.StrictNamedArgs{"steps": steps})); err != nil {
		return err
	}
	_, err = settleAccess(ctx, tx, r.Key, c)
	return err
}

// overrideFacts reads what the rule needs, and what is known in safe words.
func overrideFacts(ctx context.Context, tx pgx.Tx, key order.Key) (order.OverrideFacts, string, error) {
	var f order.OverrideFacts
	var m order.ReversalFacts
	var before order.Override
	var currency string
	err := tx.QueryRow(ctx, `
SELECT o.payment,
       EXISTS (SELECT FROM attention w WHERE w.environment = @environment AND w.session = @session AND w.step IN ('reversal', 'access_change')),
       count(a.wanted), count(*) FILTER (WHERE a.wanted = 'granted' AND a.keep = 0), count(*) FILTER (WHERE a.wanted = 'revoked'),
       o.refunded, o.refund_pending, o.dispute, o.disputed, o.verdict, coalesce(nullif(o.reversal_currency, ''), o.currency, '')
FROM orders o LEFT JOIN obligations a ON a.environment = o.environment AND a.session = o.session AND a.kind = 'access'
WHERE o.environment = @environment AND o.session = @session
GROUP BY o.environment, o.session`, orderArgs(key, nil)).
		Scan(&f.Payment, &f.Asked, &f.Owed, &f.Whole, &f.Revoked, &m.Refunded, &m.Pending, &m.Dispute, &m.Disputed, &before, &currency)
	if noRows(err) {
		return order.OverrideFacts{Payment: order.PaymentPending}, "unknown order", nil
	}
	known := reversalText(m, currency)
	if before != order.OverrideNone {
		known += ", " + string(before) + " by a person before"
	}
	return f, known, err
}
