package ledger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// session are the settings of every connection of the pool. A server that stops answering must not hold a lock for longer
// than a claim lasts.
var session = map[string]string{"idle_in_transaction_session_timeout": "10s", "statement_timeout": "20s"}

// Connect opens a pool. It succeeds while the database is away: the first query finds out.
func Connect(ctx context.Context, url string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The driver's error can quote the URL, and so the password.
		return nil, errors.New("DATABASE_URL is not a Postgres URL: write postgres://USER:PASSWORD@HOST:PORT/DATABASE")
	}
	cfg.ConnConfig.ConnectTimeout = 4 * time.Second
	if cfg.ConnConfig.RuntimeParams["application_name"] == "" {
		cfg.ConnConfig.RuntimeParams["application_name"] = "handover"
	}
	if cfg.ConnConfig.ValidateConnect == nil {
		// After a failover the old address may lead to a server that only reads.
		cfg.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error { return configure(ctx, conn, session) }
	cfg.ConnConfig.Tracer = readOnlyTracer{}
	var pool *pgxpool.Pool
	cfg.AfterRelease = func(conn *pgx.Conn) bool {
		only := readsOnly(conn)
		if only {
			go pool.Reset() // what was opened before is on the same server
		}
		return !only
	}
	if cfg.MaxConns < 16 {
		cfg.MaxConns = 16
	}
	pool, err = pgxpool.NewWithConfig(ctx, cfg)
	return pool, err
}

// configure sets what a connection runs with. It is not said at the start of the connection, because PgBouncer refuses
// there what it does not know (https://www.pgbouncer.org/config.html#ignore_startup_parameters).
func configure(ctx context.Context, conn *pgx.Conn, settings map[string]string) error {
	text := ""
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		text += fmt.Sprintf("SET %s = '%s';", name, settings[name])
	}
	_, err := conn.PgConn().Exec(ctx, text).ReadAll()
	return err
}

// readOnly is the SQLSTATE of a write where nothing can be written.
const readOnly = "25006"

// readOnlyTracer notes that a session answered a write with that: its server was demoted under it.
type readOnlyTracer struct{}

const readOnlyMark = "handover: reads only"

func (readOnlyTracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (readOnlyTracer) TraceQueryEnd(_ context.Context, conn *pgx.Conn, data pgx.TraceQueryEndData) {
	markReadOnly(conn, data.Err)
}

func (readOnlyTracer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (readOnlyTracer) TraceBatchQuery(_ context.Context, conn *pgx.Conn, data pgx.TraceBatchQueryData) {
	markReadOnly(conn, data.Err)
}

func (readOnlyTracer) TraceBatchEnd(_ context.Context, conn *pgx.Conn, data pgx.TraceBatchEndData) {
	markReadOnly(conn, data.Err)
}

func markReadOnly(conn *pgx.Conn, err error) {
	var answer *pgconn.PgError
	if errors.As(err, &answer) && answer.Code == readOnly {
		conn.PgConn().CustomData()[readOnlyMark] = true
	}
}

// readsOnly says that a connection has to be dropped: the pool would keep it for up to an hour.
func readsOnly(conn *pgx.Conn) bool { return conn.PgConn().CustomData()[readOnlyMark] != nil }

// ErrReadOnly means that the database can be read and not written.
var ErrReadOnly = errors.New("the database can only be read: DATABASE_URL leads to a standby, or the server was demoted")

// Ping says whether the database answers, and can be written.
func (l *Ledger) Ping(ctx context.Context) error {
	return l.pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
		var only bool
		err := conn.QueryRow(ctx, `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'`).Scan(&only)
		if err != nil {
			return safe("ping", err)
		}
		if only {
			conn.Conn().PgConn().CustomData()[readOnlyMark] = true
			return ErrReadOnly
		}
		return nil
	})
}
