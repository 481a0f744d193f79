package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"handover/internal/order"
)

// StoreRequest stores a request before it is signalled, so that an address never has to be in the signal, and so that a signal
// that cannot be sent now is sent later.
func (l *Ledger) StoreRequest(ctx context.Context, r order.Request) error {
	_, err := l.pool.Exec(ctx, insertRequest, newRequestArgs(r))
	return safe("store a request", err)
}

const insertRequest = `
INSERT INTO requests (environment, session, request_id, kind, who, why, address, no_send, new_keys)
VALUES (@environment, @session, @request, @kind, @who, @why, nullif(@address, ''), @no_send, @new_keys) ON CONFLICT DO NOTHING`

func newRequestArgs(r order.Request) pgx.StrictNamedArgs {
	return requestArgs(r, pgx.StrictNamedArgs{"who": r.Who, "why": r.Why, "address": r.Address, "no_send": r.NoSend, "new_keys": r.NewKeys})
}

// requestArgs are the named arguments of a statement about one request, and those given beside its name.
func requestArgs(r order.Request, more pgx.StrictNamedArgs) pgx.StrictNamedArgs {
	args := orderArgs(r.Key, more)
	args["request"], args["kind"] = r.ID, r.Kind
	return args
}

// How often buyers may ask for their email by themselves.
const (
	buyerPause       = 10 * time.Minute
	maxBuyerRequests = 5
)

// StoreBuyerRequest stores a buyer's own request to have the email again, at most one in every ten minutes and five in
// all, and says how long to wait otherwise. Requests that come together are decided one after the other.
func (l *Ledger) StoreBuyerRequest(ctx context.Context, r order.Request) (stored bool, wait time.Duration, err error) {
	err = l.inTx(ctx, func(tx pgx.Tx) error {
		if err := lockOrder(ctx, tx, r.Key); err != nil {
			return err
		}
		var count int
		if err := tx.QueryRow(ctx, `
SELECT count(*), greatest(coalesce(max(created_at) + @pause::interval - clock_timestamp(), '0'), '0')
FROM requests WHERE environment = @environment AND session = @session AND who = @who`,
			orderArgs(r.Key, pgx.StrictNamedArgs{"who": r.Who, "pause": buyerPause})).Scan(&count, &wait); err != nil {
			return err
		}
		if count >= maxBuyerRequests {
			wait = buyerPause
		}
		if wait > 0 {
			return nil
		}
		r.Address = ""
		tag, err := tx.Exec(ctx, insertRequest, newRequestArgs(r))
		stored = tag.RowsAffected() == 1
		return err
	})
	return stored, wait, safe("store a buyer's request", err)
}

// lockOrder makes the decisions on one order wait for each other. It lets those pass who only refer to the order: a grant,
// which takes its obligation first, must not wait for a decision that wants the same obligation.
func lockOrder(ctx context.Context, tx pgx.Tx, key order.Key) error {
	_, err := tx.Exec(ctx, `SELECT FROM orders WHERE environment = @environment AND session = @session FOR NO KEY UPDATE`, orderArgs(key, nil))
	return err
}

// MarkSignalled notes that a request is on its way to its workflow.
func (l *Ledger) MarkSignalled(ctx context.Context, key order.Key, id string) error {
	_, err := l.pool.Exec(ctx, `
UPDATE requests SET signalled_at = now() WHERE environment = @environment AND session = @session AND request_id = @request`,
		orderArgs(key, pgx.StrictNamedArgs{"request": id}))
	return safe("mark a request", err)
}

// requestRow is a stored request without its address, which never leaves the ledger.
type requestRow struct {
	order.Key
	ID, Kind, Who, Why string
}

const selectRequests = `
SELECT environment, session, request_id AS id, kind, who, why FROM requests WHERE carried_out_at IS NULL`

// Waiting lists requests that were stored, or signalled, longer than grace ago and are still not decided. Each signal
// doubles the wait for the next: while no worker runs, a history must not fill with them.
func (l *Ledger) Waiting(ctx context.Context, grace time.Duration, limit int) ([]order.Request, error) {
	rows, _ := l.pool.Query(ctx, selectRequests+`
  AND kind IN ('resend', 'retry', 'revoke', 'restore', 'relink')
  AND CASE WHEN signalled_at IS NULL THEN created_at < now() - least(@grace::interval, '5 seconds')
      ELSE signalled_at < now() - greatest(@grace::interval, signalled_at - created_at) END
ORDER BY created_at LIMIT @limit`, pgx.StrictNamedArgs{"grace": grace, "limit": limit})
	return collectRequests(rows)
}

// Undecided lists what was asked for on one order and is not decided yet, oldest first.
func (l *Ledger) Undecided(ctx context.Context, key order.Key) ([]order.Request, error) {
	rows, _ := l.pool.Query(ctx, selectRequests+` AND environment = @environment AND session = @session ORDER BY created_at`, orderArgs(key, nil))
	return collectRequests(rows)
}

func collectRequests(rows pgx.Rows) ([]order.Request, error) {
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[requestRow])
	requests := make([]order.Request, len(found))
	for i, r := range found {
		requests[i] = order.Request{Key: r.Key, ID: r.ID, Kind: r.Kind, Who: r.Who, Why: r.Why}
	}
	return requests, safe("list requests", err)
}
