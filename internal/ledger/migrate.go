package ledger

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// lockWait bounds how long a migration waits for a table that another session holds: whoever asks for the table after it
// waits behind it.
const lockWait = 5 * time.Second

// Migrate brings the schema up to this binary's version and returns how many migrations it ran. Processes that start
// together wait for each other on an advisory lock. The migrations run on a connection of their own, without the pool's
// limit on a statement, because building an index may take longer; one that cannot finish is an error that says so.
func Migrate(ctx context.Context, pool *pgxpool.Pool) (int, error) {
	config := pool.Config().ConnConfig.Copy()
	unlimited := map[string]string{
		"statement_timeout": "0", "idle_in_transaction_session_timeout": "0", "lock_timeout": strconv.FormatInt(lockWait.Milliseconds(), 10),
	}
	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		return configure(ctx, conn, unlimited)
	}))
	defer db.Close()
	provider, err := migrator(db)
	if err != nil {
		return 0, err
	}
	results, err := provider.Up(ctx)
	var partial *goose.PartialError
	if errors.As(err, &partial) {
		return len(partial.Applied), safe(fmt.Sprintf("migration %d cannot finish", partial.Failed.Source.Version), err)
	}
	if err != nil {
		return 0, safe("migrate", err)
	}
	return len(results), nil
}

// ErrNotMigrated means that the schema is older than this program.
var ErrNotMigrated = errors.New("run starter migrate")

// Migrated returns nil when the schema is at this binary's version or a later one.
func Migrated(ctx context.Context, pool *pgxpool.Pool) error {
	var current, wanted int64
	err := pool.QueryRow(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&current)
	var answer *pgconn.PgError
	if errors.As(err, &answer) && answer.Code == "42P01" { // undefined_table: nothing was ever migrated
		err = nil
	}
	if err != nil {
		return safe("read the schema's version", err)
	}
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	for _, name := range names {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return err
		}
		wanted = max(wanted, version)
	}
	if current < wanted {
		return fmt.Errorf("the ledger's schema is at version %d and %d is needed: %w", current, wanted, ErrNotMigrated)
	}
	return nil
}

func migrator(db *sql.DB) (*goose.Provider, error) {
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 60))
	if err != nil {
		return nil, err
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, db, files, goose.WithSessionLocker(locker))
}
