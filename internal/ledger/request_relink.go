package ledger

import (
	"context"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// Relink decides a request for a new link, once: a repetition gets the first decision. The links that went out before are
// dead from then on, and a new generation carries the new one; an email that is still under way carries an old one, so it
// is not joined but superseded.
func (l *Ledger) Relink(ctx context.Context, r order.Request) (order.Decision, error) {
	return l.decide(ctx, r, "decide a new link", func(tx pgx.Tx, d *order.Decision) error {
		facts, known, err := resendFacts(ctx, tx, r)
		if err != nil {
			return err
		}
		underWay := facts.Open
		facts.Open, facts.Answered = false, false
		d.Outcome, d.Refusal = order.DecideResend(facts)
		d.Generation = facts.Generation
		if d.Outcome == order.OutcomeSending {
			facts.Open = underWay
			d.Generation++
			if _, err := tx.Exec(ctx, `
UPDATE orders SET link_version = link_version + 1 WHERE environment = @environment AND session = @session`,
				orderArgs(r.Key, nil)); err != nil {
				return err
			}
			if err := nextGeneration(ctx, tx, r, facts, d.Generation); err != nil {
				return err
			}
			if err := readdress(ctx, tx, r, facts); err != nil {
				return err
			}
		}
		return conclude(ctx, tx, r, *d, known)
	})
}
