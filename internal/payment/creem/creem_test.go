package creem_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"handover/internal/order"
	"handover/internal/payment/creem"
)

const secret = "whsec_first_secret_of_the_store"

func provider(t testing.TB, change func(*creem.Config)) *creem.Provider {
	t.Helper()
	cfg := creem.Config{APIKey: "creem_test_key", WebhookSecrets: []string{secret}, Mode: order.Test}
	if change != nil {
		change(&cfg)
	}
	p, err := creem.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestUnusableSettingsAreRefusedWithoutRepeatingThem(t *testing.T) {
	t.Parallel()
	secrets := func(s ...string) func(*creem.Config) {
		return func(c *creem.Config) { c.WebhookSecrets = s }
	}
	for _, test := range []struct {
		name   string
		change func(*creem.Config)
		names  string // what the error must say
	}{
		{"no key", func(c *creem.Config) { c.APIKey = " \n" }, "api_key"},
		{"another provider's key", func(c *creem.Config) { c.APIKey = "sk_test_private" }, "api_key"},
		{"a test key in a live environment", func(c *creem.Config) { c.APIKey, c.Mode = "creem_test_private", order.Live }, "use the live key"},
		{"a live key in a test environment", func(c *creem.Config) { c.APIKey = "creem_private" }, "use the test key"},
		{"no mode", func(c *creem.Config) { c.Mode = "" }, "mode"},
		{"the API key as secret", secrets("creem_test_private"), "webhook_secrets[0]"},
		{"only the prefix of a secret", secrets("whsec_"), "webhook_secrets[0]"},
		{"a short secret", secrets("private"), "webhook_secrets[0]"},
		{"an address without a scheme", func(c *creem.Config) { c.APIURL = "private.example.com" }, "api_url"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cfg := creem.Config{APIKey: "creem_test_key", WebhookSecrets: []string{secret}, Mode: order.Test}
			test.change(&cfg)
			_, err := creem.New(cfg)
			if err == nil || !strings.Contains(err.Error(), test.names) {
				t.Fatalf("error %v, want one that says %s", err, test.names)
			}
			if strings.Contains(err.Error(), "private") {
				t.Errorf("the error repeats the setting: %v", err)
			}
		})
	}
}

// asked is a transport that only says what it was asked for.
type asked chan *http.Request

func (a asked) RoundTrip(r *http.Request) (*http.Response, error) {
	a <- r
	return nil, context.Canceled
}

func TestTheKeySaysWhichOfTheTwoAPIsIsAsked(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		key  string
		mode order.Mode
		url  string
		want string
	}{
		{"creem_key", order.Live, "", "https://api.creem.io/v1/checkouts?checkout_id=ch_a1"},
		{"creem_test_key", order.Test, "", "https://test-api.creem.io/v1/checkouts?checkout_id=ch_a1"},
		{"creem_test_key", order.Test, "http://127.0.0.1:9/behind/", "http://127.0.0.1:9/behind/v1/checkouts?checkout_id=ch_a1"},
	} {
		a := make(asked, 1)
		p := provider(t, func(c *creem.Config) {
			c.APIKey, c.Mode, c.APIURL, c.HTTPClient = test.key, test.mode, test.url, &http.Client{Transport: a}
		})
		if _, err := p.Session(t.Context(), "ch_a1"); err == nil {
			t.Error("no answer was no error")
		}
		if r := <-a; r.Method != http.MethodGet || r.URL.String() != test.want || r.Header.Get("x-api-key") != test.key {
			t.Errorf("%s %s with the key %q; want %s", r.Method, r.URL, r.Header.Get("x-api-key"), test.want)
		}
	}
}

func TestACheckoutIsNamedByItsId(t *testing.T) {
	t.Parallel()
	p := provider(t, nil)
	for id, want := range map[string]bool{
		"ch_4l0N34kxo16AhRKUHFUuXr": true, "ch_a_1": true, "ch_": false, "ch_a-b": false, "CH_a": false, "ord_a": false, "cs_test_a": false,
		"ch_" + strings.Repeat("a", 197): true, "ch_" + strings.Repeat("a", 198): false,
	} {
		if got := p.ValidSession(id); got != want {
			t.Errorf("ValidSession(%q) = %v", id, got)
		}
	}
}
