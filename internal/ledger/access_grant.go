package ledger

import (
	"context"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// Issuer turns one entitlement into grants. It is called inside a transaction and does no I/O.
type Issuer func(due order.Entitlement) ([]order.Grant, error)

// entitlement is what an access obligation gives.
type entitlement struct {
	order.Entitlement
	Keep int64 // units that stay; 0 for all
}

// GrantLocal issues and finishes, in one transaction, all pending access of the given kinds, which are made here. It
// returns how many obligations it finished, and how the order stands then; those that were finished before are left
// alone. There is no claim and no count of attempts: a failure undoes the transaction, and has reached nobody.
func (l *Ledger) GrantLocal(ctx context.Context, key order.Key, kinds []order.AccessKind, issue Issuer) (int, order.Snapshot, error) {
	var pending []entitlement
	var now order.Snapshot
	err := l.inPipelinedTx(ctx,
		func(first *pgx.Batch) {
			first.Queue(lockToChange, orderArgs(key, nil))
			first.Queue(finishAccess, orderArgs(key, pgx.StrictNamedArgs{"kinds": kinds})).Query(collect(&pending))
		},
		func(_ *pgx.Conn, last *pgx.Batch) error {
			if len(pending) > 0 {
				if err := insertGrants(last, key, pending, issue); err != nil {
					return err
				}
			}
			queueSnapshot(last, key, &now)
			return nil
		})
	if err != nil {
		return 0, order.Snapshot{}, safe("grant access", err)
	}
	return len(pending), now, nil
}

const finishAccess = `
WITH cleared AS (
    DELETE FROM attention WHERE environment = @environment AND session = @session AND step = 'progress'
)
UPDATE obligations SET finished_at = now(), failure_class = NULL
WHERE environment = @environment AND session = @session AND kind = 'access' AND access_kind = ANY (@kinds)
  AND finished_at IS NULL AND stopped_at IS NULL AND wanted = 'granted'
RETURNING product, access_kind AS kind, coalesce(file, '') AS file, item, units, keep`

func insertGrants(b *pgx.Batch, key order.Key, pending []entitlement, issue Issuer) error {
	var products, kinds, files, items, secrets, states []string
	var units []int64
	for _, e := range pending {
		issued, err := issue(e.Entitlement)
		if err != nil {
			return fromCallback(err)
		}
		for _, g := range issued {
			state := order.AccessGranted
			if e.Keep > 0 && g.Unit > e.Keep { // refunded before it was given
				state = order.AccessRevoked
			}
			products, kinds, files = append(products, e.Product), append(kinds, string(e.Kind)), append(files, e.File)
			items = append(items, e.Item)
			units, secrets, states = append(units, g.Unit), append(secrets, g.Secret), append(states, string(state))
		}
	}
	b.Queue(`
INSERT INTO grants (environment, session, product, access_kind, file, item, unit, secret, state)
SELECT @environment, @session, g.product, g.kind, g.file, g.item, g.unit, g.secret, g.state
FROM unnest(@products::text[], @kinds::text[], @files::text[], @items::text[], @units::bigint[], @secrets::text[], @states::text[])
     AS g (product, kind, file, item, unit, secret, state)
ON CONFLICT DO NOTHING`, orderArgs(key, pgx.StrictNamedArgs{
		"products": products, "kinds": kinds, "files": files, "items": items, "units": units, "secrets": secrets, "states": states,
	}))
	return nil
}

// StopAccess marks an order whose access could not be granted, and everything of it that is still pending. ErrLeaseLost
// means that nothing was pending.
func (l *Ledger) StopAccess(ctx context.Context, key order.Key, class order.Class, reason order.Reason) error {
	return l.stopAll(ctx, key, KindAccess, class, reason)
}

// StopAccessChange marks an order whose access could not be changed, and every change of it that is still pending.
// ErrLeaseLost means that nothing was pending.
func (l *Ledger) StopAccessChange(ctx context.Context, key order.Key, class order.Class, reason order.Reason) error {
	return l.stopAll(ctx, key, KindAccessChange, class, reason)
}

// stopAll ends the automatic work on all unfinished obligations of a kind.
func (l *Ledger) stopAll(ctx context.Context, key order.Key, kind Kind, class order.Class, reason order.Reason) error {
	tag, err := l.pool.Exec(ctx, `
WITH locked AS MATERIALIZED (
    SELECT FROM orders WHERE environment = @environment AND session = @session FOR NO KEY UPDATE
), stopped AS (
    UPDATE obligations SET stopped_at = now(), failure_class = @class
    WHERE environment = @environment AND session = @session AND kind = @kind AND finished_at IS NULL AND stopped_at IS NULL
      AND EXISTS (SELECT FROM locked)
    RETURNING 1
), marked AS (
    INSERT INTO attention (environment, session, step, reason, class)
    SELECT @environment, @session, @kind, @reason::text, @class WHERE EXISTS (SELECT FROM stopped)`+attentionAgain+`
)
SELECT FROM stopped`, orderArgs(key, pgx.StrictNamedArgs{"kind": kind, "class": class, "reason": reason}))
	return lost(tag.RowsAffected(), safe("stop "+string(kind), err))
}
