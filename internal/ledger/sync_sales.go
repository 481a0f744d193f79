package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// SyncWindow is what of an environment is certainly known: all that was sold, and all that was refunded or disputed, from
// the first time to that of each.
type SyncWindow struct {
	From           time.Time // when Handover began to serve the environment
	Until          time.Time // the high-water mark of the sales
	ReversalsUntil time.Time // that of refunds and disputes
}

// StartSync begins the sync window of an environment, from now on. One that has begun stays as it is.
func (l *Ledger) StartSync(ctx context.Context, environment string) error {
	_, err := l.pool.Exec(ctx, `INSERT INTO sales_lists (environment) VALUES (@environment) ON CONFLICT DO NOTHING`,
		pgx.StrictNamedArgs{"environment": environment})
	return safe("begin a sync window", err)
}

// SyncWindow reads what is known; the times are zero before an environment was first served.
func (l *Ledger) SyncWindow(ctx context.Context, environment string) (SyncWindow, error) {
	rows, _ := l.pool.Query(ctx, `
SELECT covered_from AS "from", complete_until AS until, reversals_until FROM sales_lists WHERE environment = @environment`,
		pgx.StrictNamedArgs{"environment": environment})
	window, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[SyncWindow])
	if noRows(err) {
		return SyncWindow{}, nil
	}
	return window, safe("read a sync window", err)
}

// AdvanceHighWater moves the end of the sync window on. It never goes back.
func (l *Ledger) AdvanceHighWater(ctx context.Context, environment string, until time.Time) error {
	_, err := l.pool.Exec(ctx, `
INSERT INTO sales_lists AS s (environment, complete_until) VALUES (@environment, @until)
ON CONFLICT (environment) DO UPDATE SET complete_until = greatest(s.complete_until, excluded.complete_until)`,
		pgx.StrictNamedArgs{"environment": environment, "until": until})
	return safe("advance a high-water mark", err)
}

// Behind lists those of the environments of which a high-water mark is older than age.
func (l *Ledger) Behind(ctx context.Context, environments []string, age time.Duration) ([]string, error) {
	rows, _ := l.pool.Query(ctx, `
SELECT environment FROM sales_lists
WHERE environment = ANY (@environments) AND least(complete_until, reversals_until) < now() - @age::interval ORDER BY environment`,
		pgx.StrictNamedArgs{"environments": environments, "age": age})
	behind, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return behind, safe("read the high-water marks", err)
}

// AdvanceReversals does the same for refunds and disputes.
func (l *Ledger) AdvanceReversals(ctx context.Context, environment string, until time.Time) error {
	_, err := l.pool.Exec(ctx, `
UPDATE sales_lists SET reversals_until = greatest(reversals_until, @until) WHERE environment = @environment`,
		pgx.StrictNamedArgs{"environment": environment, "until": until})
	return safe("advance a high-water mark", err)
}

// UnreadReversals returns the sessions of the confirmed orders about whose refunds and disputes the list knows more than
// the ledger: of which one is younger than the last reading, or, where it has no time, adds up to more. What is to be read
// anyway is not among them.
func (l *Ledger) UnreadReversals(ctx context.Context, environment string, list []order.Reversed) ([]order.Key, error) {
	refs, at := make([]string, len(list)), make([]*time.Time, len(list))
	refunded, disputed := make([]int64, len(list)), make([]bool, len(list))
	for i, r := range list {
		refs[i], refunded[i], disputed[i] = r.Ref, r.Refunded, r.Disputed
		if !r.At.IsZero() {
			at[i] = &list[i].At
		}
	}
	rows, _ := l.pool.Query(ctx, `
SELECT DISTINCT o.environment, o.session FROM unnest(@refs::text[], @at::timestamptz[], @refunded::bigint[], @disputed::boolean[])
     AS r (ref, at, refunded, disputed)
JOIN orders o ON o.environment = @environment AND o.payment_ref = r.ref AND r.ref <> ''
WHERE o.payment = 'confirmed' AND o.reversal_due_at IS NULL
  AND CASE WHEN r.at IS NULL THEN o.refunded + o.refund_pending < r.refunded OR r.disputed AND o.dispute = ''
      ELSE o.reversal_read_at IS NULL OR o.reversal_read_at < r.at END
ORDER BY o.environment, o.session`, pgx.StrictNamedArgs{"environment": environment, "refs": refs, "at": at, "refunded": refunded, "disputed": disputed})
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByName[order.Key])
	return keys, safe("search for refunds and disputes", err)
}

// ReversalMissed notes that nobody reported a refund or a dispute of an order: it is to be read.
func (l *Ledger) ReversalMissed(ctx context.Context, key order.Key) error {
	_, err := l.pool.Exec(ctx, `
WITH due AS (
    UPDATE orders SET reversal_due_at = now()
    WHERE environment = @environment AND session = @session AND reversal_due_at IS NULL
    RETURNING 1
)
INSERT INTO audit (environment, session, who, what, why)
SELECT @environment, @session, 'handover', 'a refund or a dispute found in the provider''s list', 'its webhook was missed' FROM due`, orderArgs(key, nil))
	return safe("note a missed reversal", err)
}

// UnknownSales returns those of the sales whose session, or whose payment, is on no order.
func (l *Ledger) UnknownSales(ctx context.Context, environment string, sales []order.Sale) ([]order.Sale, error) {
	sessions, refs := make([]string, len(sales)), make([]string, len(sales))
	for i, s := range sales {
		sessions[i], refs[i] = s.Session, s.Ref
	}
	rows, _ := l.pool.Query(ctx, `
SELECT s.i FROM unnest(@sessions::text[], @refs::text[]) WITH ORDINALITY AS s (session, ref, i)
WHERE NOT EXISTS (SELECT FROM orders o WHERE o.environment = @environment AND o.session = s.session AND s.session <> '')
  AND NOT EXISTS (SELECT FROM orders o WHERE o.environment = @environment AND o.payment_ref = s.ref AND s.ref <> '')
ORDER BY s.i`, pgx.StrictNamedArgs{"environment": environment, "sessions": sessions, "refs": refs})
	places, err := pgx.CollectRows(rows, pgx.RowTo[int])
	unknown := make([]order.Sale, len(places))
	for i, place := range places {
		unknown[i] = sales[place-1]
	}
	return unknown, safe("search for sales", err)
}

// Found says how a sale whose webhook was missed came to be known.
type Found string

// The ways of finding a missed sale.
const (
	FoundByPage      Found = "page"
	FoundByReconcile Found = "reconcile"
	FoundByHand      Found = "" // a person has named it
)

// ImportSale writes down an order whose webhook was missed, or that one was missed of an order whose payment is pending.
func (l *Ledger) ImportSale(ctx context.Context, key order.Key, found Found) error {
	what := map[Found]string{
		FoundByPage: "found when the buyer opened the order page", FoundByReconcile: "found in the provider's list of paid sessions",
		FoundByHand: "named by a person",
	}[found]
	_, err := l.pool.Exec(ctx, `
WITH found AS (
    INSERT INTO orders AS o (environment, session, found) VALUES (@environment, @session, @found)
    ON CONFLICT (environment, session) DO UPDATE SET found = @found WHERE o.payment = 'pending' AND o.found = ''
    RETURNING 1
)
INSERT INTO audit (environment, session, who, what, why)
SELECT @environment, @session, 'handover', @what::text, 'its webhook was missed' FROM found`,
		orderArgs(key, pgx.StrictNamedArgs{"found": found, "what": what}))
	return safe("import a sale", err)
}
