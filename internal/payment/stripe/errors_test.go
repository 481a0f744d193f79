package stripe_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/payment/stripe"
)

// failure makes the call and returns the one kind of error it may give.
func failure(t *testing.T, ctx context.Context, p *stripe.Provider, id string) *payment.APIError {
	t.Helper()
	f, err := p.Session(ctx, id)
	var e *payment.APIError
	if !errors.As(err, &e) {
		t.Fatalf("facts %+v, error %v; want an APIError", f, err)
	}
	if strings.Contains(err.Error(), "private") {
		t.Errorf("the error repeats the provider's text: %v", err)
	}
	return e
}

func TestAnErrorKeepsStatusCodeAndWait(t *testing.T) {
	t.Parallel()
	const said = `{"error":{"type":"invalid_request_error","message":"private@example.com","code":"`
	for _, test := range []struct {
		name   string
		status int
		wait   string
		body   string
		want   payment.APIError
	}{
		{"unknown session", 404, "", said + `resource_missing"}}`, payment.APIError{Status: 404, Code: "resource_missing"}},
		{"wrong key", 401, "", `{"error":{"type":"invalid_request_error","message":"Invalid API Key provided: private"}}`, payment.APIError{Status: 401}},
		{"expired key", 401, "", said + `api_key_expired"}}`, payment.APIError{Status: 401, Code: "api_key_expired"}},
		{"an undocumented code", 400, "", said + `private"}}`, payment.APIError{Status: 400}},
		{"rate limit", 429, "7", said + `rate_limit"}}`, payment.APIError{Status: 429, Code: "rate_limit", RetryAfter: 7 * time.Second}},
		{"rate limit without JSON", 429, "7", `private`, payment.APIError{Status: 429, RetryAfter: 7 * time.Second}},
		{"lock", 429, "", said + `lock_timeout"}}`, payment.APIError{Status: 429, Code: "lock_timeout"}},
		{"server error", 500, "", `{"error":{"type":"api_error","message":"private"}}`, payment.APIError{Status: 500}},
		{"JSON without an error", 503, "2", `{"private":1}`, payment.APIError{Status: 503, RetryAfter: 2 * time.Second}},
		{"HTML", 502, "", `<html>private</html>`, payment.APIError{Status: 502}},
		{"empty", 504, "", ``, payment.APIError{Status: 504}},
		{"a redirect", 302, "", session(`"mode":"payment","payment_status":"paid"`), payment.APIError{Status: 302}},
		{"HTML in a success", 200, "", `<html>private</html>`, payment.APIError{}},
		{"an empty success", 200, "", ``, payment.APIError{}},
		{"another session", 200, "", `{"id":"cs_test_other","mode":"payment","payment_status":"paid"}`, payment.APIError{Status: 200, Code: "wrong_object"}},
		{"no session at all", 200, "", `{}`, payment.APIError{Status: 200, Code: "wrong_object"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			p := api(t, func(w http.ResponseWriter, _ *http.Request) {
				calls.Add(1)
				if test.wait != "" {
					w.Header().Set("Retry-After", test.wait)
				}
				w.Header().Set("Location", "/v1/elsewhere")
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.body)
			})
			if diff := cmp.Diff(test.want, *failure(t, t.Context(), p, "cs_test_a1")); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if n := calls.Load(); n != 1 {
				t.Errorf("%d calls, want 1: retrying is not done here", n)
			}
		})
	}
}

func TestAPageThatFailsFailsTheWhole(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		status int
		body   string
		want   payment.APIError
	}{
		{"server error", 500, `{"error":{"type":"api_error"}}`, payment.APIError{Status: 500}},
		{"HTML", 502, `<html>`, payment.APIError{Status: 502}},
		{"broken", 200, `{"data":[`, payment.APIError{}},
		{"empty, and more to come", 200, `{"data":[],"has_more":true}`, payment.APIError{Status: 200, Code: "endless_list"}},
		{"the same again for ever", 200, list(1, 10, true), payment.APIError{Status: 200, Code: "endless_list"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := api(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == sessionPath {
					_, _ = io.WriteString(w, `{"id":"cs_test_a1","mode":"payment","payment_status":"paid","line_items":`+list(1, 10, true)+`}`)
					return
				}
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.body)
			})
			if diff := cmp.Diff(test.want, *failure(t, t.Context(), p, "cs_test_a1")); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAListWithoutEndEnds(t *testing.T) {
	t.Parallel()
	p := api(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == sessionPath {
			_, _ = io.WriteString(w, `{"id":"cs_test_a1","mode":"payment","line_items":null}`)
			return
		}
		_, _ = io.WriteString(w, `{"has_more":true,"data":[{"description":"without an id","quantity":1}]}`)
	})
	if e := failure(t, t.Context(), p, "cs_test_a1"); e.Code != "endless_list" {
		t.Errorf("code %q, want endless_list", e.Code)
	}
}

// hanging answers nothing until the test is over, or only the beginning of a body.
func hanging(t *testing.T, begin string, timeout time.Duration) *stripe.Provider {
	t.Helper()
	over := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if begin != "" {
			_, _ = io.WriteString(w, begin)
			w.(http.Flusher).Flush()
		}
		<-over
	}))
	t.Cleanup(func() { close(over); s.Close() })
	return provider(t, func(c *stripe.Config) { c.APIURL, c.CallTimeout = s.URL, timeout })
}

func TestACallEndsWithinItsTimeout(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]string{"no answer": "", "half an answer": `{"id":"cs_test_a1"`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if e := failure(t, t.Context(), hanging(t, begin, 50*time.Millisecond), "cs_test_a1"); *e != (payment.APIError{}) {
				t.Errorf("error %+v, want none of the provider's", e)
			}
		})
	}
}

func TestACancelledCallIsNoAnswer(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if e := failure(t, ctx, hanging(t, "", time.Minute), "cs_test_a1"); *e != (payment.APIError{}) {
		t.Errorf("error %+v, want none of the provider's", e)
	}
}

func TestARefusedConnectionIsNoAnswer(t *testing.T) {
	t.Parallel()
	p := provider(t, func(c *stripe.Config) { c.APIURL = "http://127.0.0.1:1" })
	if e := failure(t, t.Context(), p, "cs_test_a1"); *e != (payment.APIError{}) {
		t.Errorf("error %+v, want none of the provider's", e)
	}
}

func TestAnIDOfAnotherKindIsNotAskedFor(t *testing.T) {
	t.Parallel()
	p := api(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("called %s", r.URL) })
	for _, id := range []string{"", "..", "cs_live_a1", "cs_test_a/../b", "pi_1"} {
		want := payment.APIError{Status: 404, Code: "resource_missing"}
		if e := failure(t, t.Context(), p, id); *e != want {
			t.Errorf("%q: error %+v, want %+v", id, e, want)
		}
	}
}

func TestALiveEnvironmentAsksForLiveSessions(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"id":"cs_live_a1","livemode":true,"mode":"setup"}`)
	}))
	t.Cleanup(s.Close)
	p := provider(t, func(c *stripe.Config) { c.APIKey, c.APIURL, c.Mode = "sk_live_key", s.URL, order.Live })
	f, err := p.Session(t.Context(), "cs_live_a1")
	if err != nil || f.Mode != order.Live || f.Session != "cs_live_a1" {
		t.Errorf("facts %+v, error %v", f, err)
	}
}
