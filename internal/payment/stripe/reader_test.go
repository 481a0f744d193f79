package stripe_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/payment/stripe"
)

const missing = `{"error":{"type":"invalid_request_error","code":"resource_missing","message":"No such private"}}`

// archive answers by path and the named filters of the query: "/v1/refunds?payment_intent=pi_1". What it does not hold is
// a 404; an answer that begins with a number has that status.
type archive struct {
	t       *testing.T
	answers map[string]string
	mu      sync.Mutex
	asked   []string
	queries []url.Values
	account []string
}

var filters = []string{"payment_intent", "charge", "starting_after"}

func (a *archive) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q, named := r.URL.Query(), url.Values{}
	for _, f := range filters {
		if q.Has(f) {
			named.Set(f, q.Get(f))
		}
	}
	name := strings.TrimSuffix(r.URL.Path+"?"+named.Encode(), "?")
	a.mu.Lock()
	a.asked, a.queries = append(a.asked, name), append(a.queries, q)
	a.account = append(a.account, r.Header.Get("Stripe-Account"))
	a.mu.Unlock()
	if r.Method != http.MethodGet {
		a.t.Errorf("%s %s: these are reads", r.Method, name)
	}
	answer, found := a.answers[r.Header.Get("Stripe-Account")+name]
	status := http.StatusOK
	if !found {
		status, answer = http.StatusNotFound, missing
	}
	if _, err := fmt.Sscanf(answer, "%3d ", &status); err == nil {
		answer = answer[4:]
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answer)
}

// holding is a provider whose Stripe knows just these answers.
func holding(t *testing.T, answers map[string]string, change ...func(*stripe.Config)) (*stripe.Provider, *archive) {
	t.Helper()
	a := &archive{t: t, answers: answers}
	s := httptest.NewServer(a)
	t.Cleanup(s.Close)
	return provider(t, func(c *stripe.Config) {
		c.APIURL = s.URL
		for _, f := range change {
			f(c)
		}
	}), a
}

func connected(c *stripe.Config) { c.Account = "acct_1" }

func asList(more bool, data ...string) string {
	return fmt.Sprintf(`{"object":"list","has_more":%v,"data":[%s]}`, more, strings.Join(data, ","))
}

const (
	ofIntent = "/v1/checkout/sessions?payment_intent=pi_1"
	bought   = `{"id":"cs_test_a1","object":"checkout.session","payment_intent":"pi_1"}`
)

func TestASessionIsFoundByWhateverAnEventNames(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, ref string
		answers   map[string]string
		want      string
	}{
		{"payment intent", "pi_1", map[string]string{ofIntent: asList(false, bought)}, "cs_test_a1"},
		{"payment intent expanded", "pi_1", map[string]string{ofIntent: asList(false, `{"id":"cs_test_a1","payment_intent":{"id":"pi_1"}}`)}, "cs_test_a1"},
		{"charge", "ch_1", map[string]string{"/v1/charges/ch_1": `{"id":"ch_1","payment_intent":"pi_1"}`, ofIntent: asList(false, bought)}, "cs_test_a1"},
		{"charge as it used to be stored", "charge:ch_1", map[string]string{"/v1/charges/ch_1": `{"id":"ch_1","payment_intent":"pi_1"}`, ofIntent: asList(false, bought)}, "cs_test_a1"},
		{"charge of another kind", "py_1", map[string]string{"/v1/charges/py_1": `{"id":"py_1","payment_intent":{"id":"pi_1"}}`, ofIntent: asList(false, bought)}, "cs_test_a1"},
		{"refund", "re_1", map[string]string{"/v1/refunds/re_1": `{"id":"re_1","payment_intent":"pi_1","charge":"ch_1"}`, ofIntent: asList(false, bought)}, "cs_test_a1"},
		{"refund that names a charge only", "re_1", map[string]string{
			"/v1/refunds/re_1": `{"id":"re_1","payment_intent":null,"charge":"ch_1"}`,
			"/v1/charges/ch_1": `{"id":"ch_1","payment_intent":"pi_1"}`, ofIntent: asList(false, bought),
		}, "cs_test_a1"},
		{"dispute", "du_1", map[string]string{"/v1/disputes/du_1": `{"id":"du_1","payment_intent":"pi_1","charge":"ch_1","evidence":{}}`, ofIntent: asList(false, bought)}, "cs_test_a1"},
		{"an old dispute", "dp_1", map[string]string{"/v1/disputes/dp_1": `{"id":"dp_1","payment_intent":"pi_1"}`, ofIntent: asList(false, bought)}, "cs_test_a1"},

		{"of no session", "pi_1", map[string]string{ofIntent: asList(false)}, ""},
		{"unknown", "pi_1", nil, ""},
		{"unknown, said as a wrong filter", "pi_1", map[string]string{ofIntent: "400 " + missing}, ""},
		{"unknown charge", "ch_1", nil, ""},
		{"charge without an intent", "ch_1", map[string]string{"/v1/charges/ch_1": `{"id":"ch_1","payment_intent":null}`}, ""},
		{"refund without anything", "re_1", map[string]string{"/v1/refunds/re_1": `{"id":"re_1","payment_intent":null,"charge":null}`}, ""},
		{"another's session", "pi_1", map[string]string{ofIntent: asList(false, `{"id":"cs_test_b2","payment_intent":"pi_2"}`)}, ""},
		{"another's session first", "pi_1", map[string]string{ofIntent: asList(false, `{"id":"cs_test_b2","payment_intent":null}`, bought)}, "cs_test_a1"},
		{"a session of the other mode", "pi_1", map[string]string{ofIntent: asList(false, `{"id":"cs_live_a1","payment_intent":"pi_1"}`)}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, _ := holding(t, test.answers)
			if got, err := p.SessionOf(t.Context(), test.ref); got != test.want || err != nil {
				t.Errorf("session %q, error %v; want %q", got, err, test.want)
			}
		})
	}
}

