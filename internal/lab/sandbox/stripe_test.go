package sandbox_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stripe/stripe-go/v85"

	"handover/internal/lab/sandbox"
)

func stripeClient(base, key string) *stripe.Client {
	return stripe.NewClient(key, stripe.WithBackends(stripe.NewBackendsWithConfig(&stripe.BackendConfig{
		URL: stripe.String(base), MaxNetworkRetries: stripe.Int64(0), EnableTelemetry: stripe.Bool(false),
		LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull},
	})))
}

func TestStripeClientRetrievesASessionAndEveryPageOfItsItems(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{StripeKeys: []string{"sk_test_1"}})
	var items []sandbox.Item
	for n := range 12 {
		items = append(items, sandbox.Item{Price: fmt.Sprintf("price_%d", n), Product: "prod_x", Quantity: int64(n + 1), Amount: 100})
	}
	sess := made(c.CreateSession(sandbox.Session{Items: items, Email: "a@example.com", Name: "A"}))(t)
	sc := stripeClient(c.Base, "sk_test_1")

	p := &stripe.CheckoutSessionRetrieveParams{}
	p.AddExpand("line_items")
	p.AddExpand("payment_intent.latest_charge")
	got := made(sc.V1CheckoutSessions.Retrieve(t.Context(), sess.ID, p))(t)
	if got.PaymentStatus != "paid" || got.Status != "complete" || got.Mode != "payment" || got.Livemode ||
		got.AmountTotal != 7800 || got.CustomerDetails.Email != "a@example.com" {
		t.Errorf("session: %+v", got)
	}
	if len(got.LineItems.Data) != 10 || !got.LineItems.HasMore {
		t.Errorf("first page: %d items, more %v; want 10 and more", len(got.LineItems.Data), got.LineItems.HasMore)
	}
	if pi := got.PaymentIntent; pi.ID != sess.PaymentIntent.ID || pi.Status != "succeeded" ||
		pi.LatestCharge.BillingDetails.Email != "a@example.com" {
		t.Errorf("payment intent: %+v", pi)
	}

	var prices []string
	for li, err := range sc.V1CheckoutSessions.ListLineItems(t.Context(),
		&stripe.CheckoutSessionListLineItemsParams{Session: &sess.ID}).All(t.Context()) {
		must(t, err)
		prices = append(prices, fmt.Sprintf("%s×%d", li.Price.ID, li.Quantity))
	}
	if len(prices) != 12 || prices[0] != "price_0×1" || prices[11] != "price_11×12" {
		t.Errorf("items: %v", prices)
	}
	if diff := cmp.Diff(sandbox.StripeCounts{
		Retrieves: map[string]int{sess.ID: 1}, LineItems: map[string]int{sess.ID: 2},
		Reads: map[string]int{},
	}, c.Counts().Stripe); diff != "" {
		t.Error(diff)
	}
}

func TestUnexpandedSessionHasIdsAndNulls(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{})
	sess := made(c.CreateSession(sandbox.Session{Items: []sandbox.Item{{Price: "price_guide"}}}))(t)
	a := made(do(t, "GET", c.Base+"/stripe/v1/checkout/sessions/"+sess.ID, "", map[string]string{"Authorization": "Bearer k"}))(t)
	var o map[string]any
	must(t, json.Unmarshal([]byte(a.body), &o))
	if _, there := o["line_items"]; there {
		t.Error("line_items must be absent unless expanded")
	}
	if o["payment_intent"] != sess.PaymentIntent.ID {
		t.Errorf("payment_intent = %v, want the id", o["payment_intent"])
	}
	for _, key := range []string{"customer", "invoice", "customer_email", "subscription", "client_reference_id"} {
		if v, there := o[key]; !there || v != nil {
			t.Errorf("%s = %v (there %v), want null", key, v, there)
		}
	}
	if details := o["customer_details"].(map[string]any); details["email"] != nil {
		t.Errorf("email = %v, want null", details["email"])
	}
}

