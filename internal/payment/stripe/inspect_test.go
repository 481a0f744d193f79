package stripe_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/finding"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/payment/stripe"
)

const wantedURL = "https://shop.example/webhooks/payments/live"

// judged is a stand-in with its judge, and an inspection of it with a key.
func judged(t *testing.T) (*sandbox.Sandbox, func(payment.Requirements) payment.Inspection) {
	t.Helper()
	judge, err := sandbox.New(sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(judge.Handler())
	t.Cleanup(func() { _ = judge.Close(); server.Close() })
	return judge, func(w payment.Requirements) payment.Inspection { return inspect(t, t.Context(), server.URL, "", w) }
}

func inspect(t *testing.T, ctx context.Context, url, account string, w payment.Requirements) payment.Inspection {
	t.Helper()
	p, err := stripe.New(stripe.Config{APIKey: "rk_live_inspected", WebhookSecrets: []string{"whsec_inspected_account"}, Mode: order.Live, APIURL: url, Account: account})
	if err != nil {
		t.Fatal(err)
	}
	return p.Inspect(ctx, w)
}

// lines are the findings of one name, as state and text.
func lines(i payment.Inspection, name string) (list []string) {
	for _, f := range i.Findings {
		if f.Name == name {
			list = append(list, string(f.State)+": "+f.Says)
		}
	}
	return list
}

func TestInspectFindsWhereEventsGo(t *testing.T) {
	t.Parallel()
	at := func(url string) sandbox.Endpoint { return sandbox.Endpoint{ID: "we_1", URL: url} }
	for name, c := range map[string]struct {
		endpoints []sandbox.Endpoint
		want      []string // state and a part of the text, for each line
	}{
		"right":                  {[]sandbox.Endpoint{at(wantedURL)}, []string{"ok: sends events"}},
		"host in other letters":  {[]sandbox.Endpoint{at("https://Shop.Example/webhooks/payments/live")}, []string{"ok: sends events"}},
		"port written out":       {[]sandbox.Endpoint{at("https://shop.example:443/webhooks/payments/live")}, []string{"ok: sends events"}},
		"slash at the end":       {[]sandbox.Endpoint{at(wantedURL + "/")}, []string{"warning: slash at its end"}},
		"none":                   {nil, []string{"failure: no endpoint of the account"}},
		"others only":            {[]sandbox.Endpoint{at("https://other.example/hook")}, []string{"failure: it has 1 that lead elsewhere"}},
		"disabled":               {[]sandbox.Endpoint{{ID: "we_1", URL: wantedURL, Status: "disabled"}}, []string{"failure: is disabled (we_1)"}},
		"http":                   {[]sandbox.Endpoint{at("http://shop.example/webhooks/payments/live")}, []string{"failure: has http where"}},
		"letters of the path":    {[]sandbox.Endpoint{at("https://shop.example/webhooks/payments/Live")}, []string{"failure: another path of this shop"}},
		"another environment":    {[]sandbox.Endpoint{at("https://shop.example/webhooks/payments/test")}, []string{"failure: another path of this shop (we_1)"}},
		"with a query":           {[]sandbox.Endpoint{at(wantedURL + "?x=1")}, []string{"failure: another path"}},
		"another host":           {[]sandbox.Endpoint{at("https://old.example/webhooks/payments/live")}, []string{"failure: another host"}},
		"a longer host":          {[]sandbox.Endpoint{at("https://shop.example.evil.example/webhooks/payments/live")}, []string{"failure: another host"}},
		"another port":           {[]sandbox.Endpoint{at("https://shop.example:8443/webhooks/payments/live")}, []string{"failure: another host"}},
		"one enabled one not":    {[]sandbox.Endpoint{at(wantedURL), {URL: wantedURL, Status: "disabled"}}, []string{"ok: sends events"}},
		"twice":                  {[]sandbox.Endpoint{at(wantedURL), {ID: "we_2", URL: wantedURL + "/"}}, []string{"warning: 2 endpoints lead to"}},
		"right and another path": {[]sandbox.Endpoint{at(wantedURL), {ID: "we_2", URL: "https://shop.example/stripe"}}, []string{"ok: sends events", "warning: at another address: we_2"}},
		"of the other mode":      {[]sandbox.Endpoint{{URL: wantedURL, Mode: "test"}}, []string{"failure: no endpoint of the account"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judge, inspected := judged(t)
			if err := judge.SetEndpoints(c.endpoints); err != nil {
				t.Fatal(err)
			}
			got := lines(inspected(payment.Requirements{WebhookURL: wantedURL}), payment.FindingEndpoint)
			if len(got) != len(c.want) {
				t.Fatalf("%q, want %q", got, c.want)
			}
			for i, want := range c.want {
				state, part, _ := strings.Cut(want, ": ")
				if !strings.HasPrefix(got[i], state+": ") || !strings.Contains(got[i], part) {
					t.Errorf("%q, want %s with %q", got[i], state, part)
				}
			}
		})
	}
}

func TestInspectReadsEveryPageOfEndpoints(t *testing.T) {
	t.Parallel()
	judge, inspected := judged(t)
	var list []sandbox.Endpoint
	for range 150 {
		list = append(list, sandbox.Endpoint{URL: "https://other.example/hook"})
	}
	if err := judge.SetEndpoints(append(list, sandbox.Endpoint{URL: wantedURL})); err != nil {
		t.Fatal(err)
	}
	if got := lines(inspected(payment.Requirements{WebhookURL: wantedURL}), payment.FindingEndpoint); len(got) != 1 || !strings.HasPrefix(got[0], "ok") {
		t.Errorf("%q", got)
	}
}

func TestInspectNamesTheEventsThatAreMissing(t *testing.T) {
	t.Parallel()
	all := []string{
		"checkout.session.completed", "checkout.session.async_payment_succeeded", "checkout.session.async_payment_failed", "checkout.session.expired",
		"charge.refunded", "refund.created", "refund.updated", "refund.failed", "charge.dispute.created", "charge.dispute.updated",
		"charge.dispute.closed", "charge.dispute.funds_withdrawn", "charge.dispute.funds_reinstated",
	}
	losesSales := map[string]bool{all[0]: true, all[1]: true}
	events := func(t *testing.T, subscribed []string) []string {
		t.Helper()
		judge, inspected := judged(t)
		if err := judge.SetEndpoints([]sandbox.Endpoint{{URL: wantedURL, Events: subscribed}}); err != nil {
			t.Fatal(err)
		}
		return lines(inspected(payment.Requirements{WebhookURL: wantedURL}), payment.FindingEvents)
	}
	for _, subscribed := range [][]string{all, {"*"}} {
		if got := events(t, subscribed); len(got) != 1 || !strings.HasPrefix(got[0], "ok") {
			t.Errorf("%q: %q", subscribed, got)
		}
	}
	for i, missing := range all {
		rest := append(append([]string{}, all[:i]...), all[i+1:]...)
		state := "warning"
		if losesSales[missing] {
			state = "failure"
		}
		if got := events(t, rest); len(got) != 1 || !strings.HasPrefix(got[0], state) || !strings.HasSuffix(got[0], ": "+missing) {
			t.Errorf("without %s: %q, want a %s that names it alone", missing, got, state)
		}
	}
}

func TestInspectSaysHowTheCatalogueIsListed(t *testing.T) {
	t.Parallel()
	judge, inspected := judged(t)
	for _, err := range []error{
		judge.SetStock(sandbox.StockItem{ID: "prod_on"}), judge.SetStock(sandbox.StockItem{ID: "prod_off", Inactive: true}),
		judge.SetPrice(sandbox.Price{ID: "price_on", Product: "prod_on"}), judge.SetPrice(sandbox.Price{ID: "price_off", Inactive: true}),
		judge.SetPrice(sandbox.Price{ID: "price_of_off", Product: "prod_off"}), judge.SetPrice(sandbox.Price{ID: "price_monthly", Monthly: true}),
		judge.SetPrice(sandbox.Price{ID: "price_test", Mode: "test"}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	got := inspected(payment.Requirements{WebhookURL: wantedURL, Refs: []string{
		"prod_on", "prod_off", "price_on", "price_off", "price_of_off", "price_monthly", "price_test", "price_none", "prod_none", "field-guide", "price_../../x",
	}})
	want := map[string]payment.Listing{
		"prod_on": payment.ListedActive, "prod_off": payment.ListedArchived,
		"price_on": payment.ListedActive, "price_off": payment.ListedArchived, "price_of_off": payment.ListedArchived,
		"price_monthly": payment.ListedSubscription, "price_test": payment.ListedNowhere,
		"price_none": payment.ListedNowhere, "prod_none": payment.ListedNowhere,
	}
	if diff := cmp.Diff(want, got.Sold); diff != "" {
		t.Error(diff)
	}
}

func TestInspectNamesThePermissionThatARestrictedKeyLacks(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"stripe.sessions":  "failure: the key may not read Checkout Sessions",
		"stripe.charges":   "failure: the key may not read Charges and Refunds",
		"stripe.disputes":  "warning: the key may not read Disputes",
		"stripe.endpoints": "warning: the key may not read Webhook Endpoints",
		"stripe.price":     "warning: the key may not read Prices",
		"stripe.product":   "warning: the key may not read Products",
	} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			judge, inspected := judged(t)
			if _, err := judge.AddFault(sandbox.Fault{Target: target, Mode: "refuse", Status: http.StatusForbidden}); err != nil {
				t.Fatal(err)
			}
			got := lines(inspected(payment.Requirements{WebhookURL: wantedURL, Refs: []string{"price_1", "prod_1"}}), payment.FindingPermission)
			if len(got) != 1 || !strings.HasPrefix(got[0], want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

func TestInspectJudgesTheKeyByItsAnswerAndRepeatsNothingOfIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		want   finding.State
		says   string
	}{
		"refused":       {401, `{"error":{"message":"Invalid API Key provided: private_text"}}`, finding.Failure, "refuses the key"},
		"down":          {500, `private_text`, finding.Failure, "HTTP 500"},
		"not Stripe":    {200, `<html>private_text</html>`, finding.Failure, "does not answer"},
		"redirect":      {302, `private_text`, finding.Failure, "HTTP 302"},
		"rate limit":    {429, `{"error":{"code":"rate_limit","message":"private_text"}}`, finding.Warning, "come back later"},
		"in test mode":  {200, `{"object":"list","has_more":false,"data":[{"id":"cs_1","object":"checkout.session","livemode":false}]}`, finding.Failure, "other mode"},
		"in live mode":  {200, `{"object":"list","has_more":false,"data":[{"id":"cs_1","object":"checkout.session","livemode":true}]}`, finding.OK, "takes the key, in live mode"},
		"empty account": {200, `{"object":"list","has_more":false,"data":[]}`, finding.OK, "takes the key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.body)
			}))
			t.Cleanup(server.Close)
			i := inspect(t, t.Context(), server.URL, "", payment.Requirements{WebhookURL: wantedURL, Refs: []string{"price_1"}})
			got := lines(i, payment.FindingKey)
			if len(got) != 1 || !strings.HasPrefix(got[0], string(c.want)+": ") || !strings.Contains(got[0], c.says) {
				t.Errorf("%q, want %s with %q", got, c.want, c.says)
			}
			all, err := json.Marshal(i.Findings)
			if err != nil || strings.Contains(string(all), "private_text") || strings.Contains(string(all), "inspected") {
				t.Errorf("the response's text or the key is repeated: %s", all)
			}
		})
	}
}