func TestAReferenceThatCannotBeOneIsNotAskedFor(t *testing.T) {
	t.Parallel()
	p, a := holding(t, nil)
	for _, ref := range []string{"", "pi_1/../x", "pi 1", "charge:", strings.Repeat("p", 256)} {
		if session, err := p.SessionOf(t.Context(), ref); session != "" || err != nil {
			t.Errorf("%q: session %q, error %v", ref, session, err)
		}
		if _, err := p.Reversals(t.Context(), ref); !isAPIError(err, payment.APIError{Status: 404, Code: "resource_missing"}) {
			t.Errorf("%q: error %v, want a 404", ref, err)
		}
	}
	if len(a.asked) > 0 {
		t.Errorf("asked %v", a.asked)
	}
}

func isAPIError(err error, want payment.APIError) bool {
	var e *payment.APIError
	return errors.As(err, &e) && *e == want
}

func TestALookUpThatFailsIsNotTakenForNoSession(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, ref string
		answers   map[string]string
		want      payment.APIError
	}{
		{"list away", "pi_1", map[string]string{ofIntent: `500 {"error":{"type":"api_error","message":"private"}}`}, payment.APIError{Status: 500}},
		{"key refused", "pi_1", map[string]string{ofIntent: `401 {}`}, payment.APIError{Status: 401}},
		{"no permission", "ch_1", map[string]string{"/v1/charges/ch_1": `403 {}`}, payment.APIError{Status: 403}},
		{"broken", "pi_1", map[string]string{ofIntent: `{"data":[`}, payment.APIError{}},
		{"another charge", "ch_1", map[string]string{"/v1/charges/ch_1": `{"id":"ch_2","payment_intent":"pi_1"}`}, payment.APIError{Status: 200, Code: "wrong_object"}},
		{"another refund", "re_1", map[string]string{"/v1/refunds/re_1": `{"id":"re_2","payment_intent":"pi_1"}`}, payment.APIError{Status: 200, Code: "wrong_object"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, _ := holding(t, test.answers)
			if session, err := p.SessionOf(t.Context(), test.ref); session != "" || !isAPIError(err, test.want) {
				t.Errorf("session %q, error %#v; want %+v", session, err, test.want)
			}
		})
	}
}

func TestAConnectedAccountsPaymentsAreLookedUpThereAndThenInTheKeysOwn(t *testing.T) {
	t.Parallel()
	p, _ := holding(t, map[string]string{"acct_1" + ofIntent: asList(false, bought)}, connected)
	if got, err := p.SessionOf(t.Context(), "pi_1"); got != "cs_test_a1" || err != nil {
		t.Errorf("the connected account's: session %q, error %v", got, err)
	}
	for name, there := range map[string]map[string]string{
		"not known": {ofIntent: asList(false, bought)},
		"empty":     {"acct_1" + ofIntent: asList(false), ofIntent: asList(false, bought)},
	} {
		p, a := holding(t, there, connected)
		if got, err := p.SessionOf(t.Context(), "pi_1"); got != "cs_test_a1" || err != nil || !slices.Equal(a.account, []string{"acct_1", ""}) {
			t.Errorf("%s there: session %q, error %v, asked of %q", name, got, err, a.account)
		}
	}
}

func sold(n int) string {
	return fmt.Sprintf(`{"id":"cs_test_%d","mode":"payment","status":"complete","created":%d,"payment_intent":"pi_%d"}`, n, 1000+n, n)
}

func soldAs(n int) order.Sale {
	return order.Sale{Session: fmt.Sprintf("cs_test_%d", n), Ref: fmt.Sprintf("pi_%d", n), Kind: order.SessionPayment, At: time.Unix(int64(1000+n), 0).UTC()}
}

