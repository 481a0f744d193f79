package config_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	accessregistry "handover/internal/access/registry"
	"handover/internal/config"
	emailregistry "handover/internal/email/registry"
	"handover/internal/order"
	paymentregistry "handover/internal/payment/registry"
)

var known = config.Known{Payment: paymentregistry.Known(), Email: emailregistry.Known(), Access: accessregistry.Kinds()}

// secrets is the environment of the tests. Each value is long and odd enough to be found in a message.
func secrets() map[string]string {
	return map[string]string{
		"LINK_SECRET":                  "link-secret-0123456789abcdef-0123456789",
		"OLD_LINK_SECRET":              "link-secret-old-0123456789abcdef-012345",
		"STRIPE_LIVE_KEY":              "sk_live_abcdefghijklmnop",
		"STRIPE_TEST_KEY":              "rk_test_abcdefghijklmnop",
		"STRIPE_LIVE_WEBHOOK_SECRET":   "whsec_live_abcdefghijklmnop",
		"CREEM_KEY":                    "creem_abcdefghijklmnop",
		"STRIPE_TEST_WEBHOOK_SECRET":   "whsec_test_abcdefghijklmnop",
		"STRIPE_TEST_WEBHOOK_SECRET_2": " whsec_test2_abcdefghijklmnop\n",
		"RESEND_API_KEY":               "re_abcdefghijklmnop",
		"RESEND_WEBHOOK_SECRET":        "whsec_QUJDREVGR0hJSktMTU5PUFFSU1Q", // padding left out
	}
}

