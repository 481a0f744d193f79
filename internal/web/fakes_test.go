package web_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	accessregistry "handover/internal/access/registry"
	"handover/internal/email"
	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/web"
	"handover/internal/web/pages"
	"handover/internal/web/webhook"
)

// These are fakes of the database, Temporal and the providers, whose own tests use the real ones. Here only the
// responses matter.

const testSecret = "secret of the tests"

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func sign(body []byte) string {
	mac := hmac.New(sha256.New, []byte(testSecret))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

func verify(header http.Header, body []byte) error {
	got := header.Get("Test-Signature")
	switch {
	case got == "":
		return fmt.Errorf("%w: header missing", payment.ErrSignature)
	case got == "stale":
		return fmt.Errorf("%w: 301 s old", payment.ErrSignature)
	case !hmac.Equal([]byte(got), []byte(sign(body))):
		return fmt.Errorf("%w: no secret made it", payment.ErrSignature)
	}
	return nil
}

type fakeProvider struct {
	payment.Reader // no page asks for them
	prefix         string
}

// signed is what can be said of a signature without the body.
func signed(header http.Header) error {
	if got := header.Get("Test-Signature"); got == "" || got == "stale" {
		return verify(header, nil)
	}
	return nil
}

func (fakeProvider) Signed(header http.Header, _ time.Time) error { return signed(header) }

func (fakeProvider) Verify(header http.Header, body []byte, _ time.Time) error {
	return verify(header, body)
}

func (fakeProvider) Translate(body []byte) (payment.Event, error) {
	var event payment.Event
	if err := json.Unmarshal(body, &event); err != nil {
		return event, fmt.Errorf("%w: no JSON", payment.ErrMalformed)
	}
	return event, nil
}

func (p fakeProvider) ValidSession(id string) bool {
	return strings.HasPrefix(id, p.prefix) && order.ValidSession(id)
}

func (fakeProvider) Session(context.Context, string) (payment.Facts, error) {
	return payment.Facts{}, errors.New("pages ask no provider")
}

type fakeMail struct{}

func (fakeMail) Signed(header http.Header, _ time.Time) error { return signed(header) }

func (fakeMail) Verify(header http.Header, body []byte, _ time.Time) (string, error) {
	return "msg_1", verify(header, body)
}

func (fakeMail) Translate(id string, body []byte) (order.EmailEvent, error) {
	event := order.EmailEvent{ID: id}
	if err := json.Unmarshal(body, &event); err != nil {
		return event, fmt.Errorf("%w: no JSON", email.ErrMalformed)
	}
	return event, nil
}

// shop is the whole server over fakes, and everything that it did.
type shop struct {
	http.Handler
	mu       sync.Mutex
	views    map[string]order.View // by order key, and by the hash of a link
	readErr  error
	storeErr error
	handErr  error
	next     ledger.Stored
	resend   pages.BuyerResult

	events     []ledger.WebhookEvent
	emails     []order.EmailEvent
	handed     []string
	answers    []string
	resent     int
	storeCtx   context.Context
	handCtx    context.Context
	log        *lockedBuffer
	now        time.Time
	panicCause any
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (s *shop) Order(_ context.Context, key order.Key) (order.View, error) {
	return s.view(key.String())
}

func (s *shop) OrderByLink(_ context.Context, hash [32]byte) (order.View, error) {
	return s.view(hex.EncodeToString(hash[:]))
}

func (s *shop) view(name string) (order.View, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.panicCause != nil {
		panic(s.panicCause)
	}
	v, found := s.views[name]
	switch {
	case s.readErr != nil:
		return order.View{}, s.readErr
	case !found:
		return order.View{}, fmt.Errorf("order %s: %w", "of the test", ledger.ErrNotFound)
	}
	return v, nil
}

// away makes the ledger fail until it is called with nil.
func (s *shop) away(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readErr = err
}

func (s *shop) set(v order.View) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.views[v.Key.String()] = v
	sum := sha256.Sum256([]byte(token))
	s.views[hex.EncodeToString(sum[:])] = v
}

func (s *shop) StoreEvent(ctx context.Context, e ledger.WebhookEvent) (ledger.Stored, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.storeCtx = ctx
	if err := errors.Join(s.storeErr, ctx.Err()); err != nil {
		return ledger.Stored{}, err
	}
	s.events = append(s.events, e)
	stored := s.next
	if stored.Session = e.Session; e.Kind == "refund" || e.Kind == "dispute" {
		stored.Session = "cs_test_of_" + e.PaymentRef // the order of every payment is known
	}
	return stored, nil
}

func (s *shop) Dispatch(ctx context.Context, key order.Key, event string, next ledger.Next) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handCtx = ctx
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.handed = append(s.handed, fmt.Sprintf("%s %s %s", key, event, next))
	return s.handErr
}

func (s *shop) RecordEmailEvent(_ context.Context, e order.EmailEvent) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.storeErr != nil {
		return false, s.storeErr
	}
	s.emails = append(s.emails, e)
	return true, nil
}

func (s *shop) BuyerResend(context.Context, order.Key) (pages.BuyerResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resent++
	return s.resend, s.storeErr
}

func (s *shop) WebhookAnswer(environment string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, fmt.Sprintf("%s %d", environment, status))
}

func (s *shop) Serve(w http.ResponseWriter, _ *http.Request, name string) error {
	if strings.HasPrefix(name, "missing") {
		return errors.New("not in the bucket")
	}
	_, err := w.Write([]byte("content of " + name))
	return err
}

var catalogue = order.NewCatalogue([]order.Product{
	{ID: "guide", Name: "The Field Guide", SoldAs: []string{"price_1"}, Access: []order.AccessSpec{{Kind: "download", File: "books/field-guide.pdf"}, {Kind: "license"}}},
	{ID: "course", Name: `Tom & "Jerry" <3`, SoldAs: []string{"price_2"}, Access: []order.AccessSpec{{Kind: "github"}}},
})

func newShop(t *testing.T, change ...func(*web.Deps, *web.Config)) *shop {
	t.Helper()
	s := &shop{
		views: map[string]order.View{},
		next:  ledger.Stored{New: true, Next: ledger.NextStart},
		log:   &lockedBuffer{},
		now:   noon,
	}
	deps := web.Deps{
		Environments: map[string]webhook.Environment{
			"test":    {Name: "test", Mode: order.Test, Provider: fakeProvider{prefix: "cs_test_"}},
			"live":    {Name: "live", Mode: order.Live, Provider: fakeProvider{prefix: "cs_live_"}},
			"connect": {Name: "connect", Mode: order.Test, Account: "acct_ours", Provider: fakeProvider{prefix: "cs_test_"}},
		},
		Orders: s, Events: s, Dispatcher: s, EmailWebhook: fakeMail{}, EmailEvents: s, Resender: s, Files: s,
		Kinds: accessregistry.Kinds(), Catalogue: catalogue, Metrics: s,
		Log: slog.New(slog.NewJSONHandler(s.log, nil)),
		Now: func() time.Time { return s.now },
	}
	config := web.Config{PublicURL: "https://downloads.example.com", PageDownloadFor: 24 * time.Hour,
		ShopName: "Example Shop", Contact: "help@example.com"}
	for _, c := range change {
		c(&deps, &config)
	}
	handler, err := web.New(deps, config)
	if err != nil {
		t.Fatal(err)
	}
	s.Handler = handler
	return s
}

// token is one that an email might hold.
const token = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
