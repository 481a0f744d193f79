package check_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/client"

	"handover/internal/check"
	"handover/internal/config"
	"handover/internal/email"
	"handover/internal/finding"
	"handover/internal/order"
	"handover/internal/payment"
)

// account is a provider of which only the inspection is used.
type account struct {
	payment.Provider
	sold map[string]payment.Listing
}

func (a account) Inspect(context.Context, payment.Requirements) payment.Inspection {
	return payment.Inspection{Findings: []finding.Finding{finding.Good(payment.FindingKey, "taken")}, Sold: a.sold}
}

// mailbox is a sender that cannot be inspected.
type mailbox struct{ email.Sender }

// shop has accounts by environment and nothing else that works.
func shop(t *testing.T, accounts map[string]payment.Provider, change func(*config.Config)) check.Shop {
	t.Helper()
	c := &config.Config{PublicURL: "http://127.0.0.1:1", FilesBucket: "file://" + t.TempDir(), Environments: map[string]config.Environment{}}
	for name := range accounts {
		e := config.Environment{Name: name, Provider: "fake", Mode: order.Test}
		if strings.HasPrefix(name, "live") {
			e.Mode = order.Live
		}
		c.Environments[name] = e
	}
	if change != nil {
		change(c)
	}
	return check.Shop{
		Config: c,
		OpenPayment: func(e config.Environment, _ config.Step) (payment.Provider, error) {
			return accounts[e.Name], nil
		},
		OpenSender:   func(config.Email, config.Step) (email.Sender, error) { return mailbox{}, nil },
		OpenTemporal: func() (client.Client, string, error) { return nil, "", errors.New("none in this test") },
	}
}

// named are the checks of one name, as environment, state and text.
func named(t *testing.T, s check.Shop, name string) (list []string) {
	t.Helper()
	for _, c := range check.Run(t.Context(), s).Checks {
		if c.Name == name {
			list = append(list, strings.TrimPrefix(c.Environment+" "+string(c.State)+": "+c.Says, " "))
		}
	}
	return list
}

func agree(got, want []string) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		begins, holds, _ := strings.Cut(want[i], ": ")
		if !strings.HasPrefix(got[i], begins+": ") || !strings.Contains(got[i], holds) {
			return false
		}
	}
	return true
}

type listings = map[string]payment.Listing

const (
	on, off = payment.ListedActive, payment.ListedArchived
	monthly = payment.ListedSubscription
	nowhere = payment.ListedNowhere
)

func TestTheCatalogueIsHeldAgainstAllAccounts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		soldAs   []string
		accounts map[string]listings // nil listings: the account cannot tell
		want     []string
	}{
		"one account": {[]string{"price_1"}, map[string]listings{"live": {"price_1": on}}, []string{"ok: 1 price or product id of 1 product"}},
		"an id for each mode": {[]string{"price_l", "price_t"},
			map[string]listings{"live": {"price_l": on, "price_t": nowhere}, "test": {"price_l": nowhere, "price_t": on}}, []string{"ok: 2 price or product ids"}},
		"mistyped":       {[]string{"price_x"}, map[string]listings{"live": {"price_x": nowhere}}, []string{"failure: no account has price_x"}},
		"one mistyped":   {[]string{"price_1", "price_x"}, map[string]listings{"live": {"price_1": on, "price_x": nowhere}}, []string{"failure: no account has price_x"}},
		"only in test":   {[]string{"price_t"}, map[string]listings{"live": {"price_t": nowhere}, "test": {"price_t": on}}, []string{"failure: none of its ids is known to a live account"}},
		"in one of two":  {[]string{"price_1"}, map[string]listings{"live": {"price_1": on}, "live-b": {"price_1": nowhere}}, []string{"ok: 1 price or product id"}},
		"archived":       {[]string{"price_1"}, map[string]listings{"live": {"price_1": off}}, []string{"live failure: price_1 is archived"}},
		"product, too":   {[]string{"price_1", "prod_1"}, map[string]listings{"live": {"price_1": off, "prod_1": on}}, []string{"live failure: price_1 is archived"}},
		"replaced":       {[]string{"price_1", "price_2"}, map[string]listings{"live": {"price_1": off, "price_2": on}}, []string{"live warning: price_1 is archived"}},
		"archived, test": {[]string{"price_l", "price_t"}, map[string]listings{"live": {"price_l": on, "price_t": nowhere}, "test": {"price_l": nowhere, "price_t": off}}, []string{"test warning: price_t is archived"}},
		"subscription":   {[]string{"price_1"}, map[string]listings{"live": {"price_1": monthly}}, []string{"live failure: price_1 is a subscription"}},
		// An account that cannot tell may have it.
		"another provider": {[]string{"prod_1"}, map[string]listings{"live": {"prod_1": nowhere}, "live-creem": nil}, nil},
		"not asked":        {[]string{"price_1"}, map[string]listings{"live": {}, "test": {"price_1": nowhere}}, nil},
		"own id":           {[]string{"field-guide"}, map[string]listings{"live": {}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			accounts := map[string]payment.Provider{}
			for name, sold := range c.accounts {
				accounts[name] = account{sold: sold}
			}
			got := named(t, shop(t, accounts, func(cfg *config.Config) {
				cfg.Products = []order.Product{{ID: "guide", SoldAs: c.soldAs}}
			}), "catalogue")
			if !agree(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestThePublicURLHasToBeReachableFromOutside(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]struct{ live, test string }{
		"https://downloads.example.com": {"ok", "ok"},
		"http://downloads.example.com":  {"failure", "warning"},
		"https://localhost:8080":        {"failure", "warning"},
		"http://127.0.0.1:8080":         {"failure", "warning"},
		"https://192.168.1.20":          {"failure", "warning"},
		"https://[::1]:8080":            {"failure", "warning"},
		"https://shop.local":            {"failure", "warning"},
		"https://localhost.example.com": {"ok", "ok"},
		"https://203.0.113.7":           {"ok", "ok"},
	} {
		for name, state := range map[string]string{"live": want.live, "test": want.test} {
			t.Run(name+" "+url, func(t *testing.T) {
				t.Parallel()
				// Asking the address itself is another check: it ends with the test's context.
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				s := shop(t, map[string]payment.Provider{name: account{}}, func(c *config.Config) { c.PublicURL = url })
				for _, c := range check.Run(ctx, s).Checks {
					if c.Name == "public_url" && string(c.State) != state {
						t.Errorf("%s, want %s", c.State, state)
					}
				}
			})
		}
	}
}

func TestAnAddressThatRedirectsLosesWebhooks(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{200: "ok: answers", 301: "failure: redirects", 308: "failure: redirects", 404: "warning: HTTP 404", 502: "warning: HTTP 502"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
		}))
		t.Cleanup(server.Close)
		s := shop(t, map[string]payment.Provider{"test": account{}}, func(c *config.Config) { c.PublicURL = server.URL })
		if got := named(t, s, "public address"); !agree(got, []string{want}) {
			t.Errorf("HTTP %d: %q, want %q", status, got, want)
		}
	}
	s := shop(t, map[string]payment.Provider{"test": account{}}, nil)
	if got := named(t, s, "public address"); !agree(got, []string{"warning: does not respond"}) {
		t.Errorf("nobody there: %q", got)
	}
}

