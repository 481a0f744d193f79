package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"handover/internal/ledger"
	"handover/internal/order"
)

// TestErrorsTellNothingOfTheBuyer provokes errors that Postgres words with the row's values.
func TestErrorsTellNothingOfTheBuyer(t *testing.T) {
	t.Parallel()
	b := ownEnv(t)
	for _, rule := range []string{
		`CREATE UNIQUE INDEX ON orders (buyer_email, buyer_name)`,
		`ALTER TABLE obligations ADD CHECK (recipient IS NULL OR recipient NOT LIKE '%@%')`,
		`ALTER TABLE grants ADD CHECK (secret = '')`,
		`ALTER TABLE requests ADD CHECK (address IS NULL)`,
	} {
		_, err := b.pool.Exec(t.Context(), rule)
		b.must(err)
	}
	b.pay()
	other := b.another()
	_, sameBuyer := b.RecordPayment(t.Context(), other.paid())
	nul := other.paid()
	nul.Name, nul.Email = name+"\x00", kim
	_, unwritable := b.RecordPayment(t.Context(), nul)
	_, invalid := b.RecordPayment(t.Context(), func() order.Assessment { p := nul; p.Name = name + "\xff"; return p }())
	const secret = "LICENCE-KEY-1"
	_, licence := b.GrantLocal(t.Context(), b.key, ownKinds, func(order.Entitlement) ([]order.Grant, error) {
		return []order.Grant{{Unit: 1, Secret: secret}}, nil
	})
	_, frozen := b.ClaimEmail(t.Context(), b.work(1), terms, render)
	request := b.request("r1")
	request.Address = kim
	filed := b.StoreRequest(t.Context(), request)
	token := b.Finish(t.Context(), b.work(1), alex, "msg")
	_, list := b.List(t.Context(), ledger.Filter{Address: alex + "\x00", Limit: 1})
	for what, err := range map[string]error{
		"a unique index": sameBuyer, "a NUL": unwritable, "no UTF-8": invalid, "a licence key": licence, "a recipient": frozen,
		"a new address": filed, "a token that is none": token, "a list": list,
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
			continue
		}
		for _, told := range []string{alex, kim, name, secret, "example"} {
			if strings.Contains(fmt.Sprintf("%v %+v %s", err, err, err), told) {
				t.Errorf("%s: the error tells %q: %v", what, told, err)
			}
		}
		var answer *pgconn.PgError
		if !errors.As(err, &answer) || !strings.Contains(err.Error(), answer.Code) {
			t.Errorf("%s: the error does not tell its code: %v", what, err)
		}
		if ledger.Unavailable(err) {
			t.Errorf("%s: counts as the database's absence: %v", what, err)
		}
	}
}

func TestAbsentDatabaseIsToldFromItsAnswer(t *testing.T) {
	t.Parallel()
	code := func(c string) error { return fmt.Errorf("wrapped: %w", &pgconn.PgError{Code: c}) }
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"none":                 {nil, false},
		"no rows":              {pgx.ErrNoRows, false},
		"unique violation":     {code("23505"), false},
		"undefined table":      {code("42P01"), false},
		"a code that is none":  {code(""), false},
		"a slow statement":     {code("57014"), false},
		"shutting down":        {code("57P01"), true},
		"starting up":          {code("57P03"), true},
		"too many connections": {code("53300"), true},
		"connection failure":   {code("08006"), true},
		"disk":                 {code("58030"), true},
		"refused":              {&net.OpError{Op: "dial", Err: errors.New("connection refused")}, true},
		"too late":             {context.DeadlineExceeded, true},
	} {
		if got := ledger.Unavailable(test.err); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestDatabaseThatIsAwayIsFoundOutByTheFirstQuery(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	pool := connect(t, "postgres://handover:pass-word@"+address+"/handover")
	l := ledger.New(pool)
	_, err = l.Order(t.Context(), newKey())
	if !ledger.Unavailable(err) || errors.Is(err, ledger.ErrNotFound) || strings.Contains(err.Error(), "pass-word") {
		t.Errorf("got %v", err)
	}
	if err := l.Ping(t.Context()); !ledger.Unavailable(err) {
		t.Errorf("ping: %v", err)
	}
}

func TestBrokenURLIsNotQuoted(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"postgres://user:pass-word@host:port/db", "postgres://user:pass-word@%zz/db", "pass-word"} {
		_, err := ledger.Connect(t.Context(), url)
		if err == nil || strings.Contains(err.Error(), "pass-word") || !strings.Contains(err.Error(), "DATABASE_URL") {
			t.Errorf("got %v", err)
		}
	}
}
