package ledger_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"handover/internal/lab/stack/testenv"
	"handover/internal/ledger"
)

func connect(t *testing.T, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := ledger.Connect(t.Context(), url)
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

// migratedTo is a database at an older version.
func migratedTo(t *testing.T, version int64) *pgxpool.Pool {
	t.Helper()
	pool := connect(t, testenv.Database(t))
	provider, err := goose.NewProvider(goose.DialectPostgres, stdlib.OpenDBFromPool(pool), os.DirFS("migrations"))
	if err != nil {
		t.Fatal(err)
	}
	defer provider.Close()
	if _, err := provider.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	return pool
}

func TestMigrationsTakeAsLongAsTheyNeed(t *testing.T) {
	t.Parallel()
	config := connect(t, testenv.Database(t)).Config()
	config.ConnConfig.RuntimeParams["statement_timeout"] = "1"
	hurried, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer hurried.Close()
	if _, err := ledger.Migrate(t.Context(), hurried); err != nil {
		t.Errorf("a migration is held to the limit of a statement: %v", err)
	}
}

func TestMigrationThatCannotFinishSaysSo(t *testing.T) {
	t.Parallel()
	pool := migratedTo(t, 6)
	holder, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Rollback(t.Context()) //nolint:errcheck // the pool closes what it holds
	if _, err := holder.Exec(t.Context(), `LOCK TABLE obligations`); err != nil {
		t.Fatal(err)
	}
	_, err = ledger.Migrate(t.Context(), pool)
	if err == nil || !strings.Contains(err.Error(), "migration 7 cannot finish: SQLSTATE 55P03") || ledger.Unavailable(err) {
		t.Errorf("while another session holds a table: %v", err)
	}
}

// What has stopped before the migration is on the attention list after it, each step with its own reason.
func TestWhatHadStoppedIsMigrated(t *testing.T) {
	t.Parallel()
	pool := migratedTo(t, 6)
	for _, statement := range []string{
		`INSERT INTO orders (environment, session, payment, attention_step, attention_reason, attention_class, attention_at, refund_unclear_at) VALUES
    ('test', 'one', 'confirmed', 'revoke', 'access_not_changed', 'attempts_spent', now(), now()),
    ('test', 'two', 'confirmed', 'refund', 'refund_not_retrievable', 'permanent', now(), now()),
    ('test', 'three', 'needs_attention', 'payment', 'payment_not_retrievable', 'permanent', now(), NULL),
    ('test', 'four', 'confirmed', NULL, NULL, NULL, NULL, NULL)`,
		`INSERT INTO obligations (environment, session, kind, subject, stopped_at, finished_at, failure_class, superseded_at) VALUES
    ('test', 'one', 'revoke', 'a', now(), NULL, 'attempts_spent', NULL),
    ('test', 'one', 'email', '1', now(), NULL, 'permanent', NULL),
    ('test', 'one', 'email', '2', now(), NULL, 'uncertain', NULL),
    ('test', 'four', 'email', '1', NULL, now(), NULL, NULL)`,
		`INSERT INTO webhook_events (environment, event_id, type, kind, body) VALUES ('test', 'evt', 't', 'other', 'a body')`,
		`INSERT INTO email_evidence (event_id, type, message_id, delivery, detail, body) VALUES ('ev', 't', 'theirs', 'sent', '', 'a body')`,
	} {
		if _, err := pool.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ledger.Migrate(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	rows, _ := pool.Query(t.Context(), `SELECT session || ' ' || step || ' ' || reason FROM attention`)
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"one access_change access_not_changed", "one email email_outcome_unknown", "one reversal refund_names_no_item",
		"three payment payment_not_retrievable", "two reversal refund_not_retrievable",
	}
	if slices.Sort(got); cmp.Diff(want, got) != "" {
		t.Errorf("on the list (-want +got):\n%s", cmp.Diff(want, got))
	}
	var changes, events, evidence int
	if err := pool.QueryRow(t.Context(), `
SELECT (SELECT count(*) FROM obligations WHERE kind = 'access_change'), (SELECT count(*) FROM webhook_events), (SELECT count(*) FROM email_evidence)`).
		Scan(&changes, &events, &evidence); err != nil {
		t.Fatal(err)
	}
	if changes != 1 || events != 1 || evidence != 0 {
		t.Errorf("%d changes of access, %d events, %d events about emails of others", changes, events, evidence)
	}
}
