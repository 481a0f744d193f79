// Package resend is the email provider Resend: it sends one message under an idempotency key, and verifies and reads the
// events that tell what became of it.
package resend

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/resend/resend-go/v2"

	"handover/internal/email"
	"handover/internal/providerhttp"
	"handover/internal/setting"
)

const (
	ownURL = "https://api.resend.com"
	// defaultCallTimeout bounds a Send when the configuration does not.
	defaultCallTimeout = 15 * time.Second
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
	Window         time.Duration // how long a key is counted on to be kept: at most what Resend promises; 0 says nothing
}

// Provider is one Resend account. It is safe for concurrent use.
type Provider struct {
	client      *sdk.Client
	callTimeout time.Duration
	keys        [][]byte
}

// New returns the provider, or an error that names the settings at fault without repeating their values.
func New(cfg Config) (*Provider, error) {
	if err := setting.Error("resend", Problems(cfg)); err != nil {
		return nil, err
	}
	base, err := providerhttp.BaseURL(cfg.APIURL, ownURL)
	if err != nil {
		return nil, fmt.Errorf("resend: %w", err)
	}
	client := sdk.NewCustomClient(providerhttp.Client(cfg.HTTPClient), strings.TrimSpace(cfg.APIKey))
	// Without the slash at its end the SDK would drop the last element of the address's path.
	if client.BaseURL, err = url.Parse(base + "/"); err != nil {
		return nil, errors.New("resend: api_url is not an address")
	}
	keys := make([][]byte, 0, len(cfg.WebhookSecrets))
	for _, s := range cfg.WebhookSecrets {
		key, err := setting.SigningKey(s)
		if err != nil {
			return nil, errors.New("resend: webhook_secrets: not base64")
		}
		keys = append(keys, key)
	}
	return &Provider{
		client:      client,
		callTimeout: cmp.Or(cfg.CallTimeout, defaultCallTimeout),
		keys:        keys,
	}, nil
}
