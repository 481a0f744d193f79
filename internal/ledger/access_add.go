package ledger

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// ErrNotAsBought means that the access of an order is not what was bought, because a refund, a dispute or a person has ended
// or held it, or the payment is not settled: nothing is added to it.
var ErrNotAsBought = errors.New("its access is not as it was bought")

// AddAccess makes what the catalogue gives today for what was bought, and did not give then, owed on the order. It takes
// nothing away. A dry run only says what that is.
func (l *Ledger) AddAccess(ctx context.Context, key order.Key, c *order.Catalogue, who string, dry bool) (missing []order.Entitlement, err error) {
	err = l.inTx(ctx, func(tx pgx.Tx) error {
		if err := lockOrder(ctx, tx, key); err != nil {
			return err
		}
		var settled bool
		if err := tx.QueryRow(ctx, `
SELECT payment = 'confirmed' AND owed_at IS NOT NULL AND NOT EXISTS (
    SELECT FROM obligations b WHERE b.environment = @environment AND b.session = @session AND b.kind = 'access' AND (b.wanted <> 'granted' OR b.keep > 0))
FROM orders WHERE environment = @environment AND session = @session`, orderArgs(key, nil)).Scan(&settled); err != nil {
			return err
		}
		if !settled {
			return fromCallback(ErrNotAsBought)
		}
		rows, _ := tx.Query(ctx, selectEntitlements, orderArgs(key, nil))
		given, err := pgx.CollectRows(rows, pgx.RowToStructByName[order.Entitlement])
		if err != nil {
			return err
		}
		items, err := readItems(ctx, tx, key)
		if err != nil {
			return err
		}
		if missing = c.Missing(items, given); len(missing) == 0 || dry {
			return nil
		}
		return addAccess(ctx, tx, key, missing, who)
	})
	if errors.Is(err, ErrNotAsBought) {
		return nil, ErrNotAsBought
	}
	return missing, safe("add access", err)
}

func addAccess(ctx context.Context, tx pgx.Tx, key order.Key, missing []order.Entitlement, who string) error {
	a := arraysOf(missing)
	a["who"], a["what"] = who, "added what the catalogue gives today: "+strings.Join(a["subjects"].([]string), ", ")
	_, err := tx.Exec(ctx, `
WITH added AS (
    INSERT INTO obligations (environment, session, kind, subject, product, access_kind, file, units, item)
    SELECT @environment, @session, 'access', d.subject, d.product, d.kind, d.file, d.units, d.item
    FROM unnest(@subjects::text[], @products::text[], @kinds::text[], @files::text[], @units::bigint[], @items::text[])
         AS d (subject, product, kind, file, units, item)
    ON CONFLICT DO NOTHING
)
INSERT INTO audit (environment, session, who, what, why) VALUES (@environment, @session, @who, @what, 'the catalogue was incomplete')`, orderArgs(key, a))
	return err
}

// arraysOf are the columns of entitlements, as arrays.
func arraysOf(list []order.Entitlement) pgx.StrictNamedArgs {
	var subjects, products, kinds, files, items []string
	var units []int64
	for _, e := range list {
		subjects, products, kinds = append(subjects, e.Subject()), append(products, e.Product), append(kinds, string(e.Kind))
		files, units, items = append(files, e.File), append(units, e.Units), append(items, e.Item)
	}
	return pgx.StrictNamedArgs{"subjects": subjects, "products": products, "kinds": kinds, "files": files, "units": units, "items": items}
}
