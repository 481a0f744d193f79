// Package resend is the email provider Resend: it sends one message under an idempotency key, and verifies and reads the
// events that tell what became of it.
package resend

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/resend/resend-go/v2"

	"handover/internal/email"
	"handover/internal/providerhttp"
)

const (
	ownURL = "https://api.resend.com"
	// defaultCallTimeout bounds a Send when the configuration does not.
	defaultCallTimeout = 15 * time.Second
	// minKey is the least number of bytes of a signing key. Resend's have 24 or more.
	minKey = 16
)

var (
	_ email.Sender  = (*Provider)(nil)
	_ email.Webhook = (*Provider)(nil)
)

// Config is one Resend account.
type Config struct {
	APIKey         string
	APIURL         string        // empty for Resend's own
	HTTPClient     *http.Client  // lends its transport; nil for one with kept connections
	CallTimeout    time.Duration // bounds Send; 15 s when zero
	WebhookSecrets []string      // signing secrets (whsec_…) of the events' endpoint; with none, every event is refused
}

// Provider is one Resend account. It is safe for concurrent use.
type Provider struct {
	client      *sdk.Client
	callTimeout time.Duration
	keys        [][]byte
}

// New returns the provider, or an error that says which setting is at fault without repeating its value.
func New(cfg Config) (*Provider, error) {
	key := strings.TrimSpace(cfg.APIKey)
	if key == "" {
		return nil, errors.New("resend: api_key is empty")
	}
	keys, err := parseSecrets(cfg.WebhookSecrets)
	if err != nil {
		return nil, err
	}
	base, err := providerhttp.BaseURL(cfg.APIURL, ownURL)
	if err != nil {
		return nil, fmt.Errorf("resend: %w", err)
	}
	client := sdk.NewCustomClient(providerhttp.Client(cfg.HTTPClient), key)
	// Without the slash at its end the SDK would drop the last element of the address's path.
	if client.BaseURL, err = url.Parse(base + "/"); err != nil {
		return nil, errors.New("resend: api_url is not an address")
	}
	return &Provider{
		client:      client,
		callTimeout: cmp.Or(cfg.CallTimeout, defaultCallTimeout),
		keys:        keys,
	}, nil
}

// parseSecrets decodes signing secrets: base64, with or without the prefix and the padding
// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md). An empty key would let
// anybody sign.
func parseSecrets(configured []string) ([][]byte, error) {
	keys := make([][]byte, 0, len(configured))
	for i, s := range configured {
		text := strings.TrimRight(strings.TrimPrefix(strings.TrimSpace(s), "whsec_"), "=")
		key, err := base64.RawStdEncoding.DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("resend: webhook_secrets[%d] is not base64: it takes the endpoint's signing secret (whsec_…)", i)
		}
		if len(key) < minKey {
			return nil, fmt.Errorf("resend: webhook_secrets[%d] is empty or too short: it takes the endpoint's signing secret (whsec_…)", i)
		}
		keys = append(keys, key)
	}
	return keys, nil
}