func lookup(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, set := env[name]
		return value, set
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "handover.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// reveal turns secrets into plain strings, so that a difference can be read.
var reveal = cmp.Transformer("reveal", config.Secret.Reveal)

func TestEverySettingOfTheFileArrives(t *testing.T) {
	t.Parallel()
	got, err := config.Load("testdata/full.toml", lookup(secrets()), known)
	if err != nil {
		t.Fatal(err)
	}
	step := config.Step{
		Attempts: 8, FirstWait: 10 * time.Second, Factor: 3, LongestWait: 6 * time.Hour,
		GiveUpAfter: 24 * time.Hour, CallTimeout: 15 * time.Second,
	}
	revoke, payment := step, config.DefaultSteps().Payment
	revoke.Attempts = 3
	want := config.Config{
		PublicURL:   "https://downloads.example.com",
		LinkSecrets: []config.Secret{"link-secret-0123456789abcdef-0123456789", "link-secret-old-0123456789abcdef-012345"},
		Environments: map[string]config.Environment{
			"live": {
				Name: "live", Provider: "stripe", Mode: order.Live, APIKey: "sk_live_abcdefghijklmnop",
				WebhookSecrets: []config.Secret{"whsec_live_abcdefghijklmnop"},
			},
			"test": {
				Name: "test", Provider: "stripe", Mode: order.Test, APIKey: "rk_test_abcdefghijklmnop",
				WebhookSecrets: []config.Secret{"whsec_test_abcdefghijklmnop", "whsec_test2_abcdefghijklmnop"},
				Account:        "acct_1Connected", APIURL: "http://127.0.0.1:9999",
			},
		},
		Email: config.Email{
			Provider: "resend", APIKey: "re_abcdefghijklmnop",
			From: "Example Shop <orders@example.com>", ReplyTo: "help@example.com",
			WebhookSecrets: []config.Secret{"whsec_QUJDREVGR0hJSktMTU5PUFFSU1Q"},
			RatePerSecond:  10, IdempotencyWindow: 20 * time.Hour, APIURL: "http://127.0.0.1:9998",
		},
		Alerts:      config.Alerts{Email: []string{"owner@example.com"}, URL: "https://alerts.example.com/hook?key=1"},
		FilesBucket: "file:///var/lib/handover/files",
		Orders:      config.Orders{OpenFor: 48 * time.Hour, AwaitPaymentFor: 96 * time.Hour, StuckAfter: time.Minute, UnreachedAfter: 24 * time.Hour, AttentionAfter: 90 * time.Second},
		Steps: config.Steps{Payment: payment, Access: step, Revoke: revoke, Email: config.Step{
			Attempts: 5, FirstWait: time.Second, Factor: 1.5, LongestWait: time.Hour,
			GiveUpAfter: 19 * time.Hour, CallTimeout: 20 * time.Second,
		}},
		Products: []order.Product{
			{
				ID: "field-guide", Name: "The Field Guide", SoldAs: []string{"price_1Abc", "prod_9Xyz"},
				Access: []order.AccessSpec{{Kind: "download", File: "guides/field-guide.pdf"}, {Kind: "license"}},
				Refund: "full", Dispute: "hold",
			},
			{
				ID: "map", Name: `The "Map"`, SoldAs: []string{"price_2Map"},
				Access: []order.AccessSpec{{Kind: "download", File: "map.pdf"}},
				Refund: "item", Dispute: "keep",
			},
		},
	}
	if diff := cmp.Diff(want, got, reveal); diff != "" {
		t.Errorf("configuration differs (-want +got):\n%s", diff)
	}
}

const smallest = `public_url = "http://localhost:8080"
link_secrets = ["${LINK_SECRET}"]
[environments.live]
provider = "stripe"
mode = "live"
api_key = "${STRIPE_LIVE_KEY}"
webhook_secrets = ["${STRIPE_LIVE_WEBHOOK_SECRET}"]
[email]
provider = "resend"
api_key = "${RESEND_API_KEY}"
from = "orders@example.com"
`

func TestDefaultsFillWhatIsNotWritten(t *testing.T) {
	t.Parallel()
	got, err := config.Load(write(t, smallest), lookup(secrets()), known)
	if err != nil {
		t.Fatal(err)
	}
	step := config.Step{
		Attempts: 8, FirstWait: 10 * time.Second, Factor: 3, LongestWait: 6 * time.Hour,
		GiveUpAfter: 24 * time.Hour, CallTimeout: 15 * time.Second,
	}
	email, payment := step, step
	email.Attempts, email.GiveUpAfter = 11, 22*time.Hour
	payment.Attempts, payment.LongestWait, payment.GiveUpAfter = 110, 15*time.Minute, 30*time.Hour
	if diff := cmp.Diff(config.Steps{Payment: payment, Access: step, Email: email, Revoke: step}, got.Steps); diff != "" {
		t.Errorf("steps differ (-want +got):\n%s", diff)
	}
	orders := config.Orders{OpenFor: 720 * time.Hour, AwaitPaymentFor: 336 * time.Hour, PageDownloadFor: 24 * time.Hour, StuckAfter: 30 * time.Minute, UnreachedAfter: 24 * time.Hour, AttentionAfter: 2 * time.Hour}
	if diff := cmp.Diff(orders, got.Orders); diff != "" {
		t.Errorf("orders differ (-want +got):\n%s", diff)
	}
	if got.Email.RatePerSecond != 2 || got.Email.IdempotencyWindow != 24*time.Hour {
		t.Errorf("email: rate %v, window %v; want 2 and 24h", got.Email.RatePerSecond, got.Email.IdempotencyWindow)
	}
}

func TestMissingFileSaysWhatToDo(t *testing.T) {
	t.Parallel()
	_, err := config.Load(filepath.Join(t.TempDir(), "absent.toml"), lookup(nil), known)
	if err == nil || !strings.Contains(err.Error(), "HANDOVER_CONFIG") {
		t.Errorf("got %v; want an error that names HANDOVER_CONFIG", err)
	}
}

func TestEveryProblemIsReportedAtOnceInTheOrderOfTheLines(t *testing.T) {
	t.Parallel()
	text := `public_url = "downloads.example.com"
link_secrets = ["${LINK_SECRET}", "short"]
[environments.live]
provider = "strip"
mode = "live"
api_key = "${UNSET_KEY}"
webhook_secret = ["x"]
[email]
provider = "resend"
api_key = 7
from = "orders@example.com"
rate_per_second = "2"
`
	path := write(t, text)
	_, err := config.Load(path, lookup(secrets()), known)
	want := strings.ReplaceAll(`F:1: public_url: is not an absolute http or https address; write the address that buyers reach the shop's pages at, like https://downloads.example.com
F:2: link_secrets[1]: is too short to be safe: 5 bytes; write at least one secret of 32 bytes or more; openssl rand -hex 32 makes one
F:4: environments.live.provider: "strip" is not known; did you mean stripe? write one of: creem, stripe
F:6: environments.live.api_key: takes the environment variable UNSET_KEY, which is not set; set UNSET_KEY where this process is started
F:7: environments.live.webhook_secret: is not a setting; remove or correct it (did you mean webhook_secrets?)
F:10: email.api_key: must be text in double quotes, is a whole number
F:12: email.rate_per_second: must be a number without quotes, is text`, "F:", path+":")
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("problems differ (-want +got):\n%s", diff)
	}
}

