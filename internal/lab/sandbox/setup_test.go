package sandbox_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stripe/stripe-go/v85"

	"handover/internal/lab/sandbox"
)

func TestManyPaidSessionsAreMadeAtOnceAndNobodyIsTold(t *testing.T) {
	t.Parallel()
	now := newClock()
	hook := receive(t, always(200))
	c := start(t, sandbox.Config{WebhookURL: hook.url, Now: now.now})
	var times []time.Time
	for n := range 5 {
		times = append(times, now.now().Add(-time.Duration(n)*time.Hour))
	}
	list := made(c.CreateBatch(sandbox.Batch{
		Session: sandbox.Session{Items: []sandbox.Item{{Price: "price_guide"}}}, N: 7, Created: times,
	}))(t)
	seen := map[string]bool{}
	for n, sess := range list {
		want := now.now()
		if n < len(times) {
			want = times[n]
		}
		if sess.PaymentStatus != "paid" || sess.Amount != 1200 || !sess.Created.Equal(want) || seen[sess.ID] || seen[sess.PaymentIntent.ID] {
			t.Errorf("session %d: %+v", n, sess)
		}
		seen[sess.ID], seen[sess.PaymentIntent.ID] = true, true
	}
	if w := c.Counts().Webhooks; len(list) != 7 || w != (sandbox.WebhookCounts{}) {
		t.Errorf("%d sessions, webhooks %+v", len(list), w)
	}
	for _, bad := range []sandbox.Batch{{}, {N: 10_001}, {N: 1, Session: sandbox.Session{ID: "cs_test_1"}}, {N: 1, Session: sandbox.Session{Status: "x"}}} {
		if _, err := c.CreateBatch(bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

func TestAnEndpointThatIsSwitchedOffGetsNothing(t *testing.T) {
	t.Parallel()
	hook := receive(t, always(200))
	c := start(t, sandbox.Config{WebhookURL: hook.url, ShopReturnURL: "http://shop.example"})
	c.SwitchWebhooks(false)
	missed := buy(t, c, "once", "a@example.com")
	d := made(c.DeliverEvent(t.Context(), sandbox.EventRequest{Type: "checkout.session.completed", Session: missed}))(t)
	if len(d.Statuses) != 0 {
		t.Errorf("delivered: %+v", d)
	}
	c.SwitchWebhooks(true)
	made(c.DeliverEvent(t.Context(), sandbox.EventRequest{Type: "checkout.session.expired", Session: missed}))(t)
	if kind := eventType(t, hook.next(t)); kind != "checkout.session.expired" {
		t.Errorf("first reported %q", kind)
	}
	// Stripe keeps the events that no webhook reported.
	var types []string
	for e, err := range stripeClient(c.Base, "k").V1Events.List(t.Context(), &stripe.EventListParams{}).All(t.Context()) {
		must(t, err)
		types = append(types, string(e.Type))
	}
	if diff := cmp.Diff([]string{"checkout.session.expired", "checkout.session.completed", "checkout.session.completed"}, types); diff != "" {
		t.Error(diff)
	}
}

func TestTheListOfEndpointsIsWhatATestSays(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{WebhookURL: "http://shop.example/webhooks/payments/test"})
	show := func(key string) (list []string) {
		for e, err := range stripeClient(c.Base, key).V1WebhookEndpoints.List(t.Context(), nil).All(t.Context()) {
			must(t, err)
			list = append(list, e.URL+" "+e.Status+" "+strings.Join(e.EnabledEvents, ","))
		}
		return list
	}
	if diff := cmp.Diff([]string{"http://shop.example/webhooks/payments/test enabled *"}, show("k")); diff != "" {
		t.Errorf("at first: %s", diff)
	}
	must(t, c.SetEndpoints([]sandbox.Endpoint{sandbox.Endpoint{URL: "https://a.example", Events: []string{"checkout.session.completed", "charge.refunded"}, Mode: "test"}, sandbox.Endpoint{URL: "https://b.example", Status: "disabled", Mode: "live"}}))
	if diff := cmp.Diff([]string{"https://a.example enabled checkout.session.completed,charge.refunded"}, show("sk_test_1")); diff != "" {
		t.Errorf("test: %s", diff)
	}
	if diff := cmp.Diff([]string{"https://b.example disabled *"}, show("sk_live_1")); diff != "" {
		t.Errorf("live: %s", diff)
	}
	must(t, c.SetEndpoints([]sandbox.Endpoint{}))
	if list := show("sk_test_1"); len(list) != 0 {
		t.Errorf("none are left: %v", list)
	}
}

func TestPricesAndProductsAreKnownFromWhatIsSold(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{})
	sc := stripeClient(c.Base, "sk_test_1")
	made(c.CreateSession(sandbox.Session{Items: []sandbox.Item{{Price: "price_new", Product: "prod_new", Name: "New", Amount: 700}}, Currency: "gbp"}))(t)
	must(t, c.SetPrice(sandbox.Price{ID: "price_old", Product: "prod_old", Inactive: true}))
	must(t, c.SetStock(sandbox.StockItem{ID: "prod_old", Inactive: true}))
	must(t, c.SetPrice(sandbox.Price{ID: "price_monthly", Monthly: true}))
	must(t, c.SetPrice(sandbox.Price{ID: "price_live", Mode: "live"}))
	for id, want := range map[string]string{
		"price_guide": "active prod_guide 1200 eur one_time", "price_new": "active prod_new 700 gbp one_time",
		"price_old": "archived prod_old 0 usd one_time", "price_monthly": "active - 0 usd recurring",
		"price_none": "missing", "price_live": "missing",
	} {
		p, err := sc.V1Prices.Retrieve(t.Context(), id, nil)
		if got := describe(p, err); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	for id, want := range map[string]bool{"prod_guide": true, "prod_new": true, "prod_old": false} {
		if p := made(sc.V1Products.Retrieve(t.Context(), id, nil))(t); p.Active != want || p.Name == "" {
			t.Errorf("%s: %+v", id, p)
		}
	}
	if _, err := sc.V1Products.Retrieve(t.Context(), "prod_none", nil); err == nil {
		t.Error("an unknown product is known")
	}
	if p, err := stripeClient(c.Base, "sk_live_1").V1Prices.Retrieve(t.Context(), "price_live", nil); err != nil || !p.Livemode {
		t.Errorf("with a live key: %+v, %v", p, err)
	}
	if a, err := sc.V1Accounts.Retrieve(t.Context(), nil); err != nil || !strings.HasPrefix(a.ID, "acct_") || !a.ChargesEnabled {
		t.Errorf("account: %+v, %v", a, err)
	}
}

func describe(p *stripe.Price, err error) string {
	var e *stripe.Error
	switch {
	case errors.As(err, &e) && e.Code == stripe.ErrorCodeResourceMissing:
		return "missing"
	case err != nil:
		return err.Error()
	}
	state, product := "archived", "-"
	if p.Active {
		state = "active"
	}
	if p.Product != nil {
		product = p.Product.ID
	}
	return strings.Join([]string{state, product, strconv.FormatInt(p.UnitAmount, 10), string(p.Currency), string(p.Type)}, " ")
}

func TestListsGoBothWays(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{})
	list := made(c.CreateBatch(sandbox.Batch{N: 5}))(t)
	ids := make([]string, len(list)) // newest first
	for i, sess := range list {
		ids[len(list)-1-i] = sess.ID
	}
	sc := stripeClient(c.Base, "k")
	read := func(p stripe.CheckoutSessionListParams) ([]string, bool) {
		p.Single, p.Limit = true, stripe.Int64(2)
		page := sc.V1CheckoutSessions.List(t.Context(), &p)
		must(t, page.Err())
		var got []string
		for _, cs := range page.Data() {
			got = append(got, cs.ID)
		}
		return got, page.Meta().HasMore
	}
	for _, tc := range []struct {
		name          string
		after, before int // index into ids, -1 for none
		want          []string
		more          bool
	}{
		{"first", -1, -1, ids[:2], true},
		{"after the second", 1, -1, ids[2:4], true},
		{"after the third", 2, -1, ids[3:], false},
		{"before the fifth", -1, 4, ids[2:4], true},
		{"before the third", -1, 2, ids[:2], false},
	} {
		p := stripe.CheckoutSessionListParams{}
		if tc.after >= 0 {
			p.StartingAfter = &ids[tc.after]
		}
		if tc.before >= 0 {
			p.EndingBefore = &ids[tc.before]
		}
		got, more := read(p)
		if tc.before >= 0 {
			slices.Reverse(got) // the client turns such a page round
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || more != tc.more {
			t.Errorf("%s: more %v, %s", tc.name, more, diff)
		}
	}
	for _, query := range []string{"?starting_after=" + ids[0] + "&ending_before=" + ids[1], "?starting_after=cs_test_none", "?status=paid", "?limit=101"} {
		a := made(do(t, "GET", c.Base+"/v1/checkout/sessions"+query, "", map[string]string{"Authorization": "Bearer k"}))(t)
		if a.status != 400 {
			t.Errorf("%s: HTTP %d", query, a.status)
		}
	}
}
