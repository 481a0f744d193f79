// Package creem is the payment provider Creem: its webhook signature, the few fields of its events that matter, and what
// a checkout and its transactions prove.
package creem

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/providerhttp"
	"handover/internal/setting"
)

const (
	// Test and live are two APIs with keys of their own (https://docs.creem.io/getting-started/test-mode).
	liveURL = "https://api.creem.io"
	testURL = "https://test-api.creem.io"

	keyPrefix     = "creem_"
	testKeyPrefix = "creem_test_"

	// defaultCallTimeout bounds a call when the configuration does not.
	defaultCallTimeout = 15 * time.Second
)

var _ payment.Provider = (*Provider)(nil)

// Config is one Creem store in one mode.
type Config struct {
	APIKey         string        // creem_test_… in test mode, creem_… in live mode
	WebhookSecrets []string      // signing secrets of the endpoint; while one is replaced, both
	Account        string        // has to be empty: a key belongs to one store
	Mode           order.Mode    // the mode of the key
	APIURL         string        // empty for Creem's own of the mode
	HTTPClient     *http.Client  // lends its transport; nil for a shared one with kept connections
	CallTimeout    time.Duration // bounds each method with all its calls; 15 s when zero
}

// Provider is one Creem store in one mode. It is safe for concurrent use.
type Provider struct {
	mode        order.Mode
	key         string
	base        string
	secrets     [][]byte
	callTimeout time.Duration
	client      *http.Client
}

// New returns the provider, or an error that names the settings at fault without repeating their values.
func New(cfg Config) (*Provider, error) {
	if err := setting.Error("creem", Problems(cfg)); err != nil {
		return nil, err
	}
	key, own := strings.TrimSpace(cfg.APIKey), liveURL
	if cfg.Mode == order.Test {
		own = testURL
	}
	base, err := providerhttp.BaseURL(cfg.APIURL, own)
	if err != nil {
		return nil, fmt.Errorf("creem: %w", err)
	}
	secrets := make([][]byte, 0, len(cfg.WebhookSecrets))
	for _, s := range cfg.WebhookSecrets {
		secrets = append(secrets, []byte(strings.TrimSpace(s)))
	}
	return &Provider{
		mode: cfg.Mode, key: key, base: base, secrets: secrets,
		callTimeout: cmp.Or(cfg.CallTimeout, defaultCallTimeout),
		client:      providerhttp.Client(cfg.HTTPClient),
	}, nil
}

var (
	sessionID = regexp.MustCompile(`^ch_[A-Za-z0-9_]+$`)
	orderID   = regexp.MustCompile(`^ord_[A-Za-z0-9_]+$`)
)

// ValidSession says whether id can be a checkout: ch_… (https://docs.creem.io/api-reference/endpoint/get-checkout). The
// ids do not name their mode.
func (p *Provider) ValidSession(id string) bool { return validSession(id) }

func validSession(id string) bool { return order.ValidSession(id) && sessionID.MatchString(id) }
