package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// Filter chooses orders for a list.
type Filter struct {
	Attention bool
	Class     order.Class   // with Attention: only where a step stopped with this class of failure
	Reason    order.Reason  // with Attention: only where a step stopped for this
	Since     time.Duration // with Attention and Unreached: only what stopped, or was paid, since then; 0 for ever
	Pending   bool
	Ignored   bool
	Unreached bool // paid, and nothing shows that the buyer has it: the email came back, or did not go out, or nobody opened it
	// UnreachedAfter is how long an accepted email may take until something shows it.
	UnreachedAfter time.Duration
	Address        string // any letter case
	Product        string // of the catalogue: paid orders that have it
	Payment        string // the provider's reference of the payment
	Limit          int
}

// List reads the chosen orders, those that have waited longest first; without a choice, the newest first. It takes three
// round trips, however many orders there are.
func (l *Ledger) List(ctx context.Context, f Filter) ([]order.View, error) {
	query, args := f.query()
	args["limit"] = f.Limit
	rows, _ := l.pool.Query(ctx, query, args)
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByName[order.Key])
	if err != nil || len(keys) == 0 {
		return nil, safe("list orders", err)
	}
	views, err := l.orders(ctx, keys)
	return views, safe("list orders", err)
}

func (f Filter) query() (string, pgx.StrictNamedArgs) {
	switch {
	case f.Attention:
		return `
SELECT environment, session FROM attention
WHERE (@class = '' OR class = @class) AND (@reason = '' OR reason = @reason) AND ` + since("since") + `
GROUP BY environment, session ORDER BY min(since) LIMIT @limit`,
			pgx.StrictNamedArgs{"class": f.Class, "reason": f.Reason, "since": f.Since}
	case f.Ignored:
		return `
SELECT environment, session FROM orders WHERE payment = 'ignored' ORDER BY created_at LIMIT @limit`, pgx.StrictNamedArgs{}
	case f.Unreached:
		return selectUnreached, pgx.StrictNamedArgs{"since": f.Since, "after": f.UnreachedAfter}
	case f.Pending:
		return selectPending, pgx.StrictNamedArgs{}
	case f.Payment != "":
		return `
SELECT environment, session FROM orders WHERE payment_ref = @payment_ref
ORDER BY created_at DESC LIMIT @limit`, pgx.StrictNamedArgs{"payment_ref": f.Payment}
	case f.Product != "":
		return `
SELECT o.environment, o.session FROM orders o
WHERE o.payment = 'confirmed' AND EXISTS (SELECT FROM order_items i
    WHERE i.environment = o.environment AND i.session = o.session AND i.product = @product)
ORDER BY o.created_at LIMIT @limit`, pgx.StrictNamedArgs{"product": f.Product}
	case f.Address != "":
		return selectByAddress, pgx.StrictNamedArgs{"address": f.Address}
	}
	return `SELECT environment, session FROM orders ORDER BY created_at DESC LIMIT @limit`, pgx.StrictNamedArgs{}
}

// since holds a time against @since, where that is given.
func since(column string) string {
	return "(@since::interval = '0' OR " + column + " > now() - @since::interval)"
}

// selectByAddress is two statements, each with an index of its own.
const selectByAddress = `
SELECT environment, session FROM (
    SELECT environment, session, created_at FROM orders WHERE lower(address) = lower(@address)
    UNION
    SELECT environment, session, created_at FROM orders WHERE lower(buyer_email) = lower(@address)
) found ORDER BY created_at DESC LIMIT @limit`

// selectPending finds what has not come to its end by itself yet: unpaid orders and open obligations.
const selectPending = `
SELECT environment, session FROM (
    (SELECT environment, session, created_at FROM orders WHERE payment = 'pending' ORDER BY created_at LIMIT @limit)
    UNION
    (SELECT environment, session, min(created_at) FROM open_obligations WHERE coalesce(finished_at, stopped_at) IS NULL
     GROUP BY environment, session ORDER BY min(created_at) LIMIT @limit)
) waiting GROUP BY environment, session ORDER BY min(created_at) LIMIT @limit`

// selectUnreached finds the buyers of whom nothing shows that they have it: the newest email did not go out or came back,
// or was accepted a while ago and is neither delivered nor opened, and no file was asked for. Of those it looks back a
// month.
var selectUnreached = `
WITH failed AS (
    SELECT b.environment, b.session, b.subject FROM obligations b
    WHERE b.kind = 'email' AND b.stopped_at IS NOT NULL AND b.provider_id IS NULL AND b.finished_at IS NULL
    UNION
    SELECT e.environment, e.session, e.generation::text FROM email_evidence e
    WHERE e.delivery IN ('bounced', 'failed', 'suppressed') AND e.session IS NOT NULL
    UNION
    SELECT b.environment, b.session, b.subject FROM email_evidence e JOIN obligations b ON b.provider_id = e.message_id AND b.kind = 'email'
    WHERE e.delivery IN ('bounced', 'failed', 'suppressed')
    UNION
    SELECT b.environment, b.session, b.subject FROM orders o JOIN obligations b USING (environment, session)
    WHERE @after::interval > '0' AND o.created_at > now() - interval '31 days' AND o.confirmed_at < now() - @after::interval
      AND b.kind = 'email' AND b.finished_at < now() - @after::interval
      AND NOT EXISTS (SELECT FROM email_evidence e WHERE e.environment = b.environment AND e.session = b.session
                      AND e.delivery IN ('delivered', 'complained'))
)
SELECT o.environment, o.session
FROM failed f
JOIN orders o ON o.environment = f.environment AND o.session = f.session
JOIN obligations b ON b.environment = f.environment AND b.session = f.session AND b.kind = 'email' AND b.subject = f.subject
WHERE o.payment = 'confirmed' AND b.wanted = 'granted' AND ` + since("o.confirmed_at") + `
  AND NOT EXISTS (SELECT FROM obligations n WHERE n.environment = f.environment AND n.session = f.session
                  AND n.kind = 'email' AND n.subject::int > b.subject::int)
  AND NOT EXISTS (SELECT FROM reach r WHERE r.environment = f.environment AND r.session = f.session)
ORDER BY o.created_at LIMIT @limit`

// AuditEntry is one line of an order's audit.
type AuditEntry struct {
	At             time.Time
	Who, What, Why string
}

// Audit lists what people and automatic decisions did to an order, oldest first.
func (l *Ledger) Audit(ctx context.Context, key order.Key) ([]AuditEntry, error) {
	rows, _ := l.pool.Query(ctx, `
SELECT at, who, what, why FROM audit WHERE environment = @environment AND session = @session ORDER BY id`, orderArgs(key, nil))
	entries, err := pgx.CollectRows(rows, pgx.RowToStructByName[AuditEntry])
	return entries, safe("read the audit", err)
}
