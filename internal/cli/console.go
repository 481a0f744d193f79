package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"handover/internal/app"
	"handover/internal/config"
	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/payment"
)

// pingTimeout bounds how long a command waits for the database to respond.
const pingTimeout = 8 * time.Second

// workerTimeout bounds how long a command waits for a worker to decide its request.
const workerTimeout = 10 * time.Second

// console is what a command works with. Tests replace the clock, the operator's name, Temporal and the providers.
type console struct {
	Streams
	ctx       context.Context
	now       func() time.Time
	who       string
	wait      time.Duration
	dial      dialer
	providers func(config.Config) (map[string]payment.Provider, error)
}

func newConsole(ctx context.Context, streams Streams) *console {
	return &console{Streams: streams, ctx: ctx, now: time.Now, who: operator(), wait: workerTimeout, dial: dialTemporal, providers: app.Providers}
}

// operator is the name that the audit records.
func operator() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		if sudo := os.Getenv("SUDO_USER"); u.Uid == "0" && sudo != "" {
			return sudo // who became root, and not root
		}
		return u.Username
	}
	return "operator"
}

// openPool opens the database for one command. It has to respond.
func (c *console) openPool() (*pgxpool.Pool, config.Process, error) {
	settings, err := app.Settings(app.Starter, c.Getenv)
	if err != nil {
		return nil, settings, err
	}
	pool, err := ledger.Connect(c.ctx, settings.DatabaseURL)
	if err != nil {
		return nil, settings, err
	}

	pinging, cancel := context.WithTimeout(c.ctx, pingTimeout)
	defer cancel()
	if err := pool.Ping(pinging); err != nil {
		pool.Close()
		return nil, settings, ledger.Explain(err)
	}
	return pool, settings, nil
}

// connect opens the ledger, refuses a schema that is older than this program, and calls f.
func (c *console) connect(f func(*connection) error) error {
	pool, settings, err := c.openPool()
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := ledger.Migrated(c.ctx, pool); err != nil {
		if !errors.Is(err, ledger.ErrNotMigrated) {
			return ledger.Explain(err)
		}
		return fmt.Errorf("the database has not been migrated: %w", err)
	}

	connected := &connection{console: c, settings: settings, ledger: ledger.New(pool), hangUp: func() {}}
	defer func() { connected.hangUp() }()
	return f(connected)
}

// withOrder calls f with the order of that name.
func (c *console) withOrder(name string, f func(*connection, order.View) error) error {
	return c.connect(func(cn *connection) error {
		v, err := cn.readOrder(name)
		if err != nil {
			return err
		}
		return f(cn, v)
	})
}

func (c *console) printJSON(v any) error {
	e := json.NewEncoder(c.Out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// await calls done until it is true, fails, or the limit is over. It says whether done was true.
func await(ctx context.Context, limit time.Duration, done func() (bool, error)) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok, err := done(); ok || err != nil {
			return ok, err
		}
		select {
		case <-ctx.Done():
			return false, nil
		case <-tick.C:
		}
	}
}

// orderKey is the order that a person names, by its reference or by its key.
func (cn *connection) orderKey(name string) (order.Key, error) {
	if reference, ok := order.ParseReference(name); ok {
		key, err := cn.ledger.KeyOf(cn.ctx, reference)
		if errors.Is(err, ledger.ErrNotFound) {
			return order.Key{}, fmt.Errorf("order %s is %w: no order has this reference", reference, err)
		}
		return key, err
	}
	key, err := order.ParseKey(name)
	if err != nil {
		return order.Key{}, fmt.Errorf("%w: %q is %w", errUsage, name, err)
	}
	return key, nil
}

// readOrder reads one order by its name.
func (cn *connection) readOrder(name string) (order.View, error) {
	key, err := cn.orderKey(name)
	if err != nil {
		return order.View{}, err
	}
	v, err := cn.ledger.Order(cn.ctx, key)
	if errors.Is(err, ledger.ErrNotFound) {
		return v, fmt.Errorf("order %s is %w: no webhook has come for it", key, err)
	}
	return v, err
}