func TestSyntaxErrorsNeverQuoteASecret(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"no quotes":        `api_key = sk_live_abcdefghijklmnop`,
		"number at first":  `api_key = 12_sk_live_abcdefghijklmnop`,
		"no closing quote": `api_key = "sk_live_abcdefghijklmnop`,
		"no key":           `sk_live_abcdefghijklmnop`,
		"bad escape":       `api_key = "\sk_live_abcdefghijklmnop"`,
		"float":            `api_key = 1.sk_live_abcdefghijklmnop`,
		"date":             `api_key = 2020-sk_live_abcdefghijklmnop`,
		"two on a line":    `api_key = "x" sk_live_abcdefghijklmnop`,
		"defined twice":    "api_key = \"a\"\napi_key = \"sk_live_abcdefghijklmnop\"",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := write(t, "[environments.live]\n"+line+"\n")
			_, err := config.Load(path, lookup(secrets()), known)
			if err == nil {
				t.Fatal("loaded")
			}
			if strings.Contains(err.Error(), "live_abc") {
				t.Errorf("the secret is in the message: %v", err)
			}
			if !strings.HasPrefix(err.Error(), path+":2: ") && !strings.HasPrefix(err.Error(), path+":3: ") {
				t.Errorf("no file and line: %v", err)
			}
		})
	}
}

func TestDuplicateKeyIsNamed(t *testing.T) {
	t.Parallel()
	_, err := config.Load(write(t, "public_url = \"https://a.example\"\npublic_url = \"https://b.example\"\n"), lookup(nil), known)
	if err == nil || !strings.Contains(err.Error(), "public_url") || !strings.Contains(err.Error(), ":2: ") {
		t.Errorf("got %v; want the key and its line", err)
	}
}

func TestSecretNeverPrintsItself(t *testing.T) {
	t.Parallel()
	e := config.Environment{Name: "live", APIKey: "hunter2", WebhookSecrets: []config.Secret{"hunter2"}}
	encoded, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("environment", "key", e.APIKey, "all", e)
	slog.New(slog.NewTextHandler(&log, nil)).Info("environment", "key", e.APIKey, "all", e)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&log, verb+"\n", e.APIKey)
		fmt.Fprintf(&log, verb+"\n", e)
	}
	for _, printed := range []string{string(encoded), log.String()} {
		if strings.Contains(printed, "hunter2") || strings.Contains(printed, fmt.Sprintf("%x", "hunter2")) {
			t.Errorf("printed: %s", printed)
		}
		if !strings.Contains(printed, "REDACTED") {
			t.Errorf("nothing redacted in: %s", printed)
		}
	}
	if got := e.APIKey.Reveal(); got != "hunter2" {
		t.Errorf("Reveal = %q", got)
	}
}

func TestVariableInsideAText(t *testing.T) {
	t.Parallel()
	env := secrets()
	env["HOST"], env["TRAP"] = "shop.example.com", "${LINK_SECRET}"
	text := strings.Replace(smallest, "http://localhost:8080", "https://${HOST}", 1) +
		"[[products]]\nid = \"p\"\nname = \"A ${TRAP} for $5 or {HOST}\"\nsold_as = [\"price_1\"]\naccess = [{ kind = \"license\" }]\n"
	got, err := config.Load(write(t, text), lookup(env), known)
	if err != nil {
		t.Fatal(err)
	}
	if got.PublicURL != "https://shop.example.com" {
		t.Errorf("PublicURL = %q", got.PublicURL)
	}
	if want := "A ${LINK_SECRET} for $5 or {HOST}"; got.Products[0].Name != want {
		t.Errorf("Name = %q; want %q: a value is not expanded again, and only ${NAME} is a variable", got.Products[0].Name, want)
	}
}

// The starter makes no links: it runs without their secret, and still refuses one that is there and weak.
func TestTheStarterNeedsNoLinkSecret(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("testdata", "full.toml"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		line string
		want string // of the error; empty for none
	}{
		"not written":              {line: ""},
		"a variable that is unset": {line: `link_secrets = ["${NO_SUCH_SECRET}"]`},
		"a good one":               {line: `link_secrets = ["0123456789abcdefghijklmnopqrstuvwxyz"]`},
		"a weak one":               {line: `link_secrets = ["short"]`, want: "is too short to be safe"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := regexp.MustCompile(`(?m)^link_secrets.*$`).ReplaceAllString(string(raw), strings.ReplaceAll(c.line, "$", "$$"))
			path := filepath.Join(t.TempDir(), "handover.toml")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			starter := known
			starter.NoLinks = true
			_, err := config.Load(path, lookup(secrets()), starter)
			if err == nil && c.want != "" || err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if _, err := config.Load(path, lookup(secrets()), known); err == nil && name != "a good one" {
				t.Error("a worker starts without a link secret")
			}
		})
	}
}
