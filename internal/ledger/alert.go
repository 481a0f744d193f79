package ledger

import (
	"context"

	"handover/internal/order"
)

// ClaimAlert says whether the owner is still to be told of this today: once for an order and a reason, and of a fault in
// the settings once for all orders. The claim is spent even if telling fails: an alert is a service, not an obligation.
func (l *Ledger) ClaimAlert(ctx context.Context, key order.Key, reason order.Reason) (bool, error) {
	key = alertKey(key, reason)
	tag, err := l.pool.Exec(ctx, `INSERT INTO alerts (environment, session, reason) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		key.Environment, key.Session, reason)
	return tag.RowsAffected() == 1, safe("claim an alert", err)
}

// AlertEnded notes how telling the owner went.
func (l *Ledger) AlertEnded(ctx context.Context, key order.Key, reason order.Reason, told bool) error {
	key = alertKey(key, reason)
	outcome := "failed"
	if told {
		outcome = "told"
	}
	_, err := l.pool.Exec(ctx, `
UPDATE alerts SET outcome = $4 WHERE environment = $1 AND session = $2 AND reason = $3 AND outcome IS NULL`,
		key.Environment, key.Session, reason, outcome)
	return safe("note an alert", err)
}

func alertKey(key order.Key, reason order.Reason) order.Key {
	if reason.Settings() {
		return order.Key{}
	}
	return key
}
