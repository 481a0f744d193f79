package ledger

import (
	"context"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// accessBasis is what the rule of refunds and disputes decides on.
type accessBasis struct {
	entitlements []order.Entitlement
	sold         order.Sold
	money        order.ReversalFacts
	by           order.OverrideSnapshot
}

// settleAccess decides how each piece of access has to be by what is on record, and writes down what has to change, and
// whether a person has to decide what a refund was for. It says whether any of that is new.
func settleAccess(ctx context.Context, tx pgx.Tx, key order.Key, c *order.Catalogue) (changed bool, err error) {
	basis, err := readAccessBasis(ctx, tx, key)
	if err != nil {
		return false, err
	}
	desired, unclear := order.DecideAccess(c, basis.entitlements, basis.sold, basis.money, basis.by)
	for _, d := range desired {
		n, err := desireAccess(ctx, tx, key, d)
		if err != nil {
			return false, err
		}
		changed = changed || n > 0
	}
	if err := suspendEmail(ctx, tx, key, desired); err != nil {
		return false, err
	}

	args := orderArgs(key, pgx.StrictNamedArgs{"unclear": order.ReasonRefundUnclear})
	mark := `
DELETE FROM attention WHERE environment = @environment AND session = @session AND step = 'reversal' AND reason = @unclear`
	if unclear {
		mark = `
INSERT INTO attention AS w (environment, session, step, reason) VALUES (@environment, @session, 'reversal', @unclear)
ON CONFLICT (environment, session, step) DO UPDATE SET reason = excluded.reason, class = '', since = now() WHERE w.reason <> excluded.reason`
	}
	tag, err := tx.Exec(ctx, mark, args)
	return changed || tag.RowsAffected() > 0, err
}

// paid is what the buyer paid: what the provider says with the refunds, else the session's total, where that is in the
// currency of the refunds.
const paid = `coalesce(nullif(captured, 0), CASE WHEN reversal_currency IN ('', currency) THEN amount END, 0)`

func readAccessBasis(ctx context.Context, tx pgx.Tx, key order.Key) (accessBasis, error) {
	var b accessBasis
	err := tx.QueryRow(ctx, `
SELECT `+paid+`, refunded, refund_pending, dispute, disputed, reversal_currency, verdict, verdict_refunded, verdict_dispute,
       parts, coalesce(currency, '')
FROM orders WHERE environment = @environment AND session = @session`, orderArgs(key, nil)).
		Scan(&b.money.Paid, &b.money.Refunded, &b.money.Pending, &b.money.Dispute, &b.money.Disputed, &b.money.Currency,
			&b.by.Override, &b.by.Refunded, &b.by.Dispute, &b.sold.Parts, &b.sold.Currency)
	if err != nil {
		return b, err
	}
	rows, _ := tx.Query(ctx, selectEntitlements, orderArgs(key, nil))
	if b.entitlements, err = pgx.CollectRows(rows, pgx.RowToStructByName[order.Entitlement]); err != nil {
		return b, err
	}
	b.sold.Items, err = readItems(ctx, tx, key)
	return b, err
}

// selectEntitlements reads what access is owed on an order, or was given.
const selectEntitlements = `
SELECT product, access_kind AS kind, coalesce(file, '') AS file, item, units FROM obligations
WHERE environment = @environment AND session = @session AND kind = 'access' ORDER BY subject`

func readItems(ctx context.Context, tx pgx.Tx, key order.Key) ([]order.Item, error) {
	rows, _ := tx.Query(ctx, `
SELECT line, refs, name, quantity, coalesce(product, '') AS product, amount FROM order_items
WHERE environment = @environment AND session = @session ORDER BY line`, orderArgs(key, nil))
	return pgx.CollectRows(rows, pgx.RowToStructByName[order.Item])
}

// desireAccess writes down how one piece of access has to be. Where that is new, carrying it out becomes pending: a claim
// on the change before it is void.
func desireAccess(ctx context.Context, tx pgx.Tx, key order.Key, d order.DesiredAccess) (changed int64, err error) {
	tag, err := tx.Exec(ctx, `
WITH access AS (
    UPDATE obligations SET wanted = @state, keep = @keep
    WHERE environment = @environment AND session = @session AND kind = 'access' AND subject = @subject
      AND (wanted, keep) IS DISTINCT FROM (@state, @keep::bigint)
    RETURNING product, access_kind, file, units
)
INSERT INTO obligations AS r (environment, session, kind, subject, product, access_kind, file, units, wanted, keep)
SELECT @environment, @session, 'access_change', @subject, product, access_kind, file, units, @state, @keep FROM access
ON CONFLICT (environment, session, kind, subject) DO UPDATE SET wanted = excluded.wanted, keep = excluded.keep,
    created_at = now(), attempts = 0, token = NULL, claim_expires_at = NULL, first_attempt_at = NULL, finished_at = NULL,
    stopped_at = NULL, failure_class = NULL`,
		orderArgs(key, pgx.StrictNamedArgs{"subject": d.Entitlement.Subject(), "state": d.State, "keep": d.Keep}))
	return tag.RowsAffected(), err
}

// suspendEmail suspends an email that is still to go out while nothing can be opened, and lets it go out when that has
// changed.
func suspendEmail(ctx context.Context, tx pgx.Tx, key order.Key, desired []order.DesiredAccess) error {
	states := []order.AccessState{}
	for _, d := range desired {
		states = append(states, d.State)
	}
	_, err := tx.Exec(ctx, `
UPDATE obligations SET wanted = @state
WHERE environment = @environment AND session = @session AND kind = 'email' AND finished_at IS NULL AND wanted <> @state`,
		orderArgs(key, pgx.StrictNamedArgs{"state": strongestAccess(states)}))
	return err
}

// ChangeLocal carries out and finishes, in one transaction, every pending change of access, for kinds that are made here.
// It returns how many obligations it finished. As with GrantLocal, there is no claim and no count of attempts.
func (l *Ledger) ChangeLocal(ctx context.Context, key order.Key, kinds []order.AccessKind) (int, error) {
	tag, err := l.pool.Exec(ctx, `
WITH locked AS MATERIALIZED (
    SELECT FROM orders WHERE environment = @environment AND session = @session FOR NO KEY UPDATE
), done AS (
    UPDATE obligations SET finished_at = now(), failure_class = NULL
    WHERE environment = @environment AND session = @session AND kind = 'access_change' AND access_kind = ANY (@kinds)
      AND finished_at IS NULL AND stopped_at IS NULL AND EXISTS (SELECT FROM locked)
    RETURNING product, access_kind, file, wanted, keep
), changed AS (
    UPDATE grants g SET state = CASE WHEN d.keep > 0 AND g.unit > d.keep THEN 'revoked' ELSE d.wanted END
    FROM done d
    WHERE g.environment = @environment AND g.session = @session AND g.product = d.product AND g.access_kind = d.access_kind
      AND g.file = coalesce(d.file, '')
), cleared AS (
    DELETE FROM attention
    WHERE environment = @environment AND session = @session AND step IN ('access_change', 'progress') AND EXISTS (SELECT FROM done)
      AND NOT EXISTS (SELECT FROM obligations b WHERE b.environment = @environment AND b.session = @session
                      AND b.kind = 'access_change' AND b.finished_at IS NULL AND b.stopped_at IS NOT NULL)
)
SELECT FROM done`, orderArgs(key, pgx.StrictNamedArgs{"kinds": kinds}))
	return int(tag.RowsAffected()), safe("change access", err)
}
