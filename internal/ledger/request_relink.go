package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// Relink decides a request for a new link, once: a repetition gets the first decision. The links that went out before are
// dead from then on, and a new generation carries the new one, unless the request says that nothing is to be sent. An email
// that is still under way carries an old link: it is superseded, and another goes in any case. Where new keys are asked
// for, issue makes one in the place of each licence key.
func (l *Ledger) Relink(ctx context.Context, r order.Request, issue Issuer) (order.Decision, error) {
	return l.decide(ctx, r, "decide a new link", func(tx pgx.Tx, d *order.Decision) error {
		facts, known, err := resendFacts(ctx, tx, r)
		if err != nil {
			return err
		}
		if err := readOptions(ctx, tx, &r); err != nil {
			return err
		}
		underWay := facts.Open
		facts.Open, facts.Answered = false, false
		d.Outcome, d.Refusal = order.DecideResend(facts)
		if r.NoSend && (d.Refusal == order.RefusedNoAddress || d.Refusal == order.RefusedTooMany) {
			d.Outcome, d.Refusal = order.OutcomeRelinked, order.RefusedNone
		}
		d.Generation = facts.Generation
		if d.Outcome == order.OutcomeRefused {
			return conclude(ctx, tx, r, *d, known)
		}
		if r.NewKeys {
			n, err := replaceKeys(ctx, tx, r.Key, issue)
			if err != nil {
				return err
			}
			known += fmt.Sprintf("; %d licence keys replaced", n)
		}
		if _, err := tx.Exec(ctx, `
UPDATE orders SET link_version = link_version + 1 WHERE environment = @environment AND session = @session`, orderArgs(r.Key, nil)); err != nil {
			return err
		}
		if r.NoSend && (!underWay || d.Outcome == order.OutcomeRelinked) {
			d.Outcome = order.OutcomeRelinked
			return conclude(ctx, tx, r, *d, known)
		}
		facts.Open = underWay
		d.Generation++
		if err := nextGeneration(ctx, tx, r, facts, d.Generation); err != nil {
			return err
		}
		if err := readdress(ctx, tx, r, facts); err != nil {
			return err
		}
		return conclude(ctx, tx, r, *d, known)
	})
}

// readOptions reads what was stored with a request and is in no signal.
func readOptions(ctx context.Context, tx pgx.Tx, r *order.Request) error {
	return tx.QueryRow(ctx, `
SELECT no_send, new_keys FROM requests
WHERE environment = @environment AND session = @session AND request_id = @request AND kind = @kind`, requestArgs(*r, nil)).Scan(&r.NoSend, &r.NewKeys)
}

// replaceKeys makes a new key in the place of each that an order has: the earlier ones are no key of ours any more.
func replaceKeys(ctx context.Context, tx pgx.Tx, key order.Key, issue Issuer) (int64, error) {
	rows, _ := tx.Query(ctx, `
SELECT product, access_kind AS kind, file, max(unit) AS units FROM grants
WHERE environment = @environment AND session = @session AND secret <> '' GROUP BY product, access_kind, file`, orderArgs(key, nil))
	keyed, err := pgx.CollectRows(rows, pgx.RowToStructByNameLax[order.Entitlement])
	if err != nil {
		return 0, err
	}
	var replaced int64
	for _, e := range keyed {
		issued, err := issue(e)
		if err != nil {
			return 0, fromCallback(err)
		}
		units, secrets := make([]int64, len(issued)), make([]string, len(issued))
		for i, g := range issued {
			units[i], secrets[i] = g.Unit, g.Secret
		}
		tag, err := tx.Exec(ctx, `
UPDATE grants g SET secret = n.secret FROM unnest(@units::bigint[], @secrets::text[]) AS n (unit, secret)
WHERE g.environment = @environment AND g.session = @session AND g.product = @product AND g.access_kind = @kind AND g.file = @file
  AND g.unit = n.unit AND g.secret <> ''`,
			orderArgs(key, pgx.StrictNamedArgs{"units": units, "secrets": secrets, "product": e.Product, "kind": e.Kind, "file": e.File}))
		if err != nil {
			return 0, err
		}
		replaced += tag.RowsAffected()
	}
	return replaced, nil
}

// relinkAll is one statement. An email that is under way with a link of that secret is superseded, and goes again with
// another, because that one would open nothing.
const relinkAll = `
WITH made AS MATERIALIZED (
    SELECT o.environment, o.session FROM orders o
    WHERE EXISTS (SELECT FROM links l WHERE l.secret = @secret AND l.environment = o.environment AND l.session = o.session AND l.version = o.link_version)
    ORDER BY o.environment, o.session FOR NO KEY UPDATE
), relinked AS (
    UPDATE orders o SET link_version = link_version + 1 FROM made m WHERE o.environment = m.environment AND o.session = m.session
    RETURNING o.environment, o.session
), superseded AS (
    UPDATE obligations b SET superseded_at = now(), stopped_at = now() FROM made m
    WHERE b.environment = m.environment AND b.session = m.session AND b.kind = 'email' AND b.link_secret = @secret
      AND b.finished_at IS NULL AND b.stopped_at IS NULL
    RETURNING b.environment, b.session, b.subject, b.wanted
), again AS (
    INSERT INTO obligations (environment, session, kind, subject, wanted)
    SELECT environment, session, 'email', (subject::int + 1)::text, wanted FROM superseded
    RETURNING 1
), noted AS (
    INSERT INTO audit (environment, session, who, what, why)
    SELECT environment, session, @who, 'relink: the emailed links are replaced, because their secret is', @why FROM relinked
)
SELECT r.environment, r.session, EXISTS (SELECT FROM superseded s WHERE s.environment = r.environment AND s.session = r.session) AS pending
FROM relinked r WHERE (SELECT count(*) FROM again) >= 0 ORDER BY 1, 2`

// Relinked is an order whose links were replaced.
type Relinked struct {
	order.Key
	Pending bool // an email was under way, and another goes in its place
}

// RelinkAll makes every link dead that was made with a secret, and says whose. A dry run says so and changes nothing.
func (l *Ledger) RelinkAll(ctx context.Context, secret, who, why string, dry bool) (relinked []Relinked, err error) {
	err = l.inTx(ctx, func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, relinkAll, pgx.StrictNamedArgs{"secret": secret, "who": who, "why": why})
		if relinked, err = pgx.CollectRows(rows, pgx.RowToStructByName[Relinked]); err != nil {
			return err
		}
		if dry {
			return fromCallback(errDryRun)
		}
		return nil
	})
	if errors.Is(err, errDryRun) {
		err = nil
	}
	return relinked, safe("replace the links of a secret", err)
}

// errDryRun undoes a transaction that was only to be looked at.
var errDryRun = errors.New("a dry run")
