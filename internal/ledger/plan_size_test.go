package ledger_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"handover/internal/ledger"
	"handover/internal/order"
)

// fill puts so many finished orders into the ledger: a third of them ignored, the others with their email and its evidence.
func (b *env) fill(orders int) {
	b.t.Helper()
	for _, statement := range []string{
		`INSERT INTO orders (environment, session, payment, payment_ref, buyer_email, confirmed_at, owed_at, handed_over_at, created_at)
SELECT 'test', 'cs_test_old' || i, CASE WHEN i % 3 = 0 THEN 'ignored' ELSE 'confirmed' END, 'pi_old' || i, 'b' || i || '@example.com', now(), now(), now(),
       now() - i * interval '1 minute' FROM generate_series(1, $1::int) i`,
		`INSERT INTO webhook_events (environment, event_id, type, kind, session, payment_ref, dispatched_at, received_at)
SELECT CASE WHEN i % 2 = 0 THEN 'test' ELSE 'live' END, 'evt_old' || i, 't', CASE WHEN i % 5 = 0 THEN 'refund' ELSE 'checkout' END, 'cs_test_old' || i, 'pi_old' || i, now(),
       now() - i * interval '1 minute' FROM generate_series(1, $1::int) i`,
		`INSERT INTO obligations (environment, session, kind, subject, finished_at, provider_id, created_at)
SELECT 'test', 'cs_test_old' || i, 'email', '1', now(), 'msg_old' || i, now() - i * interval '1 minute' FROM generate_series(1, $1::int) i WHERE i % 3 <> 0`,
		`INSERT INTO email_evidence (event_id, type, message_id, delivery, detail, environment, session, generation, received_at)
SELECT 'ev_old' || i, 't', 'msg_old' || i, 'delivered', '', 'test', 'cs_test_old' || i, 1, now() - i * interval '1 minute' FROM generate_series(1, $1::int) i`,
	} {
		b.exec(statement, orders)
	}
	_, err := b.pool.Exec(b.t.Context(), `ANALYZE`)
	b.must(err)
}

// What is asked about one order, or about what waits, costs the same however much was ever sold.
func TestWhatIsAskedDoesNotReadWhatWasEverSold(t *testing.T) {
	t.Parallel()
	b := ownEnv(t)
	b.fill(20_000)
	b.pay().give().accept(1)
	bounced := b.another().pay().give().accept(1)
	b.report(bounced.emailEvent("e", "1", bounced.message(1), order.DeliveryBounced))
	stopped := b.another().pay().give()
	b.must(b.Stop(t.Context(), stopped.work(1), "", order.ClassPermanent, order.ReasonEmailRefused))

	list := func(f ledger.Filter) func(context.Context, *ledger.Ledger) error {
		f.Limit = 20
		return func(ctx context.Context, l *ledger.Ledger) error {
			_, err := l.List(ctx, f)
			return err
		}
	}
	for _, c := range []struct {
		name string
		most int64
		ask  func(context.Context, *ledger.Ledger) error
	}{
		{"an order", 100, func(ctx context.Context, l *ledger.Ledger) error { _, err := l.Order(ctx, b.key); return err }},
		{"a snapshot", 100, func(ctx context.Context, l *ledger.Ledger) error { _, err := l.Snapshot(ctx, b.key); return err }},
		{"the newest", 500, list(ledger.Filter{})},
		{"attention", 500, list(ledger.Filter{Attention: true})},
		{"pending", 500, list(ledger.Filter{Pending: true})},
		{"ignored", 500, list(ledger.Filter{Ignored: true})},
		{"unreached", 500, list(ledger.Filter{Unreached: true})},
		{"by payment", 100, list(ledger.Filter{Payment: "pi_old77"})},
		{"by address", 100, list(ledger.Filter{Address: "B77@example.com"})},
		{"health", 100, func(ctx context.Context, l *ledger.Ledger) error { _, err := l.Health(ctx); return err }},
		{"what waits", 2500, func(ctx context.Context, l *ledger.Ledger) error { _, err := l.Waits(ctx); return err }},
		{"a reminder", 100, func(ctx context.Context, l *ledger.Ledger) error { _, _, err := l.Unnotified(ctx, 0, 20); return err }},
		{"undispatched", 100, func(ctx context.Context, l *ledger.Ledger) error {
			_, err := l.Undispatched(ctx, 0, []string{}, 20)
			return err
		}},
		{"unattached", 100, func(ctx context.Context, l *ledger.Ledger) error { _, err := l.Unattached(ctx, 0, 20); return err }},
		{"unfinished", 100, func(ctx context.Context, l *ledger.Ledger) error {
			_, err := l.Unfinished(ctx, order.Key{}, time.Hour, 20)
			return err
		}},
		{"reversals due", 100, func(ctx context.Context, l *ledger.Ledger) error {
			_, err := l.ReversalsDue(ctx, order.Key{}, time.Hour, 20)
			return err
		}},
		{"a refund event", 100, func(ctx context.Context, l *ledger.Ledger) error {
			_, err := l.StoreEvent(ctx, b.refundEvent("size"))
			return err
		}},
		{"a reversal", 100, func(ctx context.Context, l *ledger.Ledger) error {
			return l.RecordReversal(ctx, ledger.Reversal{Key: b.key, Since: time.Now().Add(time.Minute)}, strict)
		}},
		{"a resend", 100, func(ctx context.Context, l *ledger.Ledger) error {
			_, err := l.Resend(ctx, b.request("size"))
			return err
		}},
		{"an erasure", 100, func(ctx context.Context, l *ledger.Ledger) error { return l.Erase(ctx, bounced.key, "alice", "asked") }},
	} {
		if read := b.rowsRead(c.ask); read > c.most {
			t.Errorf("%s reads %d rows, want at most %d", c.name, read, c.most)
		}
	}
}

// rowsRead counts the rows and index entries of our tables that one question reads.
func (b *env) rowsRead(ask func(context.Context, *ledger.Ledger) error) int64 {
	b.t.Helper()
	const total = `SELECT (SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0) FROM pg_stat_user_tables)::bigint
       + (SELECT coalesce(sum(idx_tup_read), 0) FROM pg_stat_user_indexes)::bigint`
	ctx := b.t.Context()
	config := b.pool.Config()
	config.MaxConns = 1
	one, err := pgxpool.NewWithConfig(ctx, config)
	b.must(err)
	defer one.Close()
	count := func() (n int64) {
		_, err := one.Exec(ctx, `SELECT pg_stat_force_next_flush()`)
		b.must(err)
		b.must(one.QueryRow(ctx, total).Scan(&n))
		return n
	}
	before := count()
	b.must(ask(ctx, ledger.New(one)))
	return count() - before
}
