package ledger

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"handover/internal/order"
)

// An order shows one reason for attention, the newest. When that has been dealt with, what has stopped besides must not
// be forgotten: this statement finds it in the obligations themselves.
const stillStopped = `
UPDATE orders o SET attention_step = b.kind, attention_class = b.failure_class, attention_at = b.stopped_at, attention_reason = CASE
    WHEN b.kind = 'access' THEN '` + string(order.ReasonAccessStopped) + `'
    WHEN b.kind = 'revoke' THEN '` + string(order.ReasonRevokeStopped) + `'
    WHEN b.failure_class = 'misconfigured' THEN '` + string(order.ReasonEmailConfig) + `'
    WHEN b.failure_class = 'permanent' AND coalesce(o.address, o.buyer_email, '') = '' THEN '` + string(order.ReasonNoAddress) + `'
    WHEN b.failure_class = 'permanent' THEN '` + string(order.ReasonEmailRefused) + `'
    WHEN b.failure_class IN ('uncertain', 'past_window', 'unknown_outcome') THEN '` + string(order.ReasonEmailUncertain) + `'
    ELSE '` + string(order.ReasonEmailExhausted) + `' END
FROM (
    SELECT kind, failure_class, stopped_at FROM obligations w
    WHERE environment = $1 AND session = $2 AND stopped_at IS NOT NULL AND finished_at IS NULL AND superseded_at IS NULL
      AND (kind <> 'email' OR NOT EXISTS (SELECT FROM obligations n WHERE n.environment = $1 AND n.session = $2
           AND n.kind = 'email' AND n.subject::int > w.subject::int))
    ORDER BY array_position(ARRAY['access', 'revoke', 'email'], kind) LIMIT 1
) b
WHERE o.environment = $1 AND o.session = $2 AND o.attention_at IS NULL`

// attendAgain keeps an order on the attention list for what has stopped besides, and says why a person is needed now.
func attendAgain(ctx context.Context, db queryer, key order.Key) (reason order.Reason, err error) {
	if _, err := db.Exec(ctx, stillStopped, key.Environment, key.Session); err != nil {
		return "", err
	}
	err = db.QueryRow(ctx, `SELECT `+reasonNow+` FROM orders WHERE environment = $1 AND session = $2`, key.Environment, key.Session).Scan(&reason)
	if noRows(err) {
		return "", nil
	}
	return reason, err
}

// reasonNow is why an order needs a person: what has stopped, or a refund that names no item.
const reasonNow = `coalesce(attention_reason, CASE WHEN refund_unclear_at IS NOT NULL THEN '` + string(order.ReasonRefundUnclear) + `' END, '')`

type queryer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}
