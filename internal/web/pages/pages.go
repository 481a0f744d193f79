// Package pages is what the buyer sees: the page of an order, the emailed link and the downloads. It reads the ledger at
// each request and decides nothing.
package pages

import (
	"context"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"time"

	"handover/internal/access"
	"handover/internal/order"
)

// Orders reads orders. Both return ledger.ErrNotFound for an order that the ledger does not have.
type Orders interface {
	Order(ctx context.Context, key order.Key) (order.View, error)
	// OrderByLink finds the order of an emailed link by the SHA-256 of the token's 43 characters.
	OrderByLink(ctx context.Context, hash [32]byte) (order.View, error)
}

// Resender sends the access email again, to the same address.
type Resender interface {
	BuyerResend(ctx context.Context, key order.Key) (BuyerResult, error)
}

// BuyerResult is the result of a buyer's "send it again". Exactly one of Sent, TooSoon and Refused is true.
type BuyerResult struct {
	Sent       bool
	TooSoon    bool
	Refused    bool
	RetryAfter time.Duration // with TooSoon: when to ask again
}

// Visits hears of pages whose payment is not confirmed. It does not wait.
type Visits interface {
	Seen(key order.Key, client string)
}

// Files serves the shop's files. See files.Bucket.
type Files interface {
	// Serve answers with the file, or returns an error; the response's header is untouched when nothing was sent.
	Serve(w http.ResponseWriter, r *http.Request, name string) error
}

// Deps is what the pages work with.
type Deps struct {
	Orders       Orders
	ValidSession func(key order.Key) bool      // whether a session of the key can exist
	Test         func(environment string) bool // whether its payments are not real
	Visits       Visits
	Misled       func(ctx context.Context)                                  // buyers come back without their session; does not wait
	Reached      func(ctx context.Context, key order.Key, kind order.Reach) // the buyer has it; does not wait
	Resender     Resender
	Files        Files
	Kinds        access.Kinds     // what a page hands out for a grant
	Catalogue    *order.Catalogue // the products' names
	Log          *slog.Logger
	Now          func() time.Time
}

// Config is what the shop decides about its pages.
type Config struct {
	Base            string        // the path before every address, without a trailing slash
	PageDownloadFor time.Duration // how long after the payment the page by session id offers downloads and keys
	ShopName        string        // on every page; empty for none
	Contact         string        // an email address or an https URL; empty for none
}

// Site answers for all pages. It is safe for concurrent use.
type Site struct {
	Deps
	Config
	templates *template.Template
	stays     stays
}

// New returns the pages.
func New(deps Deps, config Config) (*Site, error) {
	templates, err := template.ParseFS(pageFiles, "html/*.html")
	if err != nil {
		return nil, fmt.Errorf("parse the pages: %w", err)
	}
	deps.Orders = newBounded(deps.Orders)
	return &Site{Deps: deps, Config: config, templates: templates}, nil
}
