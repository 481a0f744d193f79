package paymenttest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"handover/internal/order"
	"handover/internal/payment"
)

// hangTimeout is the call timeout against a provider that does not answer; patience is when that has failed.
const (
	hangTimeout = 100 * time.Millisecond
	patience    = 5 * time.Second
)

// calls are the methods that ask the provider, each about a sale that it knows.
func (s Subject) calls(sold Sold) map[string]func(context.Context, payment.Provider) error {
	calls := map[string]func(context.Context, payment.Provider) error{
		"session": func(ctx context.Context, p payment.Provider) error {
			_, err := p.Session(ctx, sold.Session)
			return err
		},
		"reversals": func(ctx context.Context, p payment.Provider) error {
			_, err := p.Reversals(ctx, sold.Ref)
			return err
		},
		"paid sessions": func(ctx context.Context, p payment.Provider) error {
			_, _, err := p.PaidSessions(ctx, time.Now().Add(-time.Hour), "")
			return err
		},
	}
	if s.Can.NamesSessions {
		calls["session of"] = func(ctx context.Context, p payment.Provider) error {
			_, err := p.SessionOf(ctx, sold.Ref)
			return err
		}
	}
	return calls
}

func (s Subject) failures(t *testing.T) {
	for _, test := range []struct {
		status int
		wait   time.Duration
	}{
		{http.StatusUnauthorized, 0}, {http.StatusForbidden, 0}, {http.StatusBadRequest, 0},
		{http.StatusTooManyRequests, 7 * time.Second}, {http.StatusInternalServerError, 0}, {http.StatusServiceUnavailable, 3 * time.Second},
	} {
		t.Run(fmt.Sprint(test.status), func(t *testing.T) {
			t.Parallel()
			world := s.World(t)
			sold := world.Sell(t, Sale{Status: payment.StatusPaid, Price: 1200, Buyer: ada})
			world.Refuse(t, test.status, test.wait)
			p := s.at(t, world.APIURL())
			for name, call := range s.calls(sold) {
				if e := apiError(t, name, call(t.Context(), p)); e.Status != test.status || e.RetryAfter != test.wait {
					t.Errorf("%s: status %d, wait %s; want %d, %s", name, e.Status, e.RetryAfter, test.status, test.wait)
				}
			}
		})
	}
	t.Run("unknown", func(t *testing.T) {
		t.Parallel()
		p := s.at(t, s.World(t).APIURL())
		if _, err := p.Session(t.Context(), s.Session(order.Test)); !permanent(err) {
			t.Errorf("an unknown session: error %v, want a final one", err)
		}
		if r, err := p.Reversals(t.Context(), s.Ref()); !permanent(err) {
			t.Errorf("an unknown payment: %+v, error %v; want a final one", r, err)
		}
		if found, err := p.SessionOf(t.Context(), s.Ref()); found != "" || err != nil {
			t.Errorf("the session of an unknown payment: %q, error %v; want none", found, err)
		}
	})
	t.Run("no answer", func(t *testing.T) {
		t.Parallel()
		world := s.World(t)
		sold := world.Sell(t, Sale{Status: payment.StatusPaid, Price: 1200, Buyer: ada})
		world.Hang(t)
		p := s.open(t, func(c *Settings) { c.APIURL, c.CallTimeout = world.APIURL(), hangTimeout })
		for name, call := range s.calls(sold) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			if e := apiError(t, name, call(ctx, p)); *e != (payment.APIError{}) {
				t.Errorf("%s: %+v, want no answer", name, *e)
			}
			if ctx.Err() != nil {
				t.Errorf("%s: took longer than %s with a call timeout of %s", name, patience, hangTimeout)
			}
			cancel()
		}
	})
	t.Run("nobody listens", func(t *testing.T) {
		t.Parallel()
		p := s.open(t, nil)
		for name, call := range s.calls(Sold{Session: s.Session(order.Test), Ref: s.Ref()}) {
			if e := apiError(t, name, call(t.Context(), p)); *e != (payment.APIError{}) {
				t.Errorf("%s: %+v, want no answer", name, *e)
			}
		}
	})
	t.Run("an answer that cannot be read is none", func(t *testing.T) {
		t.Parallel()
		world := s.World(t)
		sold := world.Sell(t, Sale{Status: payment.StatusPaid, Price: 1200, Buyer: ada})
		p := s.at(t, through(t, world.APIURL(), func([]byte) []byte { return []byte("<html>try later</html>") }))
		for name, call := range s.calls(sold) {
			if e := apiError(t, name, call(t.Context(), p)); e.Status != 0 && e.Status < 500 {
				t.Errorf("%s: %+v, want what may be tried again", name, *e)
			}
		}
	})
}

func apiError(t *testing.T, name string, err error) *payment.APIError {
	t.Helper()
	var e *payment.APIError
	if !errors.As(err, &e) {
		t.Fatalf("%s: error %v, want an APIError", name, err)
	}
	return e
}
