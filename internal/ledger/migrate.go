package ledger

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate brings the schema up to this binary's version and returns how many migrations it ran. Processes that start
// together wait for each other on an advisory lock.
func Migrate(ctx context.Context, pool *pgxpool.Pool) (int, error) {
	provider, err := migrator(pool)
	if err != nil {
		return 0, err
	}
	defer provider.Close() // its own view of the pool, which stays open
	results, err := provider.Up(ctx)
	if err != nil {
		return 0, fmt.Errorf("migrate the ledger: %w", err)
	}
	return len(results), nil
}

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
		return fmt.Errorf("the ledger's schema is at version %d and %d is needed: run starter migrate", current, wanted)
	}
	return nil
}

func migrator(pool *pgxpool.Pool) (*goose.Provider, error) {
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 60))
	if err != nil {
		return nil, err
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, stdlib.OpenDBFromPool(pool), files, goose.WithSessionLocker(locker))
}
