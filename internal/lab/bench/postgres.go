package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// postgres reads the server's own counters, through another database than the ledger's: reading is not counted there.
type postgres struct {
	pool     *pgxpool.Pool // of the benchmark's own database
	ledger   string        // name of the ledger's database
	walStats bool          // pg_walinspect is there
}

// reference is the one commit that a webhook's answer is held against.
const reference = `CREATE TABLE commits (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body bytea NOT NULL)`

const benchDatabase = "handover_bench"

func openPostgres(ctx context.Context, url string) (*postgres, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("DATABASE_URL is not a Postgres URL")
	}
	p := &postgres{ledger: config.ConnConfig.Database}
	admin := config.ConnConfig.Copy()
	admin.Database = "postgres"
	conn, err := pgx.ConnectConfig(ctx, admin)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+benchDatabase+" TEMPLATE template0"); err != nil {
		return nil, fmt.Errorf("make the benchmark's own database: %w", err)
	}
	config.ConnConfig.Database = benchDatabase
	if p.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, err
	}
	if _, err := p.pool.Exec(ctx, reference); err != nil {
		return nil, err
	}
	_, err = p.pool.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS pg_walinspect")
	p.walStats = err == nil
	return p, nil
}

// commit writes one row of the size of an event.
func (p *postgres) commit(ctx context.Context, body []byte) error {
	_, err := p.pool.Exec(ctx, "INSERT INTO commits (body) VALUES ($1)", body)
	return err
}

// checkpoint makes every page fresh for what follows, so that each run logs the same whole pages.
func (p *postgres) checkpoint(ctx context.Context) error {
	_, err := p.pool.Exec(ctx, "CHECKPOINT")
	return err
}

// position is where the log and the transactions are at a moment.
type position struct {
	wal     string // a pg_lsn
	written int64  // transactions that have written, ever
}

func (p *postgres) position(ctx context.Context) (position, error) {
	var at position
	err := p.pool.QueryRow(ctx, "SELECT pg_current_wal_flush_lsn()::text, pg_snapshot_xmax(pg_current_snapshot())::text::bigint").
		Scan(&at.wal, &at.written)
	return at, err
}

// written is what was written between two positions.
type written struct {
	bytes        int64
	transactions int64
	pages        int64 // bytes of whole pages, which are logged at their first change after a checkpoint
}

func (w *written) add(x written) {
	w.bytes, w.transactions, w.pages = w.bytes+x.bytes, w.transactions+x.transactions, w.pages+x.pages
}

func (p *postgres) between(ctx context.Context, from, to position) (written, error) {
	w := written{transactions: to.written - from.written}
	if err := p.pool.QueryRow(ctx, "SELECT ($2::pg_lsn - $1::pg_lsn)::bigint", from.wal, to.wal).Scan(&w.bytes); err != nil {
		return w, err
	}
	if !p.walStats {
		return w, nil
	}
	err := p.pool.QueryRow(ctx, `SELECT coalesce(sum(fpi_size), 0)::bigint FROM pg_get_wal_stats($1::pg_lsn, $2::pg_lsn)`, from.wal, to.wal).
		Scan(&w.pages)
	return w, err
}

// commits are the ledger's, reads included, and the server's whole pages. A backend reports its own within a second
// while it works and after ten when it does not: see settled.
type commits struct {
	n     int64
	pages int64
	at    time.Time
}

func (p *postgres) commits(ctx context.Context) (commits, error) {
	c := commits{at: time.Now()}
	err := p.pool.QueryRow(ctx, "SELECT xact_commit, (SELECT wal_fpi FROM pg_stat_wal) FROM pg_stat_database WHERE datname = $1", p.ledger).
		Scan(&c.n, &c.pages)
	return c, err
}

// reporting is how long an idle backend keeps its counts to itself, and a little more.
const reporting = 11 * time.Second

// settled are the commits after every backend has reported.
func (p *postgres) settled(ctx context.Context) (commits, error) {
	select {
	case <-time.After(reporting):
	case <-ctx.Done():
		return commits{}, ctx.Err()
	}
	return p.commits(ctx)
}
