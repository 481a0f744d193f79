package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/web"
	"handover/internal/web/webhook"
)

const paid = `{"ID":"evt_1","Type":"checkout.completed","Kind":"checkout","Mode":"test","Session":"cs_test_1"}`

func post(s *shop, path string, body []byte, header ...string) *httptest.ResponseRecorder {
	return send(s, http.MethodPost, path, body, append([]string{"Test-Signature", sign(body)}, header...)...)
}

func send(s http.Handler, method, path string, body []byte, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://shop.test/", bytes.NewReader(body))
	r.URL.Path, r.URL.RawQuery, _ = strings.Cut(path, "?")
	r.URL.RawPath = ""
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func TestPaymentWebhookAnswers(t *testing.T) {
	t.Parallel()
	event := func(from, to string) string { return strings.Replace(paid, from, to, 1) }
	tests := []struct {
		name, path, body, signature string
		status, stored              int
	}{
		{"stored", "test", paid, "", 200, 1},
		{"an event that is no checkout", "test", `{"ID":"evt_2","Type":"invoice.paid","Kind":"other"}`, "", 200, 1},
		{"an event without a mode", "test", event(`"test"`, `""`), "", 200, 1},
		{"unknown environment", "nowhere", paid, "", 404, 0},
		{"ill-formed environment", "TEST", paid, "", 404, 0},
		{"signature missing", "test", paid, "-", 401, 0},
		{"signature wrong", "test", paid, "00", 401, 0},
		{"signature stale", "test", paid, "stale", 401, 0},
		{"other mode", "live", event("cs_test_1", "cs_live_1"), "", 400, 0},
		{"session of the other mode", "test", event("cs_test_1", "cs_live_1"), "", 400, 0},
		{"checkout without a session", "test", event("cs_test_1", ""), "", 400, 0},
		{"no JSON", "test", paid + "[", "", 400, 0},
		{"empty", "test", "", "", 400, 0},
		{"no id", "test", event("evt_1", ""), "", 400, 0},
		{"no type", "test", event("checkout.completed", ""), "", 400, 0},
		{"zero byte in the id", "test", event("evt_1", `evt\u0000`), "", 400, 0},
		{"endless id", "test", event("evt_1", strings.Repeat("e", 501)), "", 400, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			signature := test.signature
			if signature == "" {
				signature = sign([]byte(test.body))
			}
			w := send(s, "POST", "/webhooks/payments/"+test.path, []byte(test.body), "Test-Signature", strings.Trim(signature, "-"))
			if w.Code != test.status || len(s.events) != test.stored {
				t.Errorf("got %d and %d stored, want %d and %d; body %s", w.Code, len(s.events), test.status, test.stored, w.Body)
			}
			if test.status == 200 && w.Body.String() != `{"received":true}`+"\n" {
				t.Errorf("got body %q", w.Body)
			}
			if len(s.answers) != 1 || !strings.HasSuffix(s.answers[0], w.Result().Status[:3]) {
				t.Errorf("counted %v, want one %d", s.answers, test.status)
			}
		})
	}
}

func TestStoredEventIsTheVerifiedOne(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	post(s, "/webhooks/payments/test", []byte(paid))
	want := []ledger.WebhookEvent{{Environment: "test", ID: "evt_1", Type: "checkout.completed", Kind: "checkout", Session: "cs_test_1"}}
	if diff := cmp.Diff(want, s.events); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"test/cs_test_1 evt_1 start"}, s.handed); diff != "" {
		t.Error(diff)
	}
}

func TestOtherMethodsAreRefusedWithAllow(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/webhooks/payments/test", "/webhooks/payments/nowhere", "/webhooks/email"} {
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH"} {
			w := send(newShop(t), method, path, nil)
			if w.Code != 405 || w.Header().Get("Allow") != "POST" {
				t.Errorf("%s %s: got %d, Allow %q", method, path, w.Code, w.Header().Get("Allow"))
			}
		}
	}
	server := httptest.NewServer(newShop(t))
	defer server.Close()
	response, err := http.Head(server.URL + "/webhooks/payments/test")
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(response.Body); response.StatusCode != 405 || len(body) != 0 {
		t.Errorf("HEAD: got %d with %q", response.StatusCode, body)
	}
}

