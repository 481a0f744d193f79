package testenv

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
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

// Shared is one database with the ledger's schema for the tests of a package that meet nowhere, because each has an
// order of its own. Making and dropping a database costs more than most tests.
type Shared struct {
	once sync.Once
	pool *pgxpool.Pool
	drop func() error
	err  error
}

// Pool returns the pool, which the first test that asks makes.
func (s *Shared) Pool(t testing.TB) *pgxpool.Pool {
	t.Helper()
	server := need(t, DatabaseVariable)
	s.once.Do(func() {
		// It outlives the test that happens to be the first.
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		var address string
		if address, s.drop, s.err = makeDatabase(ctx, server); s.err == nil {
			s.pool, s.err = migrated(ctx, address)
		}
	})
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.pool
}

// Drop ends the database after all tests, for TestMain.
func (s *Shared) Drop() error {
	if s.pool != nil {
		s.pool.Close()
	}
	if s.drop == nil {
		return nil
	}
	return s.drop()
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
	pool, err := ledger.Connect(ctx, u.String(), nil)
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
