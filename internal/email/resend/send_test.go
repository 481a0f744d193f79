package resend_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/email"
	"handover/internal/email/resend"
	"handover/internal/order"
)

const key = "handover/test/cs_test_a1/email/1"

var letter = order.Message{
	From: "Example Shop <orders@example.com>", To: "private+1@example.org", ReplyTo: "help@example.com",
	Subject: `Tom & "Jerry" <3`, Text: "Here it is.", HTML: `<p>Here it <b>is</b> &amp; "more".</p>`,
	Tags: []order.Tag{{Name: order.TagEnvironment, Value: "test"}, {Name: order.TagSession, Value: "cs_test_a1"}, {Name: order.TagGeneration, Value: "1"}},
}

type received struct {
	method, path, body string
	header             http.Header
}

// inbox stands in for Resend and keeps what it got.
type inbox struct {
	mu  sync.Mutex
	got []received
}

func (i *inbox) all() []received {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.got
}

// api answers every request with h.
func api(t *testing.T, h http.HandlerFunc) (*resend.Provider, *inbox) {
	t.Helper()
	in := &inbox{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		in.mu.Lock()
		in.got = append(in.got, received{r.Method, r.URL.Path, string(body), r.Header.Clone()})
		in.mu.Unlock()
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return provider(t, func(c *resend.Config) { c.APIURL = s.URL + "/api" }), in
}

func accepting(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"id":"9af6-01"}`) }

func TestAMessageIsSentWholeUnderItsKey(t *testing.T) {
	t.Parallel()
	p, in := api(t, accepting)
	id, err := p.Send(t.Context(), key, letter)
	if err != nil || id != "9af6-01" {
		t.Fatalf("id %q, error %v", id, err)
	}
	got := in.all()
	if len(got) != 1 || got[0].method != http.MethodPost || got[0].path != "/api/emails" {
		t.Fatalf("received %+v", got)
	}
	for name, want := range map[string]string{"Idempotency-Key": key, "Authorization": "Bearer re_key", "Content-Type": "application/json"} {
		if value := got[0].header.Get(name); value != want {
			t.Errorf("%s: %q, want %q", name, value, want)
		}
	}
	if got[0].header.Get("User-Agent") == "" {
		t.Error("no User-Agent: Resend refuses such requests")
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(got[0].body), &body); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"from": letter.From, "to": []any{letter.To}, "reply_to": letter.ReplyTo, "subject": letter.Subject, "text": letter.Text, "html": letter.HTML,
		"tags": []any{
			map[string]any{"name": "handover_environment", "value": "test"},
			map[string]any{"name": "handover_session", "value": "cs_test_a1"},
			map[string]any{"name": "handover_generation", "value": "1"},
		},
	}
	if diff := cmp.Diff(want, body); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

func TestTheSameMessageIsTheSameBytes(t *testing.T) {
	t.Parallel()
	stored, err := json.Marshal(letter)
	if err != nil {
		t.Fatal(err)
	}
	var again order.Message
	if err := json.Unmarshal(stored, &again); err != nil {
		t.Fatal(err)
	}
	p, in := api(t, accepting)
	for _, m := range []order.Message{letter, again} {
		if _, err := p.Send(t.Context(), key, m); err != nil {
			t.Fatal(err)
		}
	}
	other, in2 := api(t, accepting)
	if _, err := other.Send(t.Context(), key, letter); err != nil {
		t.Fatal(err)
	}
	got := in.all()
	if got[0].body != got[1].body || got[0].body != in2.all()[0].body {
		t.Errorf("bodies differ:\n%s\n%s\n%s", got[0].body, got[1].body, in2.all()[0].body)
	}
}

// failure makes the call and returns the one kind of error it may give.
func failure(t *testing.T, ctx context.Context, p *resend.Provider) *email.SendError {
	t.Helper()
	id, err := p.Send(ctx, key, letter)
	var e *email.SendError
	if !errors.As(err, &e) {
		t.Fatalf("id %q, error %v; want a SendError", id, err)
	}
	if strings.Contains(err.Error(), "private") {
		t.Errorf("the error holds an address or the provider's text: %v", err)
	}
	return e
}

func TestAnErrorKeepsStatusNameAndWait(t *testing.T) {
	t.Parallel()
	named := func(name string) string {
		return `{"statusCode":400,"name":"` + name + `","message":"private@example.com is not good"}`
	}
	for _, test := range []struct {
		name   string
		status int
		wait   string
		body   string
		want   email.SendError
	}{
		{"validation", 422, "", named("validation_error"), email.SendError{Status: 422, Name: "validation_error"}},
		{"validation of the API key", 400, "", `{"statusCode":400,"name":"validation_error","message":"API key is invalid"}`,
			email.SendError{Status: 400, Name: "invalid_api_key"}},
		{"validation of the sender", 422, "", "{\"name\":\"validation_error\",\"message\":\"Invalid `from` field. private@example.com\"}",
			email.SendError{Status: 422, Name: "invalid_from_address"}},
		{"validation of the domain", 403, "", `{"name":"validation_error","message":"The example.com domain is not verified."}`,
			email.SendError{Status: 403, Name: "invalid_from_address"}},
		{"bad key", 400, "", named("invalid_idempotency_key"), email.SendError{Status: 400, Name: "invalid_idempotency_key"}},
		{"wrong API key", 401, "", named("validation_error"), email.SendError{Status: 401, Name: "validation_error"}},
		{"domain", 403, "", named("invalid_api_key"), email.SendError{Status: 403, Name: "invalid_api_key"}},
		{"other payload", 409, "", named("invalid_idempotent_request"), email.SendError{Status: 409, Name: "invalid_idempotent_request"}},
		{"at the same time", 409, "", named("concurrent_idempotent_requests"), email.SendError{Status: 409, Name: "concurrent_idempotent_requests"}},
		{"rate", 429, "3", named("rate_limit_exceeded"), email.SendError{Status: 429, Name: "rate_limit_exceeded", RetryAfter: 3 * time.Second}},
		{"quota", 429, "", named("daily_quota_exceeded"), email.SendError{Status: 429, Name: "daily_quota_exceeded"}},
		{"rate until a date", 429, "Mon, 02 Mar 2026 10:01:00 GMT", named("rate_limit_exceeded"),
			email.SendError{Status: 429, Name: "rate_limit_exceeded", RetryAfter: time.Minute}},
		{"server error", 500, "", named("application_error"), email.SendError{Status: 500, Name: "application_error"}},
		{"an undocumented name", 418, "", named("private"), email.SendError{Status: 418}},
		{"name in another letter case", 422, "", named("Validation_Error"), email.SendError{Status: 422}},
		{"HTML", 502, "", `<html>private</html>`, email.SendError{Status: 502}},
		{"empty", 503, "9", ``, email.SendError{Status: 503, RetryAfter: 9 * time.Second}},
		{"a redirect", 307, "", `{"id":"9af6-01"}`, email.SendError{Status: 307}},
		{"a redirect that becomes GET", 302, "", `{"id":"9af6-01"}`, email.SendError{Status: 302}},
		{"broken success", 200, "", `{"id":`, email.SendError{Status: 200, Unreadable: true}},
		{"HTML in a success", 200, "", `<html>private</html>`, email.SendError{Status: 200, Unreadable: true}},
		{"empty success", 200, "", ``, email.SendError{Status: 200, Unreadable: true}},
		{"success without an id", 200, "", `{}`, email.SendError{Status: 200, Unreadable: true}},
		{"success with another id", 201, "", `{"id":"private@example.com"}`, email.SendError{Status: 201, Unreadable: true}},
		{"success without a body", 204, "", ``, email.SendError{Status: 204, Unreadable: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, in := api(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Date", "Mon, 02 Mar 2026 10:00:00 GMT")
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Location", "/elsewhere")
				if test.wait != "" {
					w.Header().Set("Retry-After", test.wait)
				}
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.body)
			})
			if diff := cmp.Diff(test.want, *failure(t, t.Context(), p)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if n := len(in.all()); n != 1 {
				t.Errorf("%d requests, want 1: neither retries nor redirects", n)
			}
		})
	}
}

func TestAKeyThatIsNoneIsNotSent(t *testing.T) {
	t.Parallel()
	p, in := api(t, accepting)
	for _, k := range []string{"", strings.Repeat("k", 257), "a b", "a\nb", "ü"} {
		_, err := p.Send(t.Context(), k, letter)
		var e *email.SendError
		if !errors.As(err, &e) || e.Status != 400 || e.Name != "invalid_idempotency_key" {
			t.Errorf("key of %d characters: error %v", len(k), err)
		}
	}
	if n := len(in.all()); n != 0 {
		t.Errorf("%d requests, want none", n)
	}
	if _, err := p.Send(t.Context(), strings.Repeat("k", 256), letter); err != nil {
		t.Errorf("a key of 256 characters: %v", err)
	}
}

func TestNoAnswerIsStatusZero(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
	t.Cleanup(func() { close(over); s.Close() })
	dropping := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(dropping.Close)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		name, url string
		ctx       context.Context
		timeout   time.Duration
	}{
		{"hanging", s.URL, t.Context(), 50 * time.Millisecond},
		{"cancelled", s.URL, cancelled, time.Minute},
		{"taken and dropped", dropping.URL, t.Context(), time.Minute},
		{"refused", "http://127.0.0.1:1", t.Context(), time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := provider(t, func(c *resend.Config) { c.APIURL, c.CallTimeout = test.url, test.timeout })
			if e := failure(t, test.ctx, p); *e != (email.SendError{}) {
				t.Errorf("error %+v, want none of the provider's", e)
			}
		})
	}
}

// The success has been seen, so the message was accepted; only its id is lost.
func TestASuccessThatBreaksOffIsUnreadable(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"id":`)
		w.(http.Flusher).Flush()
		<-over
	}))
	t.Cleanup(func() { close(over); s.Close() })
	p := provider(t, func(c *resend.Config) { c.APIURL, c.CallTimeout = s.URL, 200*time.Millisecond })
	want := email.SendError{Status: 200, Unreadable: true}
	if e := failure(t, t.Context(), p); *e != want {
		t.Errorf("error %+v, want %+v", *e, want)
	}
}

