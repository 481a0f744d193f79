package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"handover/internal/ledger"
	"handover/internal/order"
)

// openLedger opens the database for one command. It has to answer.
func (c *console) openLedger() (*ledger.Ledger, *pgxpool.Pool, error) {
	url, _ := c.getenv("DATABASE_URL")
	if strings.TrimSpace(url) == "" {
		return nil, nil, errors.New("DATABASE_URL is not set: it is the Postgres URL that the starter and the worker run with")
	}
	pool, err := ledger.Connect(c.ctx, strings.TrimSpace(url), nil)
	if err != nil {
		return nil, nil, err
	}
	asked, cancel := context.WithTimeout(c.ctx, 8*time.Second)
	defer cancel()
	if err := pool.Ping(asked); err != nil {
		pool.Close()
		return nil, nil, ledger.Explain(err)
	}
	return ledger.New(pool), pool, nil
}

// withOrder opens the database, finds the order that was written, and calls f with both.
func (c *console) withOrder(written string, f func(*ledger.Ledger, order.View) error) error {
	l, closeLedger, err := c.migrated()
	if err != nil {
		return err
	}
	defer closeLedger()
	v, err := readOrder(c.ctx, l, written)
	if err != nil {
		return err
	}
	return f(l, v)
}

// migrated opens the database and refuses a schema that is older than this binary.
func (c *console) migrated() (*ledger.Ledger, func(), error) {
	l, pool, err := c.openLedger()
	if err != nil {
		return nil, nil, err
	}
	if err := ledger.Migrated(c.ctx, pool); err != nil {
		pool.Close()
		return nil, nil, fmt.Errorf("the database has not been migrated: run starter migrate (%w)", err)
	}
	return l, pool.Close, nil
}

// readOrder reads one order by its written key.
func readOrder(ctx context.Context, l *ledger.Ledger, written string) (order.View, error) {
	key, err := order.ParseKey(written)
	if err != nil {
		return order.View{}, fmt.Errorf("%w: %q is %w", errUsage, written, err)
	}
	v, err := l.Order(ctx, key)
	if errors.Is(err, ledger.ErrNotFound) {
		return v, fmt.Errorf("order %s is %w: no webhook has told of it", key, err)
	}
	return v, err
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

type migrateCommand struct {
	JSON bool `help:"Print JSON."`
}

func (m *migrateCommand) Run(c *console) error {
	_, pool, err := c.openLedger()
	if err != nil {
		return err
	}
	defer pool.Close()
	ran, err := ledger.Migrate(c.ctx, pool)
	if err != nil {
		return err
	}
	if m.JSON {
		return printJSON(c.out, map[string]int{"migrations": ran})
	}
	if ran == 0 {
		fmt.Fprintln(c.out, "The schema is up to date.")
		return nil
	}
	fmt.Fprintf(c.out, "The schema is up to date: %d migrations run.\n", ran)
	return nil
}