func TestEveryDownloadHasToBeInTheBucket(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "guide.pdf"), []byte("%PDF"), 0o600); err != nil {
		t.Fatal(err)
	}
	download := func(file string) []order.AccessSpec {
		return []order.AccessSpec{{Kind: "download", File: file}, {Kind: "license"}}
	}
	for name, c := range map[string]struct {
		bucket string
		files  []string
		want   []string
	}{
		"there":         {folder, []string{"guide.pdf", "guide.pdf"}, []string{"ok: 1 file in the bucket"}},
		"no downloads":  {folder, nil, []string{"ok: no product has a download"}},
		"letter case":   {folder, []string{"guide.pdf", "Guide.pdf"}, []string{"failure: Guide.pdf of product p1"}},
		"two missing":   {folder, []string{"a.pdf", "b.pdf"}, []string{"failure: a.pdf of product p0", "failure: b.pdf of product p1"}},
		"no folder":     {filepath.Join(folder, "none"), []string{"guide.pdf"}, []string{"failure: cannot be opened"}},
		"not a folder":  {filepath.Join(folder, "guide.pdf"), []string{"guide.pdf"}, []string{"failure: cannot be opened"}},
		"license alone": {folder, []string{""}, []string{"ok: no product has a download"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shop(t, map[string]payment.Provider{"test": account{}}, func(cfg *config.Config) {
				cfg.FilesBucket = "file://" + c.bucket
				for i, file := range c.files {
					cfg.Products = append(cfg.Products, order.Product{ID: "p" + string(rune('0'+i)), Access: download(file)})
				}
			})
			if got := named(t, s, "files"); !agree(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestWhatTheLoaderRefusesIsToldAndTheRestLookedAt(t *testing.T) {
	t.Parallel()
	s := shop(t, nil, nil)
	s.Config, s.Problem = nil, errors.New("handover.toml:7: one\nhandover.toml:9: two")
	r := check.Run(t.Context(), s)
	var got []string
	for _, c := range r.Checks {
		got = append(got, c.Name+" "+string(c.State))
	}
	if diff := cmp.Diff([]string{"configuration failure", "database failure", "temporal failure"}, got); diff != "" || r.OK {
		t.Errorf("ok %v: %s", r.OK, diff)
	}
	if r.Checks[0].Says != s.Problem.Error() {
		t.Errorf("%q is not what the loader said", r.Checks[0].Says)
	}
}

func TestOneAccountThatCannotBeOpenedDoesNotHideTheOthers(t *testing.T) {
	t.Parallel()
	s := shop(t, map[string]payment.Provider{"a": account{}, "b": account{}}, nil)
	s.OpenPayment = func(e config.Environment, _ config.Step) (payment.Provider, error) {
		if e.Name == "a" {
			return nil, errors.New("webhook_secrets is empty")
		}
		return struct{ payment.Provider }{}, nil
	}
	want := []string{"a failure: webhook_secrets is empty", "b warning: cannot be inspected"}
	if got := named(t, s, payment.FindingKey); !agree(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := named(t, s, email.FindingKey); !agree(got, []string{"warning: cannot be inspected"}) {
		t.Errorf("%q", got)
	}
}

func TestPrintAlignsWhatItSays(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	check.Print(&b, check.Report{Checks: []check.Check{
		{Name: "database", State: finding.OK, Says: "answers"},
		{Name: "last webhook", Environment: "live", State: finding.Warning, Says: "none yet", Next: "Buy something."},
		{Name: "configuration", State: finding.Failure, Says: "one\ntwo", Next: "Fix it."},
	}})
	const want = `
ok      database            answers
warning live: last webhook  none yet
                            -> Buy something.
FAILURE configuration       one
                            two
                            -> Fix it.

1 failure, 1 warning. A failure would lose a sale, or keep a buyer from what was paid for.
`
	if diff := cmp.Diff(want, "\n"+b.String()); diff != "" {
		t.Error(diff)
	}
}
