package creem_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/payment"
	"handover/internal/payment/creem"
)

// failure makes a call and returns the one kind of error it may give.
func failure(t *testing.T, p *creem.Provider) *payment.APIError {
	t.Helper()
	f, err := p.Session(t.Context(), "ch_1")
	var e *payment.APIError
	if !errors.As(err, &e) {
		t.Fatalf("facts %+v, error %v; want an APIError", f, err)
	}
	if strings.Contains(err.Error(), "private") {
		t.Errorf("the error repeats the provider's text: %v", err)
	}
	return e
}

func TestAnErrorKeepsStatusAndWaitAndNothingElse(t *testing.T) {
	t.Parallel()
	const said = `{"trace_id":"private","status":400,"error":"private","message":["private@example.com"]}`
	for _, test := range []struct {
		name   string
		status int
		wait   string
		body   string
		want   payment.APIError
	}{
		{"bad request", 400, "", said, payment.APIError{Status: 400}},
		{"wrong key", 403, "", said, payment.APIError{Status: 403}},
		{"unknown", 404, "", said, payment.APIError{Status: 404}},
		{"rate limit", 429, "7", said, payment.APIError{Status: 429, RetryAfter: 7 * time.Second}},
		{"rate limit, no wait", 429, "", `private`, payment.APIError{Status: 429}},
		{"server error", 500, "", `<html>private</html>`, payment.APIError{Status: 500}},
		{"a redirect", 302, "", checkout(`"status":"completed","order":` + wholeOrder), payment.APIError{Status: 302}},
		{"HTML in a success", 200, "", `<html>private</html>`, payment.APIError{}},
		{"an empty success", 200, "", ``, payment.APIError{}},
		{"a list in a success", 200, "", `[]`, payment.APIError{}},
		{"a success without a body", 204, "", ``, payment.APIError{}},
		{"another checkout", 200, "", `{"id":"ch_2","status":"completed"}`, payment.APIError{Status: 200, Code: "wrong_checkout"}},
		{"no checkout at all", 200, "", `{}`, payment.APIError{Status: 200, Code: "wrong_checkout"}},
		{"a mebibyte", 200, "", `{"id":"ch_1","metadata":"` + strings.Repeat("x", 1<<20) + `"}`, payment.APIError{Status: 200, Code: "answer_too_large"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				calls.Add(1)
				if test.wait != "" {
					w.Header().Set("Retry-After", test.wait)
				}
				w.Header().Set("Location", "/v1/elsewhere")
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.body)
			}))
			t.Cleanup(s.Close)
			if diff := cmp.Diff(test.want, *failure(t, provider(t, func(c *creem.Config) { c.APIURL = s.URL }))); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if n := calls.Load(); n != 1 {
				t.Errorf("%d calls, want 1: retrying is not done here", n)
			}
		})
	}
}

func TestALargeAnswerThatFitsIsRead(t *testing.T) {
	t.Parallel()
	p, _ := serve(t, map[string]string{checkouts: checkout(`"status":"pending","metadata":{"k":"` + strings.Repeat("x", 1<<19) + `"}`)})
	if f := retrieve(t, p); f.Status != payment.StatusOpen {
		t.Errorf("status %q", f.Status)
	}
}

func TestHalfAnAnswerIsNone(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"id":"ch_1"`)
	}))
	t.Cleanup(s.Close)
	if e := failure(t, provider(t, func(c *creem.Config) { c.APIURL = s.URL })); *e != (payment.APIError{}) {
		t.Errorf("error %+v, want none of the provider's", *e)
	}
}
