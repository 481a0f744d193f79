package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// Waiting is an order that needs a person.
type Waiting struct {
	Key    order.Key
	Reason order.Reason
	Since  time.Time
}

// Reminders apart: a little less than a day, so that a pass that comes some seconds early does not skip one.
const remindersApart = 24*time.Hour - 10*time.Minute

// Unnotified lists the orders that need a person and of which the owner was not told within the last day, those that have
// waited longest first, and says how many there are in all. Orders that have waited for less than grace are not among
// them, nor those whose alert was begun within grace: later than that, the worker that told it has died.
func (l *Ledger) Unnotified(ctx context.Context, grace time.Duration, limit int) (listed []Waiting, total int, err error) {
	rows, err := l.pool.Query(ctx, `
SELECT o.environment, o.session, coalesce(o.attention_reason, ''), o.attention_at, count(*) OVER () FROM orders o
WHERE o.attention_at < now() - $1::interval
  AND NOT EXISTS (
    SELECT FROM alerts a
    WHERE a.reason = o.attention_reason AND (a.environment, a.session) IN ((o.environment, o.session), ('', ''))
      AND (a.outcome = 'told' AND a.claimed_at > now() - interval '24 hours' OR a.outcome IS NULL AND a.claimed_at > now() - $1::interval))
ORDER BY o.attention_at LIMIT $2`, grace, limit)
	if err != nil {
		return nil, 0, safe("list orders that wait untold", err)
	}
	listed, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (w Waiting, err error) {
		return w, row.Scan(&w.Key.Environment, &w.Key.Session, &w.Reason, &w.Since, &total)
	})
	return listed, total, safe("list orders that wait untold", err)
}

// ClaimReminder says whether the owner is to be reminded now: once in a day, however many orders wait. The claim is spent
// even if telling fails. AlertEnded with no order's key notes how it went.
func (l *Ledger) ClaimReminder(ctx context.Context) (bool, error) {
	tag, err := l.pool.Exec(ctx, `
INSERT INTO alerts (environment, session, reason)
SELECT '', '', $1 WHERE NOT EXISTS (
    SELECT FROM alerts WHERE environment = '' AND session = '' AND reason = $1 AND claimed_at > now() - $2::interval)
ON CONFLICT DO NOTHING`, order.ReasonStillWaiting, remindersApart)
	return tag.RowsAffected() == 1, safe("claim a reminder", err)
}