func TestStripeErrors(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{StripeKeys: []string{"sk_test_1", "sk_live_1"}})
	sess := made(c.CreateSession(sandbox.Session{ID: "cs_test_known"}))(t)
	for _, tc := range []struct {
		name, key, id string
		status        int
		code          stripe.ErrorCode
	}{
		{"known", "sk_test_1", sess.ID, 200, ""},
		{"unknown session", "sk_test_1", "cs_test_other", 404, stripe.ErrorCodeResourceMissing},
		{"key of the other mode", "sk_live_1", sess.ID, 404, stripe.ErrorCodeResourceMissing},
		{"wrong key", "sk_test_2", sess.ID, 401, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := stripeClient(c.Base, tc.key).V1CheckoutSessions.Retrieve(t.Context(), tc.id, nil)
			var e *stripe.Error
			switch {
			case tc.status == 200 && err != nil:
				t.Error(err)
			case tc.status != 200 && !errors.As(err, &e):
				t.Errorf("error %v, want a Stripe error", err)
			case tc.status != 200 && (e.HTTPStatusCode != tc.status || e.Code != tc.code || e.Type != stripe.ErrorTypeInvalidRequest):
				t.Errorf("got %d %q %q", e.HTTPStatusCode, e.Type, e.Code)
			}
		})
	}
	a := made(do(t, "GET", c.Base+"/stripe/v1/checkout/sessions/"+sess.ID, "", nil))(t)
	if a.status != http.StatusUnauthorized {
		t.Errorf("no key: HTTP %d", a.status)
	}
	// curl's -u KEY: is what Stripe's own examples use.
	a = made(do(t, "GET", c.Base+"/stripe/v1/checkout/sessions/"+sess.ID, "", map[string]string{"Authorization": "Basic c2tfdGVzdF8xOg=="}))(t)
	if a.status != http.StatusOK {
		t.Errorf("basic: HTTP %d", a.status)
	}
}

