package ledger_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"handover/internal/lab/await"
	"handover/internal/ledger"
)

// A young database has no statistics, and Postgres then takes any index whose condition fits for a short one. A statement
// about one order that goes through all that wait costs more with each of them.
func TestOneOrderCostsTheSameHoweverManyWait(t *testing.T) {
	t.Parallel()
	const orders = 150
	b := ownEnv(t)
	for _, table := range []string{"webhook_events", "orders", "obligations", "grants", "links"} {
		if _, err := b.pool.Exec(t.Context(), `ALTER TABLE `+table+` SET (autovacuum_enabled = false)`); err != nil {
			t.Fatal(err)
		}
	}
	config := b.pool.Config()
	config.MaxConns = 1
	one, err := pgxpool.NewWithConfig(t.Context(), config)
	b.must(err)
	b.Ledger = ledger.New(one)
	all := make([]*env, orders)
	for i := range all {
		all[i] = b.another()
		first := all[i].event("1")
		all[i].store(first)
	}
	for _, o := range all {
		paid := o.paid()
		paid.Event = o.event("1").ID
		o.record(paid)
	}
	for _, o := range all {
		o.give().accept(1)
	}
	one.Close() // its backend reports what it has read, a moment later
	for name, read := range b.indexReads(orders) {
		if read > 5 {
			t.Errorf("a scan of %s reads %.0f entries", name, read)
		}
	}
}

// indexReads are the entries that a scan of each index read, once the scans of so many orders are reported.
func (b *env) indexReads(orders int) map[string]float64 {
	b.t.Helper()
	await.True(b.t, "the reads are reported", func() bool {
		return b.count(`SELECT coalesce(sum(idx_scan), 0) FROM pg_stat_user_indexes WHERE indexrelname = 'orders_pkey'`) >= 3*orders
	})
	rows, err := b.pool.Query(b.t.Context(), `SELECT indexrelname, idx_tup_read / idx_scan::float8 FROM pg_stat_user_indexes WHERE idx_scan >= $1`, orders)
	b.must(err)
	reads := map[string]float64{}
	var name string
	var read float64
	_, err = pgx.ForEachRow(rows, []any{&name, &read}, func() error { reads[name] = read; return nil })
	b.must(err)
	return reads
}
