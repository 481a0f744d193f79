package crash_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"handover/internal/lab/crash"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

const creemSecret = "whsec_crashtest_of_creem"

// openCreem is a shop that sells through Creem, too.
func openCreem(t *testing.T) *crash.Shop {
	t.Helper()
	s := crash.Open(t, crash.Options{Idle: true, Sandbox: func(c *sandbox.Config) { c.CreemSecret = creemSecret }})
	server := httptest.NewServer(s.Sandbox.Handler())
	t.Cleanup(func() { _ = s.Sandbox.Close(); server.Close() })
	s.Sandbox.SetCreemWebhookURL(s.PublicURL + "/webhooks/payments/creem")
	s.Reconfigure("[email]\n", fmt.Sprintf(`[environments.creem]
provider        = "creem"
mode            = "test"
api_key         = "creem_test_crashtest"
webhook_secrets = [%q]
api_url         = "%s/creem"

[email]
`, creemSecret, server.URL))
	s.Reconfigure(`sold_as = ["price_guide"]`, `sold_as = ["price_guide", "prod_guide_creem"]`)
	s.StartStarter()
	s.StartWorker()
	return s
}

func sellAtCreem(t *testing.T, s *crash.Shop, c sandbox.Checkout) sandbox.Checkout {
	t.Helper()
	c.Product, c.Amount, c.Currency, c.Email, c.Name = "prod_guide_creem", 1210, "EUR", crash.BuyerEmail, crash.BuyerName
	c, err := s.Sandbox.CreateCheckout(c)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func reportAtCreem(t *testing.T, s *crash.Shop, e sandbox.CreemEvent) {
	t.Helper()
	d, err := s.Sandbox.DeliverCreem(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	for _, status := range d.Statuses {
		if status != 200 {
			t.Errorf("%s was answered %d", e.Type, status)
		}
	}
}

func TestACheckoutAtCreemIsDeliveredOnceAndEndsWithItsRefund(t *testing.T) {
	t.Parallel()
	s := openCreem(t)
	sold := sellAtCreem(t, s, sandbox.Checkout{Bare: true})
	reportAtCreem(t, s, sandbox.CreemEvent{Type: "checkout.completed", Checkout: sold.ID, Copies: 5})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if n, reached := s.Sandbox.Wait(ctx, sandbox.WaitFor{What: "accepted", Order: "creem/" + sold.ID}, 1); !reached {
		t.Fatalf("%d messages were accepted", n)
	}
	status := func() (v struct {
		CustomerState order.CustomerState `json:"customer_state"`
	}) {
		out, errs, code := s.Command("status", "creem/"+sold.ID, "--json")
		if code != 0 || json.Unmarshal([]byte(out), &v) != nil {
			t.Fatalf("status ended %d: %s%s", code, out, errs)
		}
		return v
	}
	s.Eventually("the order is ready", func() bool { return status().CustomerState == order.CustomerReady })
	if _, err := s.Sandbox.ChangeCheckout(sold.ID, []byte(`{"refunds":[{"amount":1210}]}`)); err != nil {
		t.Fatal(err)
	}
	reportAtCreem(t, s, sandbox.CreemEvent{Type: "refund.created", Checkout: sold.ID, Copies: 2, Nested: "local"})
	s.Eventually("the access has ended", func() bool { return status().CustomerState == order.CustomerEnded })
	counts := s.Sandbox.Counts()
	if got := counts.Emails.ByOrder["creem/"+sold.ID]; got != 1 {
		t.Errorf("%d messages, want 1", got)
	}
}

func TestACheckoutAtCreemThatWasRefundedBeforeAnybodyLookedGivesNothing(t *testing.T) {
	t.Parallel()
	s := openCreem(t)
	sold := sellAtCreem(t, s, sandbox.Checkout{Refunds: []sandbox.CreemRefund{{}}})
	other := sellAtCreem(t, s, sandbox.Checkout{})
	reportAtCreem(t, s, sandbox.CreemEvent{Type: "refund.created", Checkout: sold.ID})
	reportAtCreem(t, s, sandbox.CreemEvent{Type: "checkout.completed", Checkout: sold.ID})
	reportAtCreem(t, s, sandbox.CreemEvent{Type: "checkout.completed", Checkout: other.ID})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if n, reached := s.Sandbox.Wait(ctx, sandbox.WaitFor{What: "accepted", Order: "creem/" + other.ID}, 1); !reached {
		t.Fatalf("%d messages were accepted", n)
	}
	s.Eventually("the refunded order has ended", func() bool {
		out, _, _ := s.Command("status", "creem/"+sold.ID, "--json")
		var v struct {
			CustomerState order.CustomerState `json:"customer_state"`
		}
		return json.Unmarshal([]byte(out), &v) == nil && v.CustomerState == order.CustomerEnded
	})
	if got := s.Sandbox.Counts().Emails.ByOrder["creem/"+sold.ID]; got != 0 {
		t.Errorf("%d messages about what was refunded before it was given", got)
	}
}
