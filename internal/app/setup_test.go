package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handover/internal/app"
	"handover/internal/config"
)

// The configuration in setup.md is what people start from.
func TestTheConfigurationInTheDocumentsLoads(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "setup.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(text), "```toml\n")
	block, _, closed := strings.Cut(block, "```")
	if !found || !closed {
		t.Fatal("docs/setup.md has no toml block")
	}
	path := filepath.Join(t.TempDir(), "handover.toml")
	if err := os.WriteFile(path, []byte(block), 0o600); err != nil {
		t.Fatal(err)
	}
	variables := map[string]string{
		"LINK_SECRET":     strings.Repeat("0123456789abcdef", 4),
		"STRIPE_LIVE_KEY": "sk_live_key", "STRIPE_LIVE_WEBHOOK_SECRET": "whsec_a_secret_of_the_live_account",
		"STRIPE_TEST_KEY": "sk_test_key", "STRIPE_TEST_WEBHOOK_SECRET": "whsec_a_secret_of_the_test_account",
		"RESEND_API_KEY": "re_key", "RESEND_WEBHOOK_SECRET": "whsec_MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1u",
	}
	cfg, err := config.Load(path, func(name string) (string, bool) { v, set := variables[name]; return v, set }, app.Known())
	if err != nil {
		t.Fatal(err)
	}
	if len(cfg.Environments) != 2 || len(cfg.Products) != 1 {
		t.Errorf("%d environments and %d products, want 2 and 1", len(cfg.Environments), len(cfg.Products))
	}
}
