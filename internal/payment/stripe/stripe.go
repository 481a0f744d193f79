// Package stripe is the payment provider Stripe: its webhook signature, the few fields of its events that matter, and
// what a Checkout session proves.
package stripe

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	sdk "github.com/stripe/stripe-go/v85"

	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/providerhttp"
	"handover/internal/setting"
)

const (
	ownURL = "https://api.stripe.com"
	// defaultCallTimeout bounds a read when the configuration does not.
	defaultCallTimeout = 15 * time.Second
)

var _ payment.Provider = (*Provider)(nil)

// Config is one Stripe account in one mode.
type Config struct {
	APIKey         string        // secret or restricted key
	WebhookSecrets []string      // signing secrets of the endpoint; while one is rolled, both
	Mode           order.Mode    // the mode of the key
	APIURL         string        // empty for Stripe's own
	Account        string        // the connected account that the sessions belong to; empty for the key's own
	HTTPClient     *http.Client  // lends its transport; nil for a shared one with kept connections
	CallTimeout    time.Duration // bounds each read with all its pages; 15 s when zero
}

// Provider is one Stripe account in one mode. It is safe for concurrent use.
type Provider struct {
	mode        order.Mode
	secrets     [][]byte
	callTimeout time.Duration
	account     string
	client      *sdk.Client
	owner       owner
}

// New returns the provider, or an error that names the settings at fault without repeating their values.
func New(cfg Config) (*Provider, error) {
	if err := setting.Error("stripe", Problems(cfg)); err != nil {
		return nil, err
	}
	base, err := providerhttp.BaseURL(cfg.APIURL, ownURL)
	if err != nil {
		return nil, fmt.Errorf("stripe: %w", err)
	}
	base, client := split(base, providerhttp.Client(cfg.HTTPClient))
	// The client retries nothing: that is Temporal's, where it can be seen and is bounded.
	backends := sdk.NewBackendsWithConfig(&sdk.BackendConfig{
		URL:               sdk.String(base),
		HTTPClient:        client,
		MaxNetworkRetries: sdk.Int64(0),
		EnableTelemetry:   sdk.Bool(false),
		LeveledLogger:     &sdk.LeveledLogger{Level: sdk.LevelNull},
	})
	secrets := make([][]byte, 0, len(cfg.WebhookSecrets))
	for _, s := range cfg.WebhookSecrets {
		secrets = append(secrets, []byte(strings.TrimSpace(s)))
	}
	return &Provider{
		mode:        cfg.Mode,
		secrets:     secrets,
		account:     cfg.Account,
		callTimeout: cmp.Or(cfg.CallTimeout, defaultCallTimeout),
		client:      sdk.NewClient(strings.TrimSpace(cfg.APIKey), sdk.WithBackends(backends)),
	}, nil
}

var (
	liveSession = regexp.MustCompile(`^cs_live_[A-Za-z0-9_]+$`)
	testSession = regexp.MustCompile(`^cs_test_[A-Za-z0-9_]+$`)
	// The dashboard's and the command line's made-up test events have an id of zeros that names no mode.
	sampleSession = regexp.MustCompile(`^cs_0{8,}$`)
)

// ValidSession says whether id can be a Checkout session of this environment's mode: cs_live_… or cs_test_…
// (https://docs.stripe.com/api/checkout/sessions/object#checkout_session_object-id).
func (p *Provider) ValidSession(id string) bool {
	if !order.ValidSession(id) {
		return false
	}
	if p.mode == order.Live {
		return liveSession.MatchString(id)
	}
	return testSession.MatchString(id) || sampleSession.MatchString(id)
}