// everything reads all pages.
func everything(t *testing.T, p *stripe.Provider, since time.Time) (all []order.Sale) {
	t.Helper()
	cursor := ""
	for {
		page, next, err := p.PaidSessions(t.Context(), since, cursor)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page...)
		if cursor = next; cursor == "" {
			return all
		}
	}
}

func TestFinishedSessionsAreListedPageByPage(t *testing.T) {
	t.Parallel()
	p, a := holding(t, map[string]string{
		"/v1/checkout/sessions":                          asList(true, sold(5), sold(4)),
		"/v1/checkout/sessions?starting_after=cs_test_4": asList(true, sold(3), sold(2)),
		"/v1/checkout/sessions?starting_after=cs_test_2": asList(false, sold(1)),
	})
	got := everything(t, p, at(200_000))
	want := []order.Sale{soldAs(5), soldAs(4), soldAs(3), soldAs(2), soldAs(1)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sales (-want +got):\n%s", diff)
	}
	for _, q := range a.queries {
		// A session can have been open for a day before the buyer finished it.
		if q.Get("created[gte]") != "113600" || q.Get("status") != "complete" || q.Get("limit") != "100" {
			t.Errorf("asked with %v", q)
		}
	}
}

func TestWhatIsNoOrderHereIsLeftOutOfTheList(t *testing.T) {
	t.Parallel()
	p, _ := holding(t, map[string]string{"/v1/checkout/sessions": asList(false,
		`{"id":"cs_test_free","mode":"payment","status":"complete","payment_status":"no_payment_required","created":1,"payment_intent":null}`,
		`{"id":"cs_test_sub","mode":"subscription","status":"complete","created":2,"payment_intent":null}`,
		`{"id":"cs_test_old","mode":"payment","created":3,"payment_intent":"pi_3"}`,
		`{"id":"cs_live_other","mode":"payment","status":"complete","created":4,"payment_intent":"pi_4"}`,
		`{"id":"cs_test_open","mode":"payment","status":"open","created":5,"payment_intent":null}`,
		`{"id":"cs_test_expired","mode":"payment","status":"expired","created":6,"payment_intent":null}`)})
	want := []order.Sale{
		{Session: "cs_test_free", Kind: order.SessionPayment, At: time.Unix(1, 0).UTC()},
		{Session: "cs_test_sub", Kind: order.SessionOther, At: time.Unix(2, 0).UTC()},
		{Session: "cs_test_old", Ref: "pi_3", Kind: order.SessionPayment, At: time.Unix(3, 0).UTC()},
	}
	if diff := cmp.Diff(want, everything(t, p, at(0))); diff != "" {
		t.Errorf("sales (-want +got):\n%s", diff)
	}
}

func TestAConnectedAccountsSalesComeBeforeTheKeysOwn(t *testing.T) {
	t.Parallel()
	p, a := holding(t, map[string]string{
		"acct_1/v1/checkout/sessions":                          asList(true, sold(9)),
		"acct_1/v1/checkout/sessions?starting_after=cs_test_9": asList(false, sold(8)),
		"/v1/checkout/sessions":                                asList(true, sold(7)),
		"/v1/checkout/sessions?starting_after=cs_test_7":       asList(false, sold(6)),
	}, connected)
	want := []order.Sale{soldAs(9), soldAs(8), soldAs(7), soldAs(6)}
	if diff := cmp.Diff(want, everything(t, p, at(200_000))); diff != "" {
		t.Errorf("sales (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"acct_1", "acct_1", "", ""}, a.account); diff != "" {
		t.Errorf("accounts asked (-want +got):\n%s", diff)
	}
}

func TestAListThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	const sessions = "/v1/checkout/sessions"
	for _, test := range []struct {
		name, answer, cursor string
		want                 payment.APIError
	}{
		{"away", `503 {}`, "", payment.APIError{Status: 503}},
		{"status is no filter", `400 {"error":{"code":"parameter_unknown"}}`, "", payment.APIError{Status: 400, Code: "parameter_unknown"}},
		{"broken", `{"data":`, "", payment.APIError{}},
		{"more, and nothing to go on from", asList(true), "", payment.APIError{Status: 200, Code: "endless_list"}},
		{"the same page for ever", asList(true, sold(1)), "cs_test_1", payment.APIError{Status: 200, Code: "endless_list"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, _ := holding(t, map[string]string{sessions: test.answer, sessions + "?starting_after=cs_test_1": test.answer})
			page, next, err := p.PaidSessions(t.Context(), at(0), test.cursor)
			if page != nil || next != "" || !isAPIError(err, test.want) {
				t.Errorf("page %v, next %q, error %#v; want %+v", page, next, err, test.want)
			}
		})
	}
	p, a := holding(t, nil)
	if _, _, err := p.PaidSessions(t.Context(), at(0), "../x"); err == nil || len(a.asked) > 0 {
		t.Errorf("a strange cursor: error %v, asked %v", err, a.asked)
	}
}

var _ payment.Reader = (*stripe.Provider)(nil)
