package crash_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"

	"handover/internal/check"
	"handover/internal/finding"
	"handover/internal/lab/crash"
	"handover/internal/lab/sandbox"
)

// soundShop is a shop to which nothing is wrong that would lose a sale.
func soundShop(t *testing.T, o crash.Options) *crash.Shop {
	t.Helper()
	s := crash.Open(t, o)
	for _, err := range []error{
		s.Sandbox.SetDomains([]sandbox.Domain{{Name: "shop.test"}}),
		s.Sandbox.SetPrice(sandbox.Price{ID: "price_guide", Product: "prod_guide"}),
		s.Sandbox.SetStock(sandbox.StockItem{ID: "prod_birds"}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// checked runs starter check --json.
func checked(t *testing.T, s *crash.Shop) (r check.Report, code int) {
	t.Helper()
	out, errs, code := s.Command("check", "--json")
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v\n%s%s", err, out, errs)
	}
	if r.OK != (code == 0) {
		t.Errorf("ok is %v, and the exit code %d", r.OK, code)
	}
	return r, code
}

// failures are the failed checks, each as environment, name and text.
func failures(r check.Report) (list []string) {
	for _, c := range r.Checks {
		if c.State == finding.Failure {
			list = append(list, c.Environment+"/"+c.Name+": "+c.Says)
		}
	}
	return list
}

// failed are the failed checks, each as environment and name.
func failed(r check.Report) (names []string) {
	for _, line := range failures(r) {
		name, _, _ := strings.Cut(line, ":")
		names = append(names, name)
	}
	return names
}

func TestASoundShopPassesTheCheckBeforeAndAfterItsFirstSale(t *testing.T) {
	t.Parallel()
	s := soundShop(t, crash.Options{})
	state := func(r check.Report, environment, name string) finding.State {
		t.Helper()
		i := slices.IndexFunc(r.Checks, func(c check.Check) bool { return c.Name == name && c.Environment == environment })
		if i < 0 {
			t.Fatalf("no check %s/%s in %+v", environment, name, r.Checks)
		}
		return r.Checks[i].State
	}
	r, code := checked(t, s)
	if code != 0 {
		t.Fatalf("exit code %d: %q", code, failures(r))
	}
	if got := state(r, "test", "last webhook"); got != finding.Warning {
		t.Errorf("before the first webhook its line is %s", got)
	}
	s.SettledOnce(s.Buy(nil), 1)
	r, code = checked(t, s)
	if code != 0 || state(r, "test", "last webhook") != finding.OK {
		t.Errorf("after a sale: exit code %d, last webhook %s", code, state(r, "test", "last webhook"))
	}
	for _, c := range r.Checks {
		if c.Says == "" || (c.Next == "") != (c.State == finding.OK) {
			t.Errorf("a line has to say how it is, and what to do unless it is well: %+v", c)
		}
	}
	out, errs, _ := s.Command("check")
	if !strings.Contains(out, "Nothing would lose a sale.") || !strings.Contains(out, "test: webhook endpoint") || errs != "" {
		t.Errorf("%s%s", out, errs)
	}
	for _, secret := range []string{"sk_test_", "re_crashtest", "whsec_", "postgres://", "a link secret", crash.BuyerEmail} {
		if strings.Contains(out, secret) {
			t.Errorf("%q is in the answer", secret)
		}
	}
}

func TestTheCheckFindsWhatWouldLoseASale(t *testing.T) {
	t.Parallel()
	endpoint := func(change func(*sandbox.Endpoint)) func(*testing.T, *crash.Shop) {
		return func(t *testing.T, s *crash.Shop) {
			e := sandbox.Endpoint{URL: s.PublicURL + "/webhooks/payments/test"}
			change(&e)
			must(t, s.Sandbox.SetEndpoints([]sandbox.Endpoint{e}))
		}
	}
	for name, c := range map[string]struct {
		fault func(*testing.T, *crash.Shop)
		line  string // how the one failure begins
		holds string // what it has to name
	}{
		"endpoint disabled": {endpoint(func(e *sandbox.Endpoint) { e.Status = "disabled" }), "test/webhook endpoint: ", "disabled"},
		"endpoint elsewhere": {endpoint(func(e *sandbox.Endpoint) { e.URL = "https://old.shop.test/webhooks/payments/test" }),
			"test/webhook endpoint: ", "another host"},
		"events missing": {endpoint(func(e *sandbox.Endpoint) { e.Events = []string{"checkout.session.completed", "charge.refunded"} }),
			"test/webhook events: ", "checkout.session.async_payment_succeeded"},
		"price archived": {func(t *testing.T, s *crash.Shop) {
			must(t, s.Sandbox.SetPrice(sandbox.Price{ID: "price_guide", Inactive: true}))
		}, "test/catalogue: ", "price_guide is archived"},
		"price unknown": {func(_ *testing.T, s *crash.Shop) { s.Reconfigure(`"price_guide"`, `"price_giude"`) }, "/catalogue: ", "no account has price_giude"},
		"file missing":  {func(_ *testing.T, s *crash.Shop) { s.Reconfigure(`"guide.pdf"`, `"Guide.pdf"`) }, "/files: ", "Guide.pdf of product guide"},
		"domain not verified": {func(t *testing.T, s *crash.Shop) {
			must(t, s.Sandbox.SetDomains([]sandbox.Domain{{Name: "shop.test", Status: "pending"}}))
		}, "/sender domain: ", "shop.test is not verified"},
		"wrong key":       {func(_ *testing.T, s *crash.Shop) { s.Reconfigure(`"sk_test_crashtest"`, `"sk_test_other"`) }, "test/payment key: ", "refuses the key"},
		"wrong email key": {func(_ *testing.T, s *crash.Shop) { s.Reconfigure(`"re_crashtest"`, `"re_other"`) }, "/email key: ", "refuses the key"},
		"schedule paused": {func(t *testing.T, s *crash.Shop) {
			must(t, s.Schedule(t.Context()).Pause(t.Context(), client.SchedulePauseOptions{}))
		}, "/schedule: ", "is paused"},
		"reconcile old": {func(t *testing.T, s *crash.Shop) {
			_, err := s.Database().Exec(t.Context(), `
INSERT INTO reconciliations (finished_at, checked, repaired, remaining) VALUES (now() - interval '2 hours', 0, 0, 0)
ON CONFLICT (one) DO UPDATE SET finished_at = excluded.finished_at`)
			must(t, err)
		}, "/last reconcile: ", "2 h ago"},
		"variable missing": {func(_ *testing.T, s *crash.Shop) { s.Reconfigure(`"${STRIPE_SECRET}"`, `"${NOT_SET}"`) }, "/configuration: ", "NOT_SET"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := soundShop(t, crash.Options{Sandbox: func(c *sandbox.Config) {
				c.StripeKeys, c.ResendKey = []string{"sk_test_crashtest"}, "re_crashtest"
			}})
			c.fault(t, s)
			r, code := checked(t, s)
			got := failures(r)
			if code != 1 || len(got) != 1 || !strings.HasPrefix(got[0], c.line) || !strings.Contains(got[0], c.holds) {
				t.Errorf("exit code %d, failures %q; want one that begins with %q and names %q", code, got, c.line, c.holds)
			}
		})
	}
}

func TestTheCheckSaysThatNobodyWorks(t *testing.T) {
	t.Parallel()
	s := soundShop(t, crash.Options{Idle: true})
	s.StartStarter()
	s.Eventually("the schema is there", func() bool {
		r, _ := checked(t, s)
		return !slices.Contains(failed(r), "/migrations")
	})
	r, code := checked(t, s)
	if want := []string{"/worker", "/worker for emails", "/schedule"}; code != 1 || !slices.Equal(failed(r), want) {
		t.Errorf("exit code %d, failures %q, want %q", code, failures(r), want)
	}
}

// Nothing answers, some of it by a refused connection and some by silence. What can still be checked is, and it
// ends.
func TestTheCheckEndsWhenEverythingIsDown(t *testing.T) {
	t.Parallel()
	s := soundShop(t, crash.Options{Idle: true, DatabaseURL: "postgres://handover@127.0.0.1:1/handover", TemporalAddress: "127.0.0.1:1"})
	s.Reconfigure(`"guide.pdf"`, `"missing.pdf"`)
	for _, target := range []string{"stripe.*", "resend.*"} {
		s.Fault(sandbox.Fault{Target: target, Mode: "hang"})
	}
	r, code := checked(t, s)
	if want := []string{"test/payment key", "/files", "/email key", "/database", "/temporal"}; code != 1 || !slices.Equal(failed(r), want) {
		t.Errorf("exit code %d, failures %q, want %q", code, failures(r), want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
