package stripe_test

import (
	"strings"
	"testing"

	"handover/internal/order"
	"handover/internal/payment/stripe"
)

func TestUnusableSettingsAreRefusedWithoutRepeatingThem(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(*stripe.Config)
		names  string // what the error must name
	}{
		{"no key", func(c *stripe.Config) { c.APIKey = "" }, "api_key"},
		{"a key of spaces", func(c *stripe.Config) { c.APIKey = " \n" }, "api_key"},
		{"a publishable key", func(c *stripe.Config) { c.APIKey = "pk_live_private" }, "api_key"},
		{"a test key in live mode", func(c *stripe.Config) { c.Mode = order.Live }, "use the live key"},
		{"no mode", func(c *stripe.Config) { c.Mode = "" }, "mode"},
		{"another mode", func(c *stripe.Config) { c.Mode = "sandbox" }, "mode"},
		{"no secrets", secrets(), "webhook_secrets"},
		{"an empty secret", secrets(""), "webhook_secrets[0]"},
		{"a secret of spaces", secrets(" \n"), "webhook_secrets[0]"},
		{"only the prefix", secrets("whsec_"), "webhook_secrets[0]"},
		{"a short secret", secrets("whsec_private"), "webhook_secrets[0]"},
		{"a second one that is empty", secrets(firstSecret, ""), "webhook_secrets[1]"},
		{"the endpoint's id", secrets("we_1PrivatePrivatePrivate"), "webhook_secrets[0]"},
		{"an address without a scheme", func(c *stripe.Config) { c.APIURL = "private.example.com" }, "api_url"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cfg := stripe.Config{APIKey: "sk_test_key", WebhookSecrets: []string{firstSecret}, Mode: order.Test}
			test.change(&cfg)
			_, err := stripe.New(cfg)
			if err == nil || !strings.Contains(err.Error(), test.names) {
				t.Fatalf("error %v, want one that names %s", err, test.names)
			}
			if strings.Contains(strings.ToLower(err.Error()), "private") {
				t.Errorf("the error repeats the setting: %v", err)
			}
		})
	}
}

func TestASecretCopiedWithALineEndVerifies(t *testing.T) {
	t.Parallel()
	p := provider(t, secrets(" "+firstSecret+"\n"))
	check(t, p.Verify(signed("t=1760000000,v1="+digest(firstSecret, 1760000000, "{}")), []byte("{}"), at(1760000000)), true)
}

func TestASessionBelongsToOneMode(t *testing.T) {
	t.Parallel()
	live := provider(t, func(c *stripe.Config) { c.APIKey, c.Mode = "sk_live_key", order.Live })
	test := provider(t, nil)
	for _, c := range []struct {
		id           string
		inLive, test bool
	}{
		{"cs_live_a1B2", true, false},
		{"cs_test_a1B2", false, true},
		{"cs_test_a1_B2", false, true},
		{"cs_00000000000000", false, true},
		{"cs_live_", false, false},
		{"cs_test_", false, false},
		{"cs_test_a-b", false, false},
		{"cs_test_a/b", false, false},
		{"cs_test_a\n", false, false},
		{" cs_test_a", false, false},
		{"cs_a1B2", false, false},
		{"CS_TEST_a", false, false},
		{"pi_test_a", false, false},
		{"", false, false},
		{"cs_test_" + strings.Repeat("a", 192), false, true},
		{"cs_test_" + strings.Repeat("a", 193), false, false},
	} {
		if got := live.ValidSession(c.id); got != c.inLive {
			t.Errorf("live: ValidSession(%q) = %v", c.id, got)
		}
		if got := test.ValidSession(c.id); got != c.test {
			t.Errorf("test: ValidSession(%q) = %v", c.id, got)
		}
	}
}
