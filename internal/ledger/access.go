package ledger

import (
	"context"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// Issuer turns one piece of owed access into grants. It is called inside a transaction and does no I/O.
type Issuer func(due order.Entitlement) ([]order.Grant, error)

// GrantLocal claims, writes and finishes, in one transaction, all pending access of the given kinds, which are made here.
// It returns how many pieces it finished, and how the order stands then; those that were finished before are left alone.
func (l *Ledger) GrantLocal(ctx context.Context, key order.Key, kinds []order.AccessKind, t LeaseOptions, make Issuer) (int, order.Snapshot, error) {
	var dues []owed
	var now order.Snapshot
	err := l.inTrips(ctx,
		func(first *pgx.Batch) {
			first.Queue(lockToChange, key.Environment, key.Session)
			finishOwn(first, key, kinds, t, &dues)
		},
		func(_ *pgx.Conn, last *pgx.Batch) error {
			if len(dues) > 0 {
				if err := insertGrants(last, key, dues, make); err != nil {
					return err
				}
			}
			queueSnapshot(last, key, &now)
			return nil
		})
	if err != nil {
		return 0, order.Snapshot{}, safe("grant access", err)
	}
	return len(dues), now, nil
}

// owed is one piece of access, and how many of its units stay; 0 for all.
type owed struct {
	order.Entitlement
	keep int64
}

// finishOwn claims and finishes what is owed, and puts it into dues.
func finishOwn(b *pgx.Batch, key order.Key, kinds []order.AccessKind, t LeaseOptions, dues *[]owed) {
	b.Queue(`
UPDATE obligations SET finished_at = now(), attempts = attempts + 1, first_attempt_at = coalesce(first_attempt_at, now()),
    token = NULL, claim_expires_at = NULL, failure_class = NULL
WHERE environment = $1 AND session = $2 AND kind = 'access' AND access_kind = ANY ($3)
  AND finished_at IS NULL AND stopped_at IS NULL
  AND (claim_expires_at IS NULL OR claim_expires_at <= clock_timestamp())
  AND attempts < $4 AND wanted = 'granted'
RETURNING product, access_kind, file, units, keep`, key.Environment, key.Session, kinds, t.MaxAttempts).
		Query(func(rows pgx.Rows) (err error) {
			*dues, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (owed, error) {
				var d owed
				return d, row.Scan(&d.Product, &d.Kind, &d.File, &d.Units, &d.keep)
			})
			return err
		})
}

func insertGrants(b *pgx.Batch, key order.Key, dues []owed, make Issuer) error {
	var products, kinds, files, secrets, states []string
	var units []int64
	for _, due := range dues {
		made, err := make(due.Entitlement)
		if err != nil {
			return fromCallback(err)
		}
		for _, g := range made {
			products, kinds, files = append(products, due.Product), append(kinds, string(due.Kind)), append(files, due.File)
			units, secrets = append(units, g.Unit), append(secrets, g.Secret)
			state := order.AccessGranted
			if due.keep > 0 && g.Unit > due.keep { // refunded before it was given
				state = order.AccessRevoked
			}
			states = append(states, string(state))
		}
	}
	b.Queue(`
INSERT INTO grants (environment, session, product, access_kind, file, unit, secret, state)
SELECT $1, $2, g.product, g.kind, g.file, g.unit, g.secret, g.state
FROM unnest($3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::text[]) AS g (product, kind, file, unit, secret, state)
ON CONFLICT DO NOTHING`, key.Environment, key.Session, products, kinds, files, units, secrets, states)
	return nil
}