func TestEverySpellingIsServedWithoutRedirect(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]int{
		"/webhooks/payments/test":         200,
		"/webhooks/payments/test/":        200,
		"//webhooks/payments/test":        200,
		"/webhooks//payments/test//":      200,
		"/webhooks/./payments/test":       200,
		"/webhooks/x/../payments/test":    200,
		"/webhooks/payments/test?x=1":     200,
		"/webhooks/payments/test/?x=1":    200,
		"/WEBHOOKS/PAYMENTS/TEST":         404,
		"/webhooks/payments":              404,
		"/webhooks/payments/":             404,
		"/webhooks/payments/test/more":    404,
		"/webhooks":                       404,
		"webhooks/payments/test":          200,
		"/webhooks/payments/te%73t":       404, // decoded once, by net/http
		"/webhooks/payments/test/../test": 200,
	} {
		w := post(newShop(t), path, []byte(paid))
		if w.Code != want || w.Header().Get("Location") != "" {
			t.Errorf("%s: got %d, Location %q, want %d", path, w.Code, w.Header().Get("Location"), want)
		}
	}
}

func TestRefusedSignaturesLookAlike(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/webhooks/payments/test", "/webhooks/email"} {
		s := newShop(t)
		var bodies []string
		for _, signature := range []string{"", "stale", "00", sign([]byte("another body"))} {
			bodies = append(bodies, send(s, "POST", path, []byte(paid), "Test-Signature", signature).Body.String())
		}
		if len(slices.Compact(bodies)) != 1 {
			t.Errorf("%s: bodies differ: %q", path, bodies)
		}
		for _, cause := range []string{"header missing", "301 s old", "no secret made it"} {
			if !strings.Contains(s.log.String(), cause) {
				t.Errorf("%s: log does not say %q", path, cause)
			}
		}
	}
}

func TestBodyIsVerifiedAsItCame(t *testing.T) {
	t.Parallel()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(paid))
	_ = z.Close()
	tests := []struct {
		name         string
		body, signed []byte
		encoding     string
		status       int
	}{
		{"untouched", []byte(paid), []byte(paid), "", 200},
		{"identity", []byte(paid), []byte(paid), "identity", 200},
		{"trailing newline added", []byte(paid + "\n"), []byte(paid), "", 401},
		{"zipped after signing", zipped.Bytes(), []byte(paid), "gzip", 401},
		{"signed over the zipped bytes", zipped.Bytes(), zipped.Bytes(), "gzip", 400},
		{"plain and said to be zipped", []byte(paid), []byte(paid), "gzip", 400},
		{"zipped and not said so", zipped.Bytes(), zipped.Bytes(), "", 400},
	}
	for _, test := range tests {
		s := newShop(t)
		w := send(s, "POST", "/webhooks/payments/test", test.body, "Test-Signature", sign(test.signed), "Content-Encoding", test.encoding)
		if w.Code != test.status || (len(s.events) == 1) != (test.status == 200) {
			t.Errorf("%s: got %d with %d stored, want %d", test.name, w.Code, len(s.events), test.status)
		}
	}
}

func TestContentTypeDecidesNothing(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"application/json; charset=utf-8", "application/json", `Application/JSON;charset="UTF-8"`, "", "text/plain"} {
		if w := post(newShop(t), "/webhooks/payments/test", []byte(paid), "Content-Type", kind); w.Code != 200 {
			t.Errorf("%q: got %d", kind, w.Code)
		}
	}
}

func TestEventsOfOtherAccountsAreIgnored(t *testing.T) {
	t.Parallel()
	tests := []struct {
		environment, account string
		ignored              bool
	}{
		{"test", "", false},
		{"test", "acct_other", true},
		{"connect", "acct_ours", false},
		{"connect", "acct_other", true},
	}
	for _, test := range tests {
		s := newShop(t)
		body := strings.Replace(paid, `{`, `{"Account":"`+test.account+`",`, 1)
		w := post(s, "/webhooks/payments/"+test.environment, []byte(body))
		if w.Code != 200 || len(s.events) != 1 || s.events[0].Ignored != test.ignored || (len(s.handed) == 0) != test.ignored {
			t.Errorf("%s, %q: got %d, %+v, handed over %v", test.environment, test.account, w.Code, s.events, s.handed)
		}
	}
}

// ownedProvider knows the account of its key.
type ownedProvider struct {
	fakeProvider
	err error
}

func (p ownedProvider) OwnAccount(context.Context) (string, error) { return "acct_own", p.err }

