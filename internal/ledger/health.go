package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Health is what the ledger tells of how the shop is doing. A time is zero where there is none.
type Health struct {
	Now            time.Time            // by the database clock, which made the other times
	LastWebhooks   map[string]time.Time // by environment: when an event that a secret had verified came last
	LastEmailEvent time.Time
	FirstOrder     time.Time
	LinkSecrets    []string             // names of the secrets that messages still to be sent were made with
	SalesKnown     map[string]time.Time // by environment: up to when every sale is known
	ReversalsKnown map[string]time.Time // by environment: up to when every refund and dispute is known
	LastAlert      time.Time            // when the owner was notified last, or should have been
	AlertFailed    bool                 // that message did not arrive
}

// lastWebhooks finds the newest event of each environment by index, one environment after the other.
const lastWebhooks = `
WITH RECURSIVE known AS (
    SELECT min(environment) AS environment FROM webhook_events
    UNION ALL
    SELECT (SELECT min(e.environment) FROM webhook_events e WHERE e.environment > known.environment) FROM known WHERE known.environment IS NOT NULL
)
SELECT environment, (SELECT max(received_at) FROM webhook_events e WHERE e.environment = known.environment) AS at
FROM known WHERE environment IS NOT NULL`

// Health reads it. The cost does not follow what was ever sold.
func (l *Ledger) Health(ctx context.Context) (Health, error) {
	h := Health{LastWebhooks: map[string]time.Time{}, SalesKnown: map[string]time.Time{}, ReversalsKnown: map[string]time.Time{}}
	batch := &pgx.Batch{}
	batch.Queue(lastWebhooks).Query(func(rows pgx.Rows) error {
		var environment string
		var at time.Time
		_, err := pgx.ForEachRow(rows, []any{&environment, &at}, func() error { h.LastWebhooks[environment] = at; return nil })
		return err
	})
	batch.Queue(`SELECT now(), (SELECT max(received_at) FROM email_evidence), (SELECT min(created_at) FROM orders)`).QueryRow(func(row pgx.Row) error {
		var email, first *time.Time
		err := row.Scan(&h.Now, &email, &first)
		if email != nil {
			h.LastEmailEvent = *email
		}
		if first != nil {
			h.FirstOrder = *first
		}
		return err
	})
	batch.Queue(`
SELECT DISTINCT link_secret FROM open_obligations
WHERE coalesce(finished_at, stopped_at) IS NULL AND kind = 'email' AND link_secret IS NOT NULL AND superseded_at IS NULL`).
		Query(func(rows pgx.Rows) (err error) {
			h.LinkSecrets, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		})
	batch.Queue(`SELECT environment, complete_until, reversals_until FROM sales_lists`).Query(func(rows pgx.Rows) error {
		var environment string
		var sales, reversals time.Time
		_, err := pgx.ForEachRow(rows, []any{&environment, &sales, &reversals}, func() error {
			h.SalesKnown[environment], h.ReversalsKnown[environment] = sales, reversals
			return nil
		})
		return err
	})
	batch.Queue(`SELECT claimed_at, coalesce(outcome, '') = 'failed' FROM alert_messages ORDER BY claimed_at DESC LIMIT 1`).QueryRow(func(row pgx.Row) error {
		if err := row.Scan(&h.LastAlert, &h.AlertFailed); !noRows(err) {
			return err
		}
		return nil
	})
	err := l.pool.SendBatch(ctx, batch).Close()
	return h, safe("read the ledger's health", err)
}
