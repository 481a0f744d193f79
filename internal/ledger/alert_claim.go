package ledger

import (
	"context"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// ClaimAlert says whether the owner is still to be notified of this today: once for an order and a reason, and of a fault
// in the settings once for all orders. The claim is used up even if notifying fails: an alert is a service, not an
// obligation.
func (l *Ledger) ClaimAlert(ctx context.Context, key order.Key, reason order.Reason) (bool, error) {
	tag, err := l.pool.Exec(ctx, `
INSERT INTO alerts (environment, session, reason) VALUES (@environment, @session, @reason) ON CONFLICT DO NOTHING`, alertArgs(key, reason, nil))
	return tag.RowsAffected() == 1, safe("claim an alert", err)
}

// AlertEnded notes whether the owner was notified.
func (l *Ledger) AlertEnded(ctx context.Context, key order.Key, reason order.Reason, notified bool) error {
	outcome := "failed"
	if notified {
		outcome = "told"
	}
	_, err := l.pool.Exec(ctx, `
UPDATE alerts SET outcome = @outcome WHERE environment = @environment AND session = @session AND reason = @reason AND outcome IS NULL`,
		alertArgs(key, reason, pgx.StrictNamedArgs{"outcome": outcome}))
	return safe("note an alert", err)
}

// alertArgs name an alert. A fault in the settings is of no single order.
func alertArgs(key order.Key, reason order.Reason, more pgx.StrictNamedArgs) pgx.StrictNamedArgs {
	if reason.Settings() {
		key = order.Key{}
	}
	args := orderArgs(key, more)
	args["reason"] = reason
	return args
}