// An organisation's endpoint names the receiver's own account, too.
func TestTheKeysOwnAccountIsNotAnother(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		account string
		err     error
		status  int
		ignored bool
	}{
		{"acct_own", nil, 200, false},
		{"acct_other", nil, 200, true},
		{"acct_own", errors.New("away"), 503, false},
		{"", errors.New("away"), 200, false},
	} {
		s := newShop(t, func(d *web.Deps, _ *web.Config) {
			d.Environments["test"] = webhook.Environment{Name: "test", Mode: order.Test, Provider: ownedProvider{fakeProvider{prefix: "cs_test_"}, test.err}}
		})
		w := post(s, "/webhooks/payments/test", []byte(strings.Replace(paid, `{`, `{"Account":"`+test.account+`",`, 1)))
		if w.Code != test.status || test.status == 200 && s.events[0].Ignored != test.ignored || test.status != 200 && len(s.events) != 0 {
			t.Errorf("%q, %v: got %d, %+v", test.account, test.err, w.Code, s.events)
		}
	}
}

func TestStoreFailureAsksForAnotherTry(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/webhooks/payments/test", "/webhooks/email"} {
		s := newShop(t)
		s.storeErr = errors.New("database is away")
		w := post(s, path, []byte(paid))
		if w.Code != 503 || w.Header().Get("Retry-After") != "1" || len(s.handed) != 0 {
			t.Errorf("%s: got %d, Retry-After %q, handed over %v", path, w.Code, w.Header().Get("Retry-After"), s.handed)
		}
	}
}

func TestTemporalAwayIsStill200(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.handErr = errors.New("Temporal is away")
	if w := post(s, "/webhooks/payments/test", []byte(paid)); w.Code != 200 {
		t.Errorf("got %d", w.Code)
	}
	if !strings.Contains(s.log.String(), "not dispatched yet") {
		t.Error("the log does not say so")
	}
}

func TestDuplicateThatBringsNothingStartsNothing(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.next = ledger.Stored{}
	if w := post(s, "/webhooks/payments/test", []byte(paid)); w.Code != 200 || len(s.handed) != 0 {
		t.Errorf("got %d, handed over %v", w.Code, s.handed)
	}
}

func TestStoringIsBoundedAndOutlivesTheCaller(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ctx, hangUp := context.WithCancel(t.Context())
	hangUp()
	r := httptest.NewRequestWithContext(ctx, "POST", "/webhooks/payments/test", strings.NewReader(paid))
	r.Header.Set("Test-Signature", sign([]byte(paid)))
	began := time.Now()
	s.ServeHTTP(httptest.NewRecorder(), r)
	ended := time.Now()
	if len(s.events) != 1 || len(s.handed) != 1 {
		t.Fatalf("stored %d, handed over %d: the caller's hanging up stopped it", len(s.events), len(s.handed))
	}
	for name, limit := range map[context.Context]time.Duration{s.storeCtx: 5 * time.Second, s.handCtx: 3 * time.Second} {
		deadline, bounded := name.Deadline()
		if !bounded || deadline.Before(began.Add(limit)) || deadline.After(ended.Add(limit)) {
			t.Errorf("deadline %v after the start, want %v", deadline.Sub(began), limit)
		}
	}
}

func TestEmailWebhookAnswers(t *testing.T) {
	t.Parallel()
	const bounced = `{"Type":"email.bounced","MessageID":"m_1","Delivery":"bounced"}`
	tests := []struct {
		name, body, signature string
		status, stored        int
	}{
		{"stored", bounced, sign([]byte(bounced)), 200, 1},
		{"signature missing", bounced, "", 401, 0},
		{"signature wrong", bounced, "00", 401, 0},
		{"no JSON", "[", sign([]byte("[")), 400, 0},
		{"no type", "{}", sign([]byte("{}")), 400, 0},
	}
	for _, test := range tests {
		s := newShop(t)
		w := send(s, "POST", "/webhooks/email/", []byte(test.body), "Test-Signature", test.signature)
		if w.Code != test.status || len(s.emails) != test.stored {
			t.Errorf("%s: got %d with %d stored", test.name, w.Code, len(s.emails))
		}
	}
}

func TestEmailWebhookWithoutSecretRefusesEverything(t *testing.T) {
	t.Parallel()
	s := newShop(t, func(d *web.Deps, _ *web.Config) { d.EmailWebhook = nil })
	if w := post(s, "/webhooks/email", []byte(`{"Type":"email.sent"}`)); w.Code != 401 || len(s.emails) != 0 {
		t.Errorf("got %d with %d stored", w.Code, len(s.emails))
	}
}

func TestBurstIsNeverRateLimited(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for range 200 {
		if w := post(s, "/webhooks/payments/test", []byte(paid)); w.Code != 200 {
			t.Fatalf("got %d", w.Code)
		}
	}
}