// A kept connection that the server has closed must not make the client send the message twice by itself.
func TestADeadConnectionIsNotSentTwice(t *testing.T) {
	t.Parallel()
	var calls int
	p, in := api(t, func(w http.ResponseWriter, r *http.Request) {
		if calls++; calls == 2 {
			panic(http.ErrAbortHandler)
		}
		accepting(w, r)
	})
	if _, err := p.Send(t.Context(), key, letter); err != nil {
		t.Fatal(err)
	}
	if e := failure(t, t.Context(), p); e.Status != 0 {
		t.Errorf("status %d, want 0", e.Status)
	}
	if n := len(in.all()); n != 2 {
		t.Errorf("%d requests for two sends", n)
	}
}

// Mail programs fold messages of one subject, and hide the new link as quoted text.
func TestAGenerationIsAMessageOfItsOwnToMailPrograms(t *testing.T) {
	t.Parallel()
	p, in := api(t, accepting)
	for _, ref := range []string{"", "HO-7K3M9QXT/2"} {
		m := letter
		m.EntityRef = ref
		if _, err := p.Send(t.Context(), key, m); err != nil {
			t.Fatal(err)
		}
	}
	bodies := in.all()
	if strings.Contains(bodies[0].body, "headers") || !strings.Contains(bodies[1].body, `"X-Entity-Ref-ID":"HO-7K3M9QXT/2"`) {
		t.Errorf("sent %s and %s", bodies[0].body, bodies[1].body)
	}
}
