// Package web is the starter's HTTP server: the providers' webhooks, the buyer's order page and the downloads. It reads
// the ledger and stores events; everything that is decided is decided elsewhere.
package web

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"handover/internal/email"
	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/payment"
)

// Orders reads orders. Both return ledger.ErrNotFound for what the ledger has not.
type Orders interface {
	Order(ctx context.Context, key order.Key) (order.View, error)
	// OrderByLink finds the order of an emailed link by the SHA-256 of the token's 43 characters.
	OrderByLink(ctx context.Context, hash [32]byte) (order.View, error)
}

// Events stores the payment providers' events.
type Events interface {
	StoreEvent(ctx context.Context, e ledger.WebhookEvent) (ledger.Stored, error)
	StoreReversal(ctx context.Context, e ledger.WebhookEvent) (session string, s ledger.Stored, err error)
}

// Dispatcher hands a stored event over to the engine and marks it dispatched.
type Dispatcher interface {
	Dispatch(ctx context.Context, key order.Key, event string, next ledger.Next) error
}

// EmailEvents stores the email provider's events.
type EmailEvents interface {
	RecordEmailEvent(ctx context.Context, e order.EmailEvent) (ours bool, err error)
}

// Resender sends the access email again, to the same address.
type Resender interface {
	BuyerResend(ctx context.Context, key order.Key) (BuyerResult, error)
}

// BuyerResult says what became of a buyer's "send it again". Exactly one of Sent, TooSoon and Refused is true.
type BuyerResult struct {
	Sent       bool
	TooSoon    bool
	Refused    bool
	RetryAfter time.Duration // with TooSoon: when to ask again
}

// Files serves the shop's files. See files.Bucket.
type Files interface {
	// Serve answers with the file, or returns an error; the response's header is untouched when nothing was sent.
	Serve(w http.ResponseWriter, r *http.Request, name string) error
}

// Metrics counts the answers to webhooks. The environment is "unknown" where the URL names none of ours, and "email" for
// the email provider's.
type Metrics interface {
	WebhookAnswer(environment string, status int)
}

// Environment is one payment account in one mode.
type Environment struct {
	Name     string
	Mode     order.Mode
	Account  string // the connected account whose events are ours too; empty for none
	Provider payment.Provider
}

// Deps is what the server works with.
type Deps struct {
	Environments map[string]Environment
	Orders       Orders
	Events       Events
	Dispatcher   Dispatcher
	EmailWebhook email.Webhook // nil when no secret is configured: every email event is refused then
	EmailEvents  EmailEvents
	Resender     Resender
	Files        Files
	Catalogue    *order.Catalogue // for the products' names
	Metrics      Metrics          // nil for none
	Log          *slog.Logger
	Now          func() time.Time
}

// Config is what the shop decides about its pages.
type Config struct {
	PublicURL       string        // without a trailing slash; its path, if any, is put before every link
	PageDownloadFor time.Duration // how long after the payment the page by session id offers downloads and keys
	ShopName        string        // on every page; empty for none
	Contact         string        // an email address or an https URL; empty for none
}

type server struct {
	Deps
	Config
	base     string        // the path of PublicURL, without a trailing slash
	bodyTime time.Duration // how long a client may take to send its whole body
	mux      *http.ServeMux
	pages    *template.Template
}

// New returns the handler of everything that is public.
func New(deps Deps, config Config) (http.Handler, error) {
	public, err := url.Parse(config.PublicURL)
	if err != nil || public.Host == "" || public.Scheme != "http" && public.Scheme != "https" {
		return nil, errors.New("web: public_url is no http or https address")
	}
	switch {
	case deps.Orders == nil, deps.Events == nil, deps.Dispatcher == nil, deps.EmailEvents == nil, deps.Resender == nil,
		deps.Files == nil, deps.Catalogue == nil, deps.Log == nil, deps.Now == nil:
		return nil, errors.New("web: a dependency is missing")
	}
	if deps.Metrics == nil {
		deps.Metrics = noMetrics{}
	}
	s := &server{Deps: deps, Config: config, base: strings.TrimRight(public.Path, "/"), bodyTime: bodyTime}
	if s.pages, err = s.parsePages(); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	if s.mux, err = s.routes(public.Scheme + "://" + public.Host); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	return s, nil
}

type noMetrics struct{}

func (noMetrics) WebhookAnswer(string, int) {}
