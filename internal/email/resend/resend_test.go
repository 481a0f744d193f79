package resend_test

import (
	"strings"
	"testing"

	"handover/internal/email/resend"
)

const (
	padded   = "whsec_YSBzaWduaW5nIGtleSBvZiB0aGUgc2hvcA==" // "a signing key of the shop"
	unpadded = "YSBzaWduaW5nIGtleSBvZiB0aGUgc2hvcA"
	retired  = "whsec_dGhlIHNob3AncyBrZXkgb2YgbGFzdCB5ZWFy" // "the shop's key of last year"
)

func provider(t testing.TB, change func(*resend.Config)) *resend.Provider {
	t.Helper()
	cfg := resend.Config{APIKey: "re_key", WebhookSecrets: []string{padded}}
	if change != nil {
		change(&cfg)
	}
	p, err := resend.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func secrets(s ...string) func(*resend.Config) {
	return func(cfg *resend.Config) { cfg.WebhookSecrets = s }
}

func TestUnusableSettingsAreRefusedWithoutRepeatingThem(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(*resend.Config)
		names  string // what the error must name
	}{
		{"no key", func(c *resend.Config) { c.APIKey = "" }, "api_key"},
		{"a key of spaces", func(c *resend.Config) { c.APIKey = " \n" }, "api_key"},
		{"an empty secret", secrets(""), "webhook_secrets[0]"},
		{"only the prefix", secrets("whsec_"), "webhook_secrets[0]"},
		{"only padding", secrets("whsec_=="), "webhook_secrets[0]"},
		{"a short secret", secrets("whsec_cHJpdmF0ZQ=="), "webhook_secrets[0]"},
		{"not base64", secrets("whsec_private!private!private!private"), "webhook_secrets[0]"},
		{"a second one that is empty", secrets(padded, " "), "webhook_secrets[1]"},
		{"an address without a scheme", func(c *resend.Config) { c.APIURL = "private.example.com" }, "api_url"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cfg := resend.Config{APIKey: "re_key"}
			test.change(&cfg)
			_, err := resend.New(cfg)
			if err == nil || !strings.Contains(err.Error(), test.names) {
				t.Fatalf("error %v, want one that names %s", err, test.names)
			}
			if strings.Contains(err.Error(), "private") || strings.Contains(err.Error(), "cHJp") {
				t.Errorf("the error repeats the setting: %v", err)
			}
		})
	}
}
