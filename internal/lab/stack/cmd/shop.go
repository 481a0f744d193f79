package main

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"handover/internal/lab/sandbox"
)

// A sale is a product as the sandbox's shop shows it; the prices are those in the shop's sold_as.
type sale struct {
	sandbox.Product
	file  string
	lines []string // what its PDF says
}

var forSale = []sale{
	{
		Product: sandbox.Product{Price: "price_field_guide", Product: "prod_field_guide", Name: "The Field Guide", Amount: 1900, Currency: "eur"},
		file:    "field-guide.pdf",
		lines: []string{
			"The Field Guide", "", "You bought this from a shop that exists only on your machine.",
			"It was paid for, unlocked and emailed once, whatever happened on the way.",
		},
	},
	{
		Product: sandbox.Product{Price: "price_voegel", Product: "prod_voegel", Name: "Vögel im Garten", Amount: 1200, Currency: "eur"},
		file:    "Vögel im Garten.pdf",
		lines: []string{
			"Vögel im Garten", "", "Amsel, Drossel, Fink und Star.",
			"Der Dateiname dieses Hefts hat einen Umlaut und Leerzeichen, mit Absicht.",
		},
	},
}

// secrets are made once for a stack. They guard nothing but the stack itself.
type secrets struct {
	StripeKey     string `json:"stripe_key"`
	StripeWebhook string `json:"stripe_webhook"`
	ResendKey     string `json:"resend_key"`
	ResendWebhook string `json:"resend_webhook"`
	Link          string `json:"link"`
}

// shop is the demonstration shop's configuration.
type shop struct {
	config  string // path of handover.toml
	secrets secrets
}

// emailsPerSecond is more than one person's clicking needs, and little enough to be seen at work.
const emailsPerSecond = 50

const shopTOML = `# The demonstration shop, written by every start of the local stack.
public_url   = %q
link_secrets = ["${LINK_SECRET}"]

[environments.test]
provider        = "stripe"
mode            = "test"
api_key         = "${STRIPE_TEST_KEY}"
webhook_secrets = ["${STRIPE_TEST_WEBHOOK_SECRET}"]
api_url         = %q

[email]
provider        = "resend"
api_key         = "${RESEND_API_KEY}"
from            = "Example Shop <orders@example.com>"
webhook_secrets = ["${RESEND_WEBHOOK_SECRET}"]
rate_per_second = %d
api_url         = %q

[files]
bucket = %q

[[products]]
id      = "field-guide"
name    = "The Field Guide"
sold_as = ["price_field_guide"]
access  = [
  { kind = "download", file = "field-guide.pdf" },
  { kind = "license" },
]

[[products]]
id      = "voegel-im-garten"
name    = "Vögel im Garten"
sold_as = ["price_voegel"]
access  = [{ kind = "download", file = "Vögel im Garten.pdf" }]
`

// openShop writes the configuration and the files on sale into the state directory.
func openShop(dir, starter, provider string) (shop, error) {
	s := shop{config: filepath.Join(dir, "handover.toml")}
	var err error
	if s.secrets, err = keepSecrets(filepath.Join(dir, "secrets.json")); err != nil {
		return s, fmt.Errorf("the stack's secrets: %w", err)
	}
	files := filepath.Join(dir, "files")
	if err := os.MkdirAll(files, 0o755); err != nil {
		return s, err
	}
	for _, one := range forSale {
		if err := os.WriteFile(filepath.Join(files, one.file), pdf(one.lines), 0o644); err != nil {
			return s, err
		}
	}
	bucket := url.URL{Scheme: "file", Path: files}
	text := fmt.Sprintf(shopTOML, starter, provider, emailsPerSecond, provider+"/resend", bucket.String())
	return s, os.WriteFile(s.config, []byte(text), 0o600)
}

// variables are what the configuration takes from the environment.
func (s shop) variables() []string {
	return []string{
		"LINK_SECRET=" + s.secrets.Link,
		"STRIPE_TEST_KEY=" + s.secrets.StripeKey,
		"STRIPE_TEST_WEBHOOK_SECRET=" + s.secrets.StripeWebhook,
		"RESEND_API_KEY=" + s.secrets.ResendKey,
		"RESEND_WEBHOOK_SECRET=" + s.secrets.ResendWebhook,
	}
}

// keepSecrets reads the stack's secrets, or makes them at its first start.
func keepSecrets(path string) (secrets, error) {
	var s secrets
	text, err := os.ReadFile(path)
	if err == nil {
		return s, json.Unmarshal(text, &s)
	}
	if !os.IsNotExist(err) {
		return s, err
	}
	signing := make([]byte, 32)
	rand.Read(signing) // never fails: https://pkg.go.dev/crypto/rand#Read
	s = secrets{
		StripeKey:     "sk_test_sandbox" + rand.Text(),
		StripeWebhook: "whsec_" + strings.ToLower(rand.Text()),
		ResendKey:     "re_sandbox_" + rand.Text(),
		ResendWebhook: "whsec_" + base64.StdEncoding.EncodeToString(signing),
		Link:          hex.EncodeToString([]byte(rand.Text())),
	}
	text, err = json.Marshal(s)
	if err != nil {
		return s, err
	}
	// Renamed into place, so that a start that is killed here leaves none or all of them.
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return s, err
	}
	return s, os.Rename(path+".new", path)
}
