package ledger

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// mostIgnored bounds the count of ignored orders: an account may sell other things than ours, and more of them each day.
const mostIgnored = 1000

// Waits are what the gauges show: everything that has not come to its end. Each is read from a partial index, so that
// the cost follows what is waiting and not what was ever sold. Ignored is at most 1000: more are not counted.
type Waits struct {
	PaymentPending            int64
	Ignored                   int64
	Attention                 map[string]int64   // by reason
	Open                      map[string]int64   // open obligations by kind
	OldestOpenSeconds         map[string]float64 // of the obligations by kind, and of "payment"
	Undispatched              int64
	OldestUndispatchedSeconds float64
	Known                     map[string]SyncWindow // by environment
}

// Waits counts what is waiting now.
func (l *Ledger) Waits(ctx context.Context) (Waits, error) {
	w := Waits{Attention: map[string]int64{}, Open: map[string]int64{}, OldestOpenSeconds: map[string]float64{}, Known: map[string]SyncWindow{}}
	batch := &pgx.Batch{}
	batch.Queue(`SELECT count(*), coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 FROM orders WHERE payment = 'pending'`).
		QueryRow(func(row pgx.Row) error {
			var oldest float64
			err := row.Scan(&w.PaymentPending, &oldest)
			w.OldestOpenSeconds["payment"] = oldest
			return err
		})
	batch.Queue(`SELECT count(*) FROM (SELECT FROM orders WHERE payment = 'ignored' LIMIT @most) ignored`, pgx.StrictNamedArgs{"most": mostIgnored}).
		QueryRow(func(row pgx.Row) error { return row.Scan(&w.Ignored) })
	batch.Queue(`SELECT reason, count(*) FROM attention GROUP BY reason`).
		Query(func(rows pgx.Rows) error {
			var reason string
			var n int64
			_, err := pgx.ForEachRow(rows, []any{&reason, &n}, func() error { w.Attention[reason] = n; return nil })
			return err
		})
	batch.Queue(`
SELECT kind, count(*), extract(epoch FROM now() - min(created_at))::float8 FROM open_obligations
WHERE coalesce(finished_at, stopped_at) IS NULL GROUP BY kind`).
		Query(func(rows pgx.Rows) error {
			var kind string
			var n int64
			var oldest float64
			_, err := pgx.ForEachRow(rows, []any{&kind, &n, &oldest}, func() error {
				w.Open[kind], w.OldestOpenSeconds[kind] = n, oldest
				return nil
			})
			return err
		})
	batch.Queue(`SELECT count(*), coalesce(extract(epoch FROM now() - min(received_at)), 0)::float8 FROM webhook_events
WHERE dispatched_at IS NULL AND (session IS NOT NULL OR received_at < now() - interval '10 minutes')`).
		QueryRow(func(row pgx.Row) error { return row.Scan(&w.Undispatched, &w.OldestUndispatchedSeconds) })
	batch.Queue(`SELECT environment, covered_from, complete_until, reversals_until FROM sales_lists`).Query(func(rows pgx.Rows) error {
		var environment string
		var is SyncWindow
		_, err := pgx.ForEachRow(rows, []any{&environment, &is.From, &is.Until, &is.ReversalsUntil}, func() error {
			w.Known[environment] = is
			return nil
		})
		return err
	})
	err := l.pool.SendBatch(ctx, batch).Close()
	return w, safe("count what is waiting", err)
}
