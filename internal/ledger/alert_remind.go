package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// Waiting is a stopped step of an order that needs a person.
type Waiting struct {
	Reference order.Reference
	Reason    order.Reason
	Since     time.Time
}

// reminderInterval is a little less than a day, so that a run that comes some seconds early does not skip one.
const reminderInterval = 24*time.Hour - 10*time.Minute

type waitingRow struct {
	Reference order.Reference
	Reason    order.Reason
	Since     time.Time
	Total     int
}

const selectUnnotified = `
SELECT o.reference, w.reason, w.since, count(*) OVER () AS total FROM attention w JOIN orders o USING (environment, session)
WHERE w.since < now() - @grace::interval
  AND NOT EXISTS (
    SELECT FROM alerts a
    WHERE a.reason = w.reason AND (a.environment, a.session) IN ((w.environment, w.session), ('', ''))
      AND (a.outcome = 'told' AND a.claimed_at > now() - interval '24 hours' OR a.outcome IS NULL AND a.claimed_at > now() - @grace::interval))
ORDER BY w.since LIMIT @limit`

// Unnotified lists the stopped steps of which the owner was not notified within the last day, those that have waited
// longest first, and says how many there are in all. What has waited for less than grace is not among them, nor is that
// whose alert was begun within grace: later than that, the worker that sent it has died.
func (l *Ledger) Unnotified(ctx context.Context, grace time.Duration, limit int) (listed []Waiting, total int, err error) {
	rows, _ := l.pool.Query(ctx, selectUnnotified, pgx.StrictNamedArgs{"grace": grace, "limit": limit})
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[waitingRow])
	for _, row := range found {
		listed, total = append(listed, Waiting{Reference: row.Reference, Reason: row.Reason, Since: row.Since}), row.Total
	}
	return listed, total, safe("list what waits without an alert", err)
}

// ClaimReminder says whether the owner is to be reminded now: once in a day, however many orders wait. The claim is used up
// even if notifying fails. AlertEnded notes how it went.
func (l *Ledger) ClaimReminder(ctx context.Context) (bool, error) {
	tag, err := l.pool.Exec(ctx, `
INSERT INTO alerts (environment, session, reason)
SELECT '', '', @reason WHERE NOT EXISTS (
    SELECT FROM alerts WHERE environment = '' AND session = '' AND reason = @reason AND claimed_at > now() - @interval::interval)
ON CONFLICT DO NOTHING`, pgx.StrictNamedArgs{"reason": order.ReasonStillWaiting, "interval": reminderInterval})
	return tag.RowsAffected() == 1, safe("claim a reminder", err)
}
