package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// claimAlert makes one message of all orders that need a person for the reason: where the owner does not know of one of
// them, and has had no message about the reason within the hour, or the fault had been cleared since: nothing that waits
// now waited then. That is held against the message as it is under its lock, because two orders may stop at once.
const claimAlert = `
WITH waiting AS MATERIALIZED (
    SELECT w.environment, w.session, w.since, o.reference,
           EXISTS (SELECT FROM alerts a WHERE a.environment = w.environment AND a.session = w.session AND a.reason = @reason
                   AND a.claimed_at >= w.since) AS known
    FROM attention w JOIN orders o USING (environment, session) WHERE w.reason = @reason
), claimed AS (
    INSERT INTO alert_messages AS m (reason) SELECT @reason WHERE EXISTS (SELECT FROM waiting WHERE NOT known)
    ON CONFLICT (reason) DO UPDATE SET claimed_at = now(), outcome = NULL
    WHERE m.claimed_at < now() - interval '1 hour' OR NOT EXISTS (SELECT FROM waiting WHERE since <= m.claimed_at)
    RETURNING 1
), marked AS (
    INSERT INTO alerts AS a (environment, session, reason)
    SELECT environment, session, @reason FROM waiting WHERE EXISTS (SELECT FROM claimed)
    ON CONFLICT (environment, session, reason, day) DO UPDATE SET claimed_at = now(), outcome = NULL
)
SELECT count(*), min(since), coalesce((array_agg(reference ORDER BY since))[1:@most], '{}')
FROM waiting WHERE EXISTS (SELECT FROM claimed)`

// ClaimAlert says what the owner is to be notified of now, in one message for all orders that need a person for the reason;
// of no order where nothing is new, or there was a message within the hour. What comes meanwhile is in the next. The claim
// is used up even if notifying fails: an alert is a service, not an obligation.
func (l *Ledger) ClaimAlert(ctx context.Context, reason order.Reason) (order.Alert, error) {
	a := order.Alert{Reason: reason}
	var since *time.Time
	err := l.pool.QueryRow(ctx, claimAlert, pgx.StrictNamedArgs{"reason": reason, "most": order.MostReferences}).Scan(&a.Orders, &since, &a.References)
	if since != nil {
		a.Since = *since
	}
	return a, safe("claim an alert", err)
}

// ClaimNotice says whether the owner is still to be notified today of a reason that is about no single order.
func (l *Ledger) ClaimNotice(ctx context.Context, reason order.Reason) (bool, error) {
	tag, err := l.pool.Exec(ctx, `
INSERT INTO alerts (environment, session, reason) VALUES ('', '', @reason) ON CONFLICT DO NOTHING`, pgx.StrictNamedArgs{"reason": reason})
	return tag.RowsAffected() == 1, safe("claim a notice", err)
}

// AlertEnded notes whether the owner was notified.
func (l *Ledger) AlertEnded(ctx context.Context, reason order.Reason, notified bool) error {
	outcome := "failed"
	if notified {
		outcome = "told"
	}
	_, err := l.pool.Exec(ctx, `
WITH message AS (
    INSERT INTO alert_messages (reason, outcome) VALUES (@reason, @outcome)
    ON CONFLICT (reason) DO UPDATE SET outcome = excluded.outcome
)
UPDATE alerts SET outcome = @outcome WHERE reason = @reason AND outcome IS NULL`,
		pgx.StrictNamedArgs{"reason": reason, "outcome": outcome})
	return safe("note an alert", err)
}

// AlertReasons lists the reasons for which orders need a person.
func (l *Ledger) AlertReasons(ctx context.Context) ([]order.Reason, error) {
	rows, _ := l.pool.Query(ctx, `SELECT DISTINCT reason FROM attention ORDER BY reason`)
	reasons, err := pgx.CollectRows(rows, pgx.RowTo[order.Reason])
	return reasons, safe("list the reasons for attention", err)
}
