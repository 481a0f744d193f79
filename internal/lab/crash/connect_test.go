package crash_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"handover/internal/lab/crash"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
)

// A platform's endpoint hears of its sellers' sales, too. They are taken and left alone where nobody sells for that
// account, and delivered where an environment names it: never a 500, since the provider repeats what is refused.
func TestEventsOfAConnectedAccountAreLeftAloneUnlessAnEnvironmentNamesIt(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Idle: true})
	api := httptest.NewServer(s.Sandbox.Handler())
	t.Cleanup(func() { _ = s.Sandbox.Close(); api.Close() })
	s.Reconfigure("[email]\n", fmt.Sprintf(`[environments.seller]
provider        = "stripe"
mode            = "test"
account         = "acct_seller"
api_key         = "sk_test_crashtest"
webhook_secrets = ["${STRIPE_SECRET}"]
api_url         = %q

[email]
`, api.URL))
	s.StartStarter()
	s.StartWorker()

	report := func(environment, account string) string {
		session := s.Checkout(holding(guide))
		d := s.Deliver(sandbox.EventRequest{Type: harness.Completed, Session: session, Account: account, URL: s.PublicURL + "/webhooks/payments/" + environment})
		if d.Statuses[0] != 200 {
			t.Errorf("%s, account %q: answered %d", environment, account, d.Statuses[0])
		}
		return session
	}
	left := map[string]string{"test": report("test", "acct_seller"), "seller": report("seller", "acct_other")}
	own, sellers := report("test", ""), report("seller", "acct_seller")

	s.SettledOnce(own, 1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if n, reached := s.Sandbox.Wait(ctx, sandbox.WaitFor{What: "accepted", Order: "seller/" + sellers}, 1); !reached {
		t.Fatalf("%d messages of the seller's order", n)
	}
	for environment, session := range left {
		if _, _, code := s.Command("status", environment+"/"+session); code != 3 {
			t.Errorf("%s: an event of another account made an order: status ended %d", environment, code)
		}
	}
	if _, events := s.Heard(); events != 4 {
		t.Errorf("%d events stored, want all 4", events)
	}
	if got := s.Sandbox.Counts().Emails.Accepted; got != 2 {
		t.Errorf("%d messages, want 2", got)
	}
}