func TestInspectEndsWithItsContext(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	i := inspect(t, ctx, server.URL, "", payment.Requirements{WebhookURL: wantedURL})
	if got := lines(i, payment.FindingKey); len(i.Findings) != 1 || len(got) != 1 || got[0] != "failure: Stripe does not answer" {
		t.Errorf("%+v", i.Findings)
	}
}

// The sessions and prices are the connected account's; the endpoints that its events go to are the platform's.
func TestInspectAsksTheConnectedAccountAndThePlatform(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := map[string]string{}
	noAccess := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked[r.URL.Path] = r.Header.Get("Stripe-Account")
		switch {
		case noAccess:
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"error":{"type":"invalid_request_error","code":"account_invalid","message":"private_text"}}`)
		case r.URL.Path == "/v1/prices/price_1":
			fmt.Fprint(w, `{"id":"price_1","object":"price","active":true,"type":"one_time"}`)
		default:
			fmt.Fprint(w, `{"object":"list","has_more":false,"data":[]}`)
		}
	}))
	t.Cleanup(server.Close)
	inspect(t, t.Context(), server.URL, "acct_1", payment.Requirements{WebhookURL: wantedURL, Refs: []string{"price_1"}})
	want := map[string]string{
		"/v1/checkout/sessions": "acct_1", "/v1/payment_intents": "acct_1", "/v1/charges": "acct_1", "/v1/disputes": "acct_1",
		"/v1/prices/price_1": "acct_1", "/v1/webhook_endpoints": "",
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
	noAccess = true
	got := lines(inspect(t, t.Context(), server.URL, "acct_1", payment.Requirements{WebhookURL: wantedURL}), payment.FindingKey)
	if len(got) != 1 || !strings.Contains(got[0], "connected account") {
		t.Errorf("%q", got)
	}
}

func TestAPriceIsReadWithoutItsProductWhereTheKeyMayNotReadThat(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/v1/prices/price_1":
			fmt.Fprint(w, `{"object":"list","has_more":false,"data":[]}`)
		case strings.Contains(r.URL.RawQuery, "expand"):
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"error":{"type":"invalid_request_error","message":"private_text"}}`)
		default:
			fmt.Fprint(w, `{"id":"price_1","object":"price","active":true,"type":"one_time","product":"prod_1"}`)
		}
	}))
	t.Cleanup(server.Close)
	i := inspect(t, t.Context(), server.URL, "", payment.Requirements{WebhookURL: wantedURL, Refs: []string{"price_1"}})
	if got := lines(i, payment.FindingPermission); i.Sold["price_1"] != payment.ListedActive || got != nil {
		t.Errorf("price_1 is %q, %q", i.Sold["price_1"], got)
	}
}
