package ledger_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"handover/internal/lab/await"
	"handover/internal/lab/stack/testenv"
	"handover/internal/ledger"
	"handover/internal/order"
)

func connectAnew(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool, err := ledger.Connect(t.Context(), testenv.Migrated(t).Config().ConnString())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// A pooler refuses a start-up parameter that it does not know, so the settings are made afterwards.
func TestConnectionsStartWithNothingThatAPoolerRefuses(t *testing.T) {
	t.Parallel()
	pool := connectAnew(t)
	for name := range pool.Config().ConnConfig.RuntimeParams {
		if name != "application_name" {
			t.Errorf("a connection starts with %s", name)
		}
	}
	var statement, idle string
	err := pool.QueryRow(t.Context(), `SELECT current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout')`).Scan(&statement, &idle)
	if err != nil || statement != "20s" || idle != "10s" {
		t.Errorf("statement_timeout %s, idle_in_transaction_session_timeout %s, %v", statement, idle, err)
	}
}

// After a failover the sessions of before lead to a server that only reads, and new ones to one that can be written.
func TestSessionsOfAServerThatWasDemotedAreDropped(t *testing.T) {
	t.Parallel()
	for name, notice := range map[string]func(*ledger.Ledger) error{
		"by a write": func(l *ledger.Ledger) error {
			_, err := l.StoreEvent(t.Context(), ledger.WebhookEvent{Environment: "test", ID: "evt_1", Type: "checkout.session.completed", Kind: "checkout", Session: "cs_test_1"})
			return err
		},
		"by readiness": func(l *ledger.Ledger) error { return l.Ping(t.Context()) },
		"by a batch": func(l *ledger.Ledger) error {
			_, err := l.RecordPayment(t.Context(), order.Assessment{Key: order.Key{Environment: "test", Session: "cs_test_1"}, State: order.PaymentPending})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := connectAnew(t)
			l := ledger.New(pool)
			var held []*pgxpool.Conn
			for range 4 {
				conn, err := pool.Acquire(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := conn.Exec(t.Context(), `SET default_transaction_read_only = on`); err != nil {
					t.Fatal(err)
				}
				held = append(held, conn)
			}
			for _, conn := range held {
				conn.Release()
			}
			await.True(t, "they are idle in the pool", func() bool { return pool.Stat().IdleConns() == int32(len(held)) })
			if err := notice(l); err == nil || errors.Is(err, ledger.ErrReadOnly) != (name == "by readiness") {
				t.Fatalf("a demoted server: %v", err)
			}
			await.True(t, "the database can be written again", func() bool { return l.Ping(t.Context()) == nil })
			if err := notice(l); err != nil {
				t.Errorf("a new session: %v", err)
			}
		})
	}
}
