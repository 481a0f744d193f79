package ledger

import (
	"context"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// byUrgency is the sequence in which a person is shown what has stopped: first what keeps the buyer from the goods.
const byUrgency = `array_position(ARRAY['payment', 'access', 'access_change', 'reversal', 'email', 'progress'], step)`

// attentionAgain ends an INSERT INTO attention of a step that may have stopped before: for the same reason it has waited
// since then, for another one since now.
const attentionAgain = `
ON CONFLICT (environment, session, step) DO UPDATE SET reason = excluded.reason, class = excluded.class,
    since = CASE WHEN attention.reason = excluded.reason THEN attention.since ELSE excluded.since END`

// clearAttention takes the given steps of an order off the list.
const clearAttention = `
DELETE FROM attention WHERE environment = @environment AND session = @session AND step = ANY (@steps)`

// mostUrgent reads why an order needs a person: the first of what has stopped; empty when nothing has.
func mostUrgent(ctx context.Context, tx pgx.Tx, key order.Key) (reason order.Reason, err error) {
	err = tx.QueryRow(ctx, `
SELECT reason FROM attention WHERE environment = @environment AND session = @session ORDER BY `+byUrgency+` LIMIT 1`, orderArgs(key, nil)).Scan(&reason)
	if noRows(err) {
		return "", nil
	}
	return reason, err
}
