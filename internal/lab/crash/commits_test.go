package crash_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"handover/internal/lab/crash"
)

// Every commit is a wait for the disk. From the webhook to the accepted email there are five: the event, the payment
// with the mark on the event, the access, the claim with the frozen message, and the end of it.
func TestAnOrderCostsFiveCommits(t *testing.T) {
	t.Parallel()
	server := privatePostgres(t)
	if err := server.CreateDatabase(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), server.URL("shop"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for _, setting := range []string{"ALTER SYSTEM SET autovacuum = off", "SELECT pg_reload_conf()"} {
		if _, err := conn.Exec(t.Context(), setting); err != nil {
			t.Fatal(err)
		}
	}
	s := crash.Open(t, crash.Options{DatabaseURL: server.URL("shop")})
	s.SettledOnce(s.Buy(nil), 1)
	if err := s.Schedule(t.Context()).Delete(t.Context()); err != nil {
		t.Fatal(err) // a pass over the ledger writes one row of its own
	}

	const orders = 10
	before := nextTransaction(t, conn)
	for range orders {
		s.SettledOnce(s.Buy(nil), 1)
	}
	if got := nextTransaction(t, conn) - before; got != 5*orders {
		t.Errorf("%d writing transactions for %d orders, want %d", got, orders, 5*orders)
	}
}

// nextTransaction is the number of the server's next writing transaction; reading takes none.
func nextTransaction(t *testing.T, conn *pgx.Conn) (next int64) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint").Scan(&next); err != nil {
		t.Fatal(err)
	}
	return next
}
