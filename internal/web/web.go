// Package web is the starter's HTTP server: it routes the providers' webhooks, the buyer's pages and the downloads, bounds
// their time and memory, and logs a line for each request.
package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"handover/internal/access"
	"handover/internal/email"
	"handover/internal/order"
	"handover/internal/web/pages"
	"handover/internal/web/webhook"
)

// Deps is what the server works with.
type Deps struct {
	Environments map[string]webhook.Environment
	Orders       pages.Orders
	Events       webhook.Events
	Dispatcher   webhook.Dispatcher
	EmailWebhook email.Webhook // nil when no secret is configured: every email event is refused then
	EmailEvents  webhook.EmailEvents
	Visits       pages.Visits                                               // nil for none
	Reached      func(ctx context.Context, key order.Key, kind order.Reach) // the buyer has it; nil for nobody to know
	Misled       func(ctx context.Context)                                  // buyers come back from the checkout without their session; nil for nobody to know
	Resender     pages.Resender
	Files        pages.Files
	Kinds        access.Kinds     // what a page hands out for a grant
	Catalogue    *order.Catalogue // for the products' names
	Metrics      webhook.Metrics  // nil for none
	Log          *slog.Logger
	Now          func() time.Time
}

// Config is what the shop decides about its pages.
type Config struct {
	PublicURL       string        // without a trailing slash; its path, if any, is put before every link
	PageDownloadFor time.Duration // how long after the payment the page by session id offers downloads and keys
	ShopName        string        // on every page; empty for none
	Contact         string        // an email address or an https URL; empty for none
	BodyTime        time.Duration // how long a client may take to send a webhook; 10 s when zero
}

type server struct {
	log   *slog.Logger
	base  string // the path of PublicURL, without a trailing slash
	https bool   // buyers come by https only
	mux   *http.ServeMux
	pages *pages.Site
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
	if deps.Visits == nil {
		deps.Visits = noVisits{}
	}
	if deps.Reached == nil {
		deps.Reached = func(context.Context, order.Key, order.Reach) {}
	}
	if deps.Misled == nil {
		deps.Misled = func(context.Context) {}
	}
	if deps.Metrics == nil {
		deps.Metrics = noMetrics{}
	}

	s := &server{log: deps.Log, base: strings.TrimRight(public.Path, "/"), https: public.Scheme == "https"}
	s.pages, err = pages.New(pages.Deps{
		Orders: deps.Orders, ValidSession: deps.validSession, Test: deps.test, Visits: deps.Visits, Misled: deps.Misled, Reached: deps.Reached, Resender: deps.Resender, Files: deps.Files, Kinds: deps.Kinds,
		Catalogue: deps.Catalogue, Log: deps.Log, Now: deps.Now,
	}, pages.Config{Base: s.base, PageDownloadFor: config.PageDownloadFor, ShopName: config.ShopName, Contact: config.Contact})
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	webhooks := webhook.New(webhook.Deps{
		Environments: deps.Environments, Events: deps.Events, Dispatcher: deps.Dispatcher, EmailProvider: deps.EmailWebhook,
		EmailEvents: deps.EmailEvents, Metrics: deps.Metrics, Log: deps.Log, Now: deps.Now, BodyTime: config.BodyTime,
	})
	if s.mux, err = routes(webhooks, s.pages, public.Scheme+"://"+public.Host); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	return s, nil
}

// validSession says whether the key can be a session of a configured environment.
func (d Deps) validSession(key order.Key) bool {
	environment, known := d.Environments[key.Environment]
	return known && key.Valid() && environment.Provider.ValidSession(key.Session)
}

// test says whether the payments of an environment are not real.
func (d Deps) test(environment string) bool { return d.Environments[environment].Mode == order.Test }

type noVisits struct{}

func (noVisits) Seen(order.Key, string) {}

type noMetrics struct{}

func (noMetrics) WebhookAnswer(string, int) {}
