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
		facts, known, err := overrideFacts(ctx, tx, r.Key)
		if err != nil {
			return err
		}
		d.Outcome, d.Refusal = order.DecideOverride(v, facts)
		if d.Outcome != order.OutcomeRefused {
			if err := recordOverride(ctx, tx, r, c, v); err != nil {
				return err
			}
		}
		return conclude(ctx, tx, r, *d, known)
	})
}

func recordOverride(ctx context.Context, tx pgx.Tx, r order.Request, c *order.Catalogue, v order.Override) error {
	_, err := tx.Exec(ctx, `
UPDATE orders SET verdict = $3, verdict_refunded = refunded, verdict_dispute = dispute,
    attention_reason = CASE WHEN attention_step IN ('refund', 'revoke') THEN NULL ELSE attention_reason END,
    attention_class = CASE WHEN attention_step IN ('refund', 'revoke') THEN NULL ELSE attention_class END,
    attention_at = CASE WHEN attention_step IN ('refund', 'revoke') THEN NULL ELSE attention_at END,
    attention_step = CASE WHEN attention_step IN ('refund', 'revoke') THEN NULL ELSE attention_step END
WHERE environment = $1 AND session = $2`, r.Key.Environment, r.Key.Session, v)
	if err != nil {
		return err
	}
	_, err = settleAccess(ctx, tx, r.Key, c) // who decided, and why, is written down with the request
	return err
}

// overrideFacts reads what the rule needs, and what is known in safe words.
func overrideFacts(ctx context.Context, tx pgx.Tx, key order.Key) (order.OverrideFacts, string, error) {
	var f order.OverrideFacts
	var m order.ReversalFacts
	var before order.Override
	var currency string
	err := tx.QueryRow(ctx, `
SELECT o.payment, o.refund_unclear_at IS NOT NULL OR coalesce(o.attention_step IN ('refund', 'revoke'), false),
       count(a.wanted), count(*) FILTER (WHERE a.wanted = 'granted' AND a.keep = 0), count(*) FILTER (WHERE a.wanted = 'revoked'),
       o.refunded, o.refund_pending, o.dispute, o.verdict, coalesce(o.currency, '')
FROM orders o LEFT JOIN obligations a ON a.environment = o.environment AND a.session = o.session AND a.kind = 'access'
WHERE o.environment = $1 AND o.session = $2
GROUP BY o.environment, o.session`, key.Environment, key.Session).
		Scan(&f.Payment, &f.Asked, &f.Owed, &f.Whole, &f.Revoked, &m.Refunded, &m.Pending, &m.Dispute, &before, &currency)
	if noRows(err) {
		return order.OverrideFacts{Payment: order.PaymentPending}, "unknown order", nil
	}
	known := told(m, currency)
	if before != order.OverrideNone {
		known += ", " + string(before) + " by a person before"
	}
	return f, known, err
}
