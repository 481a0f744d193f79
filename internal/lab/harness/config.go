package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The shop sells two products, a download with a licence key and a download alone.
const configuration = `
public_url   = "%[1]s"
link_secrets = ["${LINK_SECRET}"]

[environments.test]
provider        = "stripe"
mode            = "test"
api_key         = "sk_test_crashtest"
webhook_secrets = ["${STRIPE_SECRET}"]
api_url         = "%[2]s"

[email]
provider        = "resend"
api_key         = "re_crashtest"
from            = "Crash Shop <orders@shop.test>"
webhook_secrets = ["${EMAIL_SECRET}"]
rate_per_second = %[3]d
api_url         = "%[2]s/resend"

[files]
bucket = "file://%[4]s"

[[products]]
id      = "guide"
name    = "The Guide"
sold_as = ["price_guide"]
access  = [ { kind = "download", file = "guide.pdf" }, { kind = "license" } ]

[[products]]
id      = "birds"
name    = "Vögel & Co"
sold_as = ["prod_birds"]
access  = [ { kind = "download", file = "Vögel.pdf" } ]

%[5]s
`

// emailsPerSecond is the highest rate that a shop may set: it keeps the limit out of what is tested and measured.
const emailsPerSecond = 1000

// configure writes the files on sale and the configuration.
func (s *Shop) configure() error {
	files := filepath.Join(s.Dir, "files")
	if err := os.MkdirAll(files, 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{"guide.pdf": "%PDF-1.4 the guide", "Vögel.pdf": "%PDF-1.4 die Vögel"} {
		if err := os.WriteFile(filepath.Join(files, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	if err := os.WriteFile(s.noProfiles(), nil, 0o600); err != nil {
		return err
	}
	text := fmt.Sprintf(configuration, s.PublicURL, s.server.URL, emailsPerSecond, files, s.TOML)
	return os.WriteFile(s.configPath(), []byte(text), 0o600)
}

// noProfiles is an empty file in the place of the user's own temporal.toml.
func (s *Shop) noProfiles() string { return filepath.Join(s.Dir, "temporal.toml") }

func (s *Shop) configPath() string { return filepath.Join(s.Dir, "handover.toml") }

// Reconfigure changes the text of the configuration; it counts from the next start of a process.
func (s *Shop) Reconfigure(from, to string) error {
	text, err := os.ReadFile(s.configPath())
	if err != nil {
		return err
	}
	if !strings.Contains(string(text), from) {
		return fmt.Errorf("the configuration has no %q", from)
	}
	return os.WriteFile(s.configPath(), []byte(strings.ReplaceAll(string(text), from, to)), 0o600)
}
