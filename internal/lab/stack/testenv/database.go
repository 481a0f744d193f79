package testenv

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"handover/internal/lab/stack"
	"handover/internal/ledger"
)

// Database makes an empty database for the test, drops it at the end, and returns its URL.
func Database(t testing.TB) string {
	t.Helper()
	address, drop, err := makeDatabase(t.Context(), need(t, DatabaseVariable))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	return address
}

// Migrated makes a database with the ledger's schema for the test, drops it at the end, and returns a pool on it.
func Migrated(t testing.TB) *pgxpool.Pool {
	t.Helper()
	pool, err := migrated(t.Context(), Database(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// shared is the database that the tests of one package share.
var shared struct {
	once sync.Once
	pool *pgxpool.Pool
	drop func() error
	err  error
}

// Shared is a pool on one database with the ledger's schema, for the tests of a package that never meet because each has
// an order of its own. Issuer and dropping a database costs more than most tests. The first test that asks makes it, and
// Main drops it.
func Shared(t testing.TB) *pgxpool.Pool {
	t.Helper()
	server := need(t, DatabaseVariable)

	shared.once.Do(func() {
		// It outlives the test that happens to be the first.
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		var address string
		if address, shared.drop, shared.err = makeDatabase(ctx, server); shared.err == nil {
			shared.pool, shared.err = migrated(ctx, address)
		}
	})

	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.pool
}

// Main runs the tests of a package, drops the database that they share and does whatever else is given, and exits:
//
//	func TestMain(m *testing.M) { testenv.Main(m) }
func Main(m *testing.M, after ...func() error) {
	code := m.Run()
	for _, end := range append(after, dropShared) {
		if err := end(); err != nil {
			fmt.Fprintln(os.Stderr, "after the tests:", err)
			code = cmp.Or(code, 1)
		}
	}
	os.Exit(code)
}

func dropShared() error {
	if shared.pool != nil {
		shared.pool.Close()
	}
	if shared.drop == nil {
		return nil
	}
	return shared.drop()
}

// migrated connects and brings the schema up. Tests that press many buttons at once find a connection for each.
func migrated(ctx context.Context, address string) (*pgxpool.Pool, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	query := u.Query()
	query.Set("pool_max_conns", "24")
	u.RawQuery = query.Encode()
	pool, err := ledger.Connect(ctx, u.String())
	if err != nil {
		return nil, err
	}
	if _, err := ledger.Migrate(ctx, pool); err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}

func makeDatabase(ctx context.Context, server string) (address string, drop func() error, err error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", nil, fmt.Errorf("%s is no URL", DatabaseVariable)
	}
	name := "test_" + strings.ToLower(rand.Text())
	if err := stack.CreateDatabase(ctx, server, name); err != nil {
		return "", nil, err
	}
	drop = func() error {
		// The test's own context has ended by now.
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		conn, err := pgx.Connect(ctx, server)
		if err != nil {
			return err
		}
		defer conn.Close(ctx)
		_, err = conn.Exec(ctx, "DROP DATABASE "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)")
		return err
	}
	u.Path = "/" + name
	return u.String(), drop, nil
}