func TestSessionListFiltersAndPages(t *testing.T) {
	t.Parallel()
	now := newClock()
	c := start(t, sandbox.Config{Now: now.now})
	var made3 []sandbox.Session
	for range 3 {
		made3 = append(made3, made(c.CreateSession(sandbox.Session{}))(t))
		now.move(60e9)
	}
	open := made(c.CreateSession(sandbox.Session{Status: "open", PaymentStatus: "unpaid"}))(t)
	sc := stripeClient(c.Base, "k")
	for _, tc := range []struct {
		name   string
		params stripe.CheckoutSessionListParams
		want   []string
	}{
		{"newest first, in pages", stripe.CheckoutSessionListParams{ListParams: stripe.ListParams{Limit: stripe.Int64(2)}},
			[]string{open.ID, made3[2].ID, made3[1].ID, made3[0].ID}},
		{"by payment", stripe.CheckoutSessionListParams{PaymentIntent: &made3[1].PaymentIntent.ID}, []string{made3[1].ID}},
		{"by status", stripe.CheckoutSessionListParams{Status: stripe.String("open")}, []string{open.ID}},
		{"by time", stripe.CheckoutSessionListParams{CreatedRange: &stripe.RangeQueryParams{GreaterThanOrEqual: made3[1].Created.Unix()}},
			[]string{open.ID, made3[2].ID, made3[1].ID}},
	} {
		var got []string
		for sess, err := range sc.V1CheckoutSessions.List(t.Context(), &tc.params).All(t.Context()) {
			must(t, err)
			got = append(got, sess.ID)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
}

func TestCreatedSessionIsOpenUntilItIsPaid(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{})
	sc := stripeClient(c.Base, "sk_test_1")
	create := func() (*stripe.CheckoutSession, error) {
		p := &stripe.CheckoutSessionCreateParams{
			Mode: stripe.String("payment"), CustomerEmail: stripe.String("a@example.com"),
			SuccessURL: stripe.String("https://shop.example/thanks"), Metadata: map[string]string{"ref": "7"},
			LineItems: []*stripe.CheckoutSessionCreateLineItemParams{{Price: stripe.String("price_guide"), Quantity: stripe.Int64(2)}},
		}
		p.SetIdempotencyKey("create-1")
		return sc.V1CheckoutSessions.Create(t.Context(), p)
	}
	first, again := made(create())(t), made(create())(t)
	if first.ID != again.ID {
		t.Errorf("same key made two sessions: %s, %s", first.ID, again.ID)
	}
	if first.Status != "open" || first.PaymentStatus != "unpaid" || first.AmountTotal != 2400 || first.Currency != "eur" ||
		first.PaymentIntent != nil || first.Metadata["ref"] != "7" || !strings.HasPrefix(first.ID, "cs_test_") {
		t.Errorf("created: %+v", first)
	}
	made(c.PaySession(first.ID))(t)
	got := made(sc.V1CheckoutSessions.Retrieve(t.Context(), first.ID, nil))(t)
	if got.Status != "complete" || got.PaymentStatus != "paid" || got.PaymentIntent == nil {
		t.Errorf("paid: %s %s %v", got.Status, got.PaymentStatus, got.PaymentIntent)
	}
	_, err := sc.V1CheckoutSessions.Create(t.Context(), &stripe.CheckoutSessionCreateParams{
		LineItems: []*stripe.CheckoutSessionCreateLineItemParams{{Price: stripe.String("price_unknown"), Quantity: stripe.Int64(1)}},
	})
	var e *stripe.Error
	if !errors.As(err, &e) || e.Code != stripe.ErrorCodeResourceMissing {
		t.Errorf("unknown price: %v", err)
	}
}

func TestUnpaidSessionIsPaidOrFails(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{})
	states := func(id string) [2]string {
		p := &stripe.CheckoutSessionRetrieveParams{}
		p.AddExpand("payment_intent.latest_charge")
		s := made(stripeClient(c.Base, "k").V1CheckoutSessions.Retrieve(t.Context(), id, p))(t)
		return [2]string{string(s.PaymentStatus), string(s.PaymentIntent.Status) + "/" + string(s.PaymentIntent.LatestCharge.Status)}
	}
	debit := sandbox.Session{PaymentStatus: "unpaid", Amount: 900}
	arrives, fails := made(c.CreateSession(debit))(t), made(c.CreateSession(debit))(t)
	if got := states(arrives.ID); got != [2]string{"unpaid", "processing/pending"} {
		t.Errorf("waiting: %v", got)
	}
	made(c.PaySession(arrives.ID))(t)
	if got := states(arrives.ID); got != [2]string{"paid", "succeeded/succeeded"} {
		t.Errorf("arrived: %v", got)
	}
	made(c.FailSession(fails.ID))(t)
	if got := states(fails.ID); got != [2]string{"unpaid", "requires_payment_method/failed"} {
		t.Errorf("failed: %v", got)
	}
	free := made(c.CreateSession(sandbox.Session{PaymentStatus: "no_payment_required"}))(t)
	if free.PaymentIntent.ID != "" {
		t.Errorf("a free session has the payment %q", free.PaymentIntent.ID)
	}
}

func TestMisspeltOrderIsRefused(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{})
	known := made(c.CreateSession(sandbox.Session{}))(t)
	for _, wrong := range []sandbox.Session{{PaymentStatus: "payed"}, {ID: "../x"}, {ID: known.ID}} {
		if _, err := c.CreateSession(wrong); err == nil {
			t.Errorf("%+v was taken", wrong)
		}
	}
	for _, patch := range []string{`{"state":"paid"}`, `{"id":"cs_test_2"}`} {
		if _, err := c.ChangeSession(known.ID, []byte(patch)); err == nil {
			t.Errorf("%s was taken", patch)
		}
	}
	for _, body := range []string{`{"target":"resend.send","mode":"explode"}`, `{"mode":"drop"}`, `{"target":"resend.send","mode":"drop","tims":1}`} {
		if a := made(do(t, "POST", c.Base+"/control/faults", body, nil))(t); a.status != http.StatusBadRequest {
			t.Errorf("%s: HTTP %d", body, a.status)
		}
	}
}
