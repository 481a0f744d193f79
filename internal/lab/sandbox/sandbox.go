// Package sandbox stands in for the HTTP APIs of Stripe, Creem and Resend: for the demonstration on one's own machine, and
// as the judge in the crash tests. It speaks what the providers' documentation says, counts what it did under which key,
// and takes faults: refuse, hang, answer late, or do the work and drop the answer. No money and no email leave it.
package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Product is something that the shop page sells and whose price a checkout session may name.
type Product struct {
	Price    string `json:"price"`   // the provider's price id, price_…
	Product  string `json:"product"` // the provider's product id, prod_…
	Name     string `json:"name"`
	Amount   int64  `json:"amount"`   // minor units
	Currency string `json:"currency"` // ISO 4217; usd when empty
}

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

// Sandbox is both providers, the shop and the judge, in one process.
type Sandbox struct {
	cfg     Config
	client  *http.Client
	svixKey []byte

	ctx    context.Context // ends with Close: nothing here outlives it
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at every change
	journal *journal
	state
}

// New restores the journal, when there is one, and returns a sandbox that is ready to serve.
func New(cfg Config) (*Sandbox, error) {
	cfg = cfg.withDefaults()
	s := &Sandbox{
		cfg:     cfg,
		changed: make(chan struct{}),
		state:   newState(cfg.WebhookURL, cfg.EmailWebhookURL),
		client: &http.Client{
			Timeout: 15 * time.Second,
			// A connection kept from before the receiver's restart would fail an attempt for no reason of the receiver's.
			Transport: &http.Transport{DisableKeepAlives: true},
			// A provider takes a redirect for a failure: it does not follow it.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	if cfg.ResendWebhookSecret != "" {
		key, err := svixSecret(cfg.ResendWebhookSecret)
		if err != nil {
			return nil, err
		}
		s.svixKey = key
	}
	if cfg.Journal != "" {
		j, entries, err := openJournal(cfg.Journal)
		if err != nil {
			return nil, fmt.Errorf("sandbox journal: %w", err)
		}
		s.journal = j
		for _, e := range entries {
			s.apply(e)
		}
	}
	for _, p := range cfg.Products {
		s.learn(Session{Currency: p.Currency, Items: []Item{{Price: p.Price, Product: p.Product, Name: p.Name, Amount: p.Amount}}})
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s, nil
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

// Close lets go of hanging requests, ends background deliveries, waits for those and closes the journal. It may come
// before the HTTP server's own end, and has to where a server would wait for a request that hangs.
func (s *Sandbox) Close() error {
	s.mu.Lock()
	s.cancel()
	s.mu.Unlock()
	s.work.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal.close()
}

// background runs work that Close waits for. After Close it does nothing.
func (s *Sandbox) background(work func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() == nil {
		s.work.Go(work)
	}
}

// SetWebhookURLs changes where events go from now on. An empty address leaves the one there is.
func (s *Sandbox) SetWebhookURLs(payments, email string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.webhookURL = cmp.Or(payments, s.webhookURL)
	s.emailWebhookURL = cmp.Or(email, s.emailWebhookURL)
}

// record writes entries to the journal, then makes them true: what was answered is never forgotten. The caller holds mu.
func (s *Sandbox) record(entries ...entry) error {
	for _, e := range entries {
		if err := s.journal.append(e); err != nil {
			return fmt.Errorf("sandbox journal: %w", err)
		}
		s.apply(e)
	}
	s.notify()
	return nil
}

// notify wakes everybody who waits for a change. The caller holds mu.
func (s *Sandbox) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

var errNoURL = errors.New("no webhook address is configured: set it with PUT /control/config")
