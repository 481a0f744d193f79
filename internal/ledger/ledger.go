// Package ledger holds the facts in Postgres: what the providers reported, what each order entitles to, who works on it,
// and what has stopped. It is the authority; Temporal's history is the first guard and this is the one that lasts.
//
// Times that decide anything are the database's. No transaction spans a network call.
package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Ledger reads and writes the facts. It is safe for concurrent use.
type Ledger struct {
	pool *pgxpool.Pool
}

// New returns a ledger on the pool, which the caller closes.
func New(pool *pgxpool.Pool) *Ledger { return &Ledger{pool: pool} }

// inTx runs f in one transaction.
func (l *Ledger) inTx(ctx context.Context, f func(tx pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, l.pool, f)
}

// queryCanceled is the SQLSTATE of a statement that passed statement_timeout.
const queryCanceled = "57014"

// Unavailable says that an error is the database's absence and not its answer.
func Unavailable(err error) bool {
	if err == nil || errors.Is(err, pgx.ErrNoRows) {
		return false
	}
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		if answer.Code == queryCanceled {
			return false // the statement took too long: it will again
		}
		// 08: connection, 53: out of resources, 57: shutting down, 58: system error.
		switch answer.Code[:min(2, len(answer.Code))] {
		case "08", "53", "57", "58":
			return true
		}
		return false
	}
	return true
}

// Explain says in a person's words why the database could not be opened. The driver's own text, which can quote the
// connection string, stays out of it.
func Explain(err error) error {
	if errors.Is(err, ErrReadOnly) {
		return ErrReadOnly
	}
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		switch answer.Code {
		case "3D000":
			return errors.New("the server of DATABASE_URL has no such database: create it, or correct the name")
		case "28P01", "28000":
			return errors.New("the server of DATABASE_URL refuses the user or the password")
		}
		if pooled(answer) {
			return ErrTransactionPooling
		}
		return fmt.Errorf("the server of DATABASE_URL refuses us: SQLSTATE %s", answer.Code)
	}
	return errors.New("the database of DATABASE_URL does not answer: is it running, and is the address right?")
}

// ErrTransactionPooling means that statements that were prepared in a session are unknown or in the way.
var ErrTransactionPooling = errors.New("DATABASE_URL leads through a pooler that changes the session under us: set its pool_mode = session, or connect to Postgres itself")

// pooled says that a prepared statement was not there, or was there already.
func pooled(answer *pgconn.PgError) bool { return answer.Code == "26000" || answer.Code == "42P05" }

// safe strips a database error of everything that could quote a value, keeping its code.
func safe(action string, err error) error {
	if err == nil {
		return nil
	}
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		if pooled(answer) {
			return fmt.Errorf("ledger: %s: %w: %w", action, ErrTransactionPooling, databaseError{errAnswered{err}})
		}
		return fmt.Errorf("ledger: %s: SQLSTATE %s: %w", action, answer.Code, databaseError{errAnswered{err}})
	}
	if fromDatabase(err) {
		err = databaseError{err}
	}
	return fmt.Errorf("ledger: %s: %w", action, err)
}

// errAnswered keeps a database error for errors.As while hiding its text.
type errAnswered struct{ err error }

func (errAnswered) Error() string   { return "the database refused it" }
func (e errAnswered) Unwrap() error { return e.err }

// ErrNotFound is returned when the ledger has no such order, or no such link.
var ErrNotFound = errors.New("not in the ledger")
