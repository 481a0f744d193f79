// Package sandbox is the fakes of Stripe, Creem and Resend with a shop to buy from and an inbox to read: for the
// demonstration on one's own machine, and as the oracle of the crash tests. It speaks what the providers' documentation
// says, counts what it did under which key, and takes faults: refuse, hang, answer late, or do the work and drop the
// answer. No money and no email leave it.
package sandbox

import (
	"cmp"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"handover/internal/lab/sandbox/core"
	"handover/internal/lab/sandbox/creem"
	"handover/internal/lab/sandbox/resend"
	"handover/internal/lab/sandbox/shop"
	"handover/internal/lab/sandbox/stripe"
)

// Config says whom the sandbox pretends to be. The zero value works: any key is accepted, nothing is delivered.
type Config struct {
	StripeSecret string   // signs the payment events
	StripeKeys   []string // accepted API keys; none means any that is not empty
	WebhookURL   string   // where payment events go; empty for nowhere, and may be set later

	ResendKey           string // accepted API key; empty means any that is not empty
	ResendWebhookSecret string // signs the email events, whsec_ and base64
	EmailWebhookURL     string // where email events go; empty for nowhere, and may be set later

	ShopReturnURL string    // base address of the order page that a buyer is sent back to
	Environment   string    // the environment in the order page's address; test when empty
	Products      []Product // what the shop page sells

	CreemSecret     string   // signs Creem's events
	CreemKeys       []string // accepted API keys of Creem's; none means any that is not empty
	CreemWebhookURL string   // where Creem's events go; empty for nowhere, and may be set later

	Journal       string          // a file that lets a restart forget nothing; empty for memory only
	RatePerSecond int             // emails a second before 429; 0 for no limit
	KeyTTL        time.Duration   // how long an idempotency key of an email is kept; 24 h when 0
	RetryAfter    []time.Duration // waits between the deliveries of an event; about a minute in all when empty

	Now    func() time.Time // time.Now when nil; timers always use the real clock
	Logger *slog.Logger     // silent when nil
}

// Sandbox is the fakes of all providers and the shop, in one process.
type Sandbox struct {
	*core.Core
	*stripe.Stripe
	*creem.Creem
	*resend.Resend
	shop *shop.Shop
}

// New restores the journal, when there is one, and returns a sandbox that is ready to serve.
func New(cfg Config) (*Sandbox, error) {
	cfg = cfg.withDefaults()
	c := core.New(core.Config{Journal: cfg.Journal, RetryAfter: cfg.RetryAfter, Now: cfg.Now, Logger: cfg.Logger})
	s := &Sandbox{
		Core:   c,
		Stripe: stripe.New(c, stripe.Config{Secret: cfg.StripeSecret, Keys: cfg.StripeKeys, WebhookURL: cfg.WebhookURL, Products: cfg.Products}),
		Creem:  creem.New(c, creem.Config{Secret: cfg.CreemSecret, Keys: cfg.CreemKeys, WebhookURL: cfg.CreemWebhookURL, Products: cfg.Products}),
	}
	var err error
	if s.Resend, err = resend.New(c, resend.Config{
		Key: cfg.ResendKey, WebhookSecret: cfg.ResendWebhookSecret, WebhookURL: cfg.EmailWebhookURL,
		RatePerSecond: cfg.RatePerSecond, KeyTTL: cfg.KeyTTL,
	}); err != nil {
		return nil, err
	}
	s.shop = shop.New(c, shop.Config{ReturnURL: cfg.ShopReturnURL, Environment: cfg.Environment, Products: cfg.Products}, s.Stripe, s.Resend)
	return s, c.Restore()
}

func (c Config) withDefaults() Config {
	c.Environment = cmp.Or(c.Environment, "test")
	c.ShopReturnURL = strings.TrimSuffix(c.ShopReturnURL, "/")
	c.KeyTTL = cmp.Or(c.KeyTTL, 24*time.Hour)
	if len(c.RetryAfter) == 0 {
		c.RetryAfter = []time.Duration{
			200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second,
			8 * time.Second, 15 * time.Second, 30 * time.Second,
		}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Products = slices.Clone(c.Products)
	for i := range c.Products {
		c.Products[i].Currency = strings.ToLower(cmp.Or(c.Products[i].Currency, "usd"))
	}
	return c
}

// Handler serves the providers' APIs and the pages, and takes orders to misbehave.
func (s *Sandbox) Handler() http.Handler {
	mux := http.NewServeMux()
	s.Stripe.Routes(mux)
	s.Creem.Routes(mux)
	s.Resend.Routes(mux)
	s.shop.Routes(mux)

	s.Core.FaultRoutes(mux)
	return mux
}

// SetWebhookURLs changes where events go from now on. An empty address leaves the one there is.
func (s *Sandbox) SetWebhookURLs(payments, email string) {
	if payments != "" {
		s.Stripe.SetWebhookURL(payments)
	}
	if email != "" {
		s.Resend.SetEmailWebhookURL(email)
	}
}

// Counts is what the sandbox did.
type Counts struct {
	Stripe   stripe.Counts      `json:"stripe"`
	Creem    creem.Counts       `json:"creem"`
	Emails   resend.Counts      `json:"emails"`
	Webhooks core.WebhookCounts `json:"webhooks"`
}

// Counts returns the numbers of this moment.
func (s *Sandbox) Counts() Counts {
	return Counts{Stripe: s.Stripe.Counts(), Creem: s.Creem.Counts(), Emails: s.Resend.Counts(), Webhooks: s.Core.Webhooks()}
}
