// Package creem is the payment provider Creem: its webhook signature, the few fields of its events that matter, and what
// a checkout and its transactions prove.
package creem

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/providerhttp"
)

const (
	// Test and live are two APIs with keys of their own (https://docs.creem.io/getting-started/test-mode).
	liveURL = "https://api.creem.io"
	testURL = "https://test-api.creem.io"

	keyPrefix     = "creem_"
	testKeyPrefix = "creem_test_"

	// defaultCallTimeout bounds a call when the configuration does not.
	defaultCallTimeout = 15 * time.Second
	// minSecret is the least number of characters of a signing secret, a whsec_ in front not counted.
	minSecret = 8
)

var _ payment.Provider = (*Provider)(nil)

// Config is one Creem store in one mode.
type Config struct {
	APIKey         string        // creem_test_… in test mode, creem_… in live mode
	WebhookSecrets []string      // signing secrets of the endpoint; while one is replaced, both
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

// New returns the provider, or an error that says which setting is at fault without repeating its value.
func New(cfg Config) (*Provider, error) {
	key := strings.TrimSpace(cfg.APIKey)
	own, err := ownURL(key, cfg.Mode)
	if err != nil {
		return nil, err
	}
	secrets, err := parseSecrets(cfg.WebhookSecrets)
	if err != nil {
		return nil, err
	}
	base, err := providerhttp.BaseURL(cfg.APIURL, own)
	if err != nil {
		return nil, fmt.Errorf("creem: %w", err)
	}
	return &Provider{
		mode: cfg.Mode, key: key, base: base, secrets: secrets,
		callTimeout: cmp.Or(cfg.CallTimeout, defaultCallTimeout),
		client:      providerhttp.Client(cfg.HTTPClient),
	}, nil
}

// ownURL is the address of the API that a key is for. A key of the other mode would ask the wrong half of the store about
// every order.
func ownURL(key string, mode order.Mode) (string, error) {
	isTest := strings.HasPrefix(key, testKeyPrefix)
	switch {
	case key == "":
		return "", errors.New("creem: api_key is empty")
	case !strings.HasPrefix(key, keyPrefix):
		return "", errors.New("creem: api_key does not look like an API key: it takes one that begins with creem_ or creem_test_")
	case mode != order.Live && mode != order.Test:
		return "", errors.New("creem: mode is neither live nor test")
	case isTest && mode == order.Live:
		return "", errors.New("creem: api_key is a test key (creem_test_…) and mode is live: use the live key, or correct the mode")
	case !isTest && mode == order.Test:
		return "", errors.New("creem: api_key is a live key and mode is test: use the test key (creem_test_…), or correct the mode")
	case isTest:
		return testURL, nil
	}
	return liveURL, nil
}

// parseSecrets trims the spaces and line ends that come along when a secret is copied, and refuses what can only be
// another value: an empty secret would let anybody sign.
func parseSecrets(configured []string) ([][]byte, error) {
	const takes = "it takes the signing secret that the dashboard shows for the webhook"
	if len(configured) == 0 {
		return nil, errors.New("creem: webhook_secrets is empty: " + takes)
	}
	secrets := make([][]byte, 0, len(configured))
	for i, s := range configured {
		s = strings.TrimSpace(s)
		switch {
		case strings.HasPrefix(s, keyPrefix):
			return nil, fmt.Errorf("creem: webhook_secrets[%d] is an API key: %s", i, takes)
		case len(strings.TrimPrefix(s, "whsec_")) < minSecret:
			return nil, fmt.Errorf("creem: webhook_secrets[%d] is empty or too short: %s", i, takes)
		}
		secrets = append(secrets, []byte(s))
	}
	return secrets, nil
}

var (
	sessionID = regexp.MustCompile(`^ch_[A-Za-z0-9_]+$`)
	orderID   = regexp.MustCompile(`^ord_[A-Za-z0-9_]+$`)
)

// ValidSession says whether id can be a checkout: ch_… (https://docs.creem.io/api-reference/endpoint/get-checkout). The
// ids do not name their mode.
func (p *Provider) ValidSession(id string) bool { return validSession(id) }

func validSession(id string) bool { return order.ValidSession(id) && sessionID.MatchString(id) }
