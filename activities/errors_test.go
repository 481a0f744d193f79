package activities

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.temporal.io/sdk/temporal"

	"handover/internal/email"
	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/payment"
)

func TestOwnErrorsAreClassed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err   error
		class order.Class
	}{
		{fmt.Errorf("claim: %w", ledger.ErrNoAddress), order.ClassPermanent},
		{fmt.Errorf("make: %w", errMisconfigured), order.ClassMisconfigured},
		{ledger.ErrLeaseLost, order.ClassRetry},
		{errors.New("connection refused"), order.ClassRetry},
		{fmt.Errorf("send: %w", &email.SendError{}), order.ClassUnknown},
		{fmt.Errorf("read: %w", &payment.APIError{}), order.ClassRetry},
	} {
		if got, _ := classify(c.err); got != c.class {
			t.Errorf("%v: %s, want %s", c.err, got, c.class)
		}
	}
}

func TestDatabaseFailuresAreAClassOfTheirOwn(t *testing.T) {
	t.Parallel()
	pool, err := pgxpool.New(t.Context(), "postgres://nobody@127.0.0.1:1/none?connect_timeout=1")
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	_, err = ledger.New(pool).Snapshot(t.Context(), order.Key{Environment: "test", Session: "cs_1"})
	if class, _ := classify(err); class != order.ClassLedger || class.Final() {
		t.Errorf("%v: %s, want the class of the ledger, which is not final", err, class)
	}
}

// A wait is at least as long as the provider says, doubles with each turn, is bounded, and differs from order to order.
func TestWaitsDoubleWithJitter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said        time.Duration
		turn        int
		least, most time.Duration
	}{
		{0, 0, 2 * time.Second, 2500 * time.Millisecond},
		{0, 3, 16 * time.Second, 20 * time.Second},
		{time.Second, 3, 16 * time.Second, 20 * time.Second},
		{time.Hour, 3, time.Hour, time.Hour + 4*time.Second},
		{0, 9999, 5 * time.Minute, 375 * time.Second},
	} {
		seen := map[time.Duration]bool{}
		for range 50 {
			got := pause(c.said, c.turn)
			if seen[got] = true; got < c.least || got > c.most {
				t.Errorf("turn %d, %s said: %s, want %s to %s", c.turn, c.said, got, c.least, c.most)
			}
		}
		if len(seen) < 10 {
			t.Errorf("turn %d: %d different waits of 50", c.turn, len(seen))
		}
	}
}

func TestOnlyAClassReachesTemporal(t *testing.T) {
	t.Parallel()
	a := New(Deps{Outcomes: uncounted{}, Log: discard}, Config{})
	cause := errors.New("550 alex@example.com refused by re_key")
	for class, final := range map[order.Class]bool{
		order.ClassRetry: false, order.ClassUnknown: false, order.ClassPermanent: true, order.ClassMisconfigured: true,
		order.ClassExhausted: true, order.ClassPastWindow: true, order.ClassUncertain: true,
	} {
		err := a.failed(t.Context(), order.StepEmail, order.Key{Environment: "test", Session: "cs_1"}, class, cause)
		var application *temporal.ApplicationError
		if !errors.As(err, &application) {
			t.Fatalf("%s: %T", class, err)
		}
		if application.Type() != string(class) || application.NonRetryable() != final {
			t.Errorf("%s: type %s, final %v; want final %v", class, application.Type(), application.NonRetryable(), final)
		}
		if application.Message() != "email: "+string(class) || application.Unwrap() != nil {
			t.Errorf("%s: %q with cause %v, want the class and nothing else", class, application.Message(), application.Unwrap())
		}
	}
}
