package ledger_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"handover/internal/lab/stack/testenv"
	"handover/internal/ledger"
)

func connect(t *testing.T, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := ledger.Connect(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func TestProcessesThatMigrateTogetherMigrateOnce(t *testing.T) {
	t.Parallel()
	url := testenv.Database(t)
	pools := make([]*pgxpool.Pool, 5)
	for i := range pools {
		pools[i] = connect(t, url) // each as a process of its own
	}
	ran := make([]int, len(pools))
	errs := make([]error, len(pools))
	atOnce(len(pools), func(i int) { ran[i], errs[i] = ledger.Migrate(t.Context(), pools[i]) })
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	busy := 0
	for _, n := range ran {
		if n > 0 {
			busy++
		}
	}
	if busy != 1 {
		t.Errorf("%d of %d ran migrations: %v", busy, len(pools), ran)
	}
	if n, err := ledger.Migrate(t.Context(), pools[0]); n != 0 || err != nil {
		t.Errorf("once more: %d, %v", n, err)
	}
	if err := ledger.Migrated(t.Context(), pools[0]); err != nil {
		t.Errorf("migrated: %v", err)
	}
	if err := ledger.New(pools[0]).Ping(t.Context()); err != nil {
		t.Errorf("the pool does not outlive the migration: %v", err)
	}
}

func TestSchemaThatIsMissingOrOldSaysWhatToDo(t *testing.T) {
	t.Parallel()
	pool := connect(t, testenv.Database(t))
	says := func(when string) {
		t.Helper()
		err := ledger.Migrated(t.Context(), pool)
		if err == nil || !strings.Contains(err.Error(), "at version 0") || !strings.Contains(err.Error(), "run starter migrate") {
			t.Errorf("%s: %v", when, err)
		}
	}
	says("an empty database")
	if _, err := ledger.Migrate(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), `DELETE FROM goose_db_version WHERE version_id > 0`); err != nil {
		t.Fatal(err)
	}
	says("an older schema")
}

func TestNewerSchemaIsNoObstacle(t *testing.T) {
	t.Parallel()
	pool := testenv.Migrated(t)
	if _, err := pool.Exec(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)`); err != nil {
		t.Fatal(err)
	}
	if err := ledger.Migrated(t.Context(), pool); err != nil {
		t.Errorf("while a newer binary is rolled out: %v", err)
	}
}
