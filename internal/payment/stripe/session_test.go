package stripe_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/payment/stripe"
)

const sessionPath = "/v1/checkout/sessions/cs_test_a1"

// api stands in for Stripe.
func api(t *testing.T, h http.HandlerFunc) *stripe.Provider {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return provider(t, func(c *stripe.Config) { c.APIURL = s.URL + "/" })
}

func answering(t *testing.T, body string) *stripe.Provider {
	t.Helper()
	return api(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
}

func retrieve(t *testing.T, p *stripe.Provider) payment.Facts {
	t.Helper()
	f, err := p.Session(t.Context(), "cs_test_a1")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// session is a retrieved session with the given fields and one line item.
func session(fields string) string {
	return `{"id":"cs_test_a1","object":"checkout.session","livemode":false,
		"line_items":{"object":"list","has_more":false,"data":[` + line(1) + `]},` + fields + `}`
}

func TestAPaidSessionIsReadWhole(t *testing.T) {
	t.Parallel()
	var got *http.Request
	p := api(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		_, _ = io.WriteString(w, session(`"mode":"payment","status":"complete","payment_status":"paid","amount_total":1200,"currency":"eur",
			"customer_details":{"email":" Alex+shop@Example.com ","name":"Alex\u0000 Doe"},"customer_email":"prefilled@example.com",
			"total_details":{"amount_shipping":500,"amount_tax":0,"amount_discount":200},
			"ui_mode":"something_new","new_field":{"x":1},
			"payment_intent":{"id":"pi_1","object":"payment_intent","status":"succeeded",
				"latest_charge":{"id":"ch_1","object":"charge","billing_details":{"email":"billing@example.com"}}}`))
	})
	want := payment.Facts{
		Session: "cs_test_a1", Mode: order.Test, Kind: order.SessionPayment, Status: payment.StatusPaid, PaymentRef: "pi_1",
		Total: order.Money{Minor: 1200, Currency: "eur"}, Email: "Alex+shop@Example.com", Name: "Alex Doe", Items: []order.Item{item(1)}, Parts: []int64{500, 200},
	}
	if diff := cmp.Diff(want, retrieve(t, p)); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	expand := []string{"line_items", "payment_intent.latest_charge"}
	if diff := cmp.Diff(expand, []string{got.URL.Query().Get("expand[0]"), got.URL.Query().Get("expand[1]")}); diff != "" {
		t.Errorf("expanded (-want +got):\n%s", diff)
	}
	if got.Method != http.MethodGet || got.URL.Path != sessionPath || got.Header.Get("Authorization") != "Bearer sk_test_key" {
		t.Errorf("called %s %s with Authorization %q", got.Method, got.URL.Path, got.Header.Get("Authorization"))
	}
	if telemetry := got.Header.Get("X-Stripe-Client-Telemetry"); telemetry != "" {
		t.Errorf("telemetry sent: %s", telemetry)
	}
}

func TestTheStatusIsOnlyWhatIsProved(t *testing.T) {
	t.Parallel()
	const (
		pay      = `"mode":"payment",`
		complete = `"status":"complete",`
	)
	intent := func(fields string) string {
		return `"payment_status":"unpaid","payment_intent":{"id":"pi_1","object":"payment_intent",` + fields + `}`
	}
	for _, test := range []struct {
		name, fields string
		kind         order.SessionKind
		want         payment.SessionStatus
	}{
		{"paid", pay + complete + `"payment_status":"paid"`, order.SessionPayment, payment.StatusPaid},
		{"paid without a status", pay + `"payment_status":"paid"`, order.SessionPayment, payment.StatusPaid},
		{"paid and expired", pay + `"status":"expired","payment_status":"paid"`, order.SessionPayment, payment.StatusPaid},
		{"nothing to pay", pay + complete + `"payment_status":"no_payment_required","payment_intent":null`, order.SessionPayment, payment.StatusFree},
		{"nothing to pay, without a status", pay + `"payment_status":"no_payment_required"`, order.SessionPayment, payment.StatusFree},
		{"nothing to pay, not finished", pay + `"status":"open","payment_status":"no_payment_required"`, order.SessionPayment, payment.StatusOpen},
		{"nothing to pay, expired", pay + `"status":"expired","payment_status":"no_payment_required"`, order.SessionPayment, payment.StatusExpired},
		{"setup", `"mode":"setup",` + complete + `"payment_status":"no_payment_required","currency":null,"amount_total":null`, order.SessionOther, payment.StatusOpen},
		{"subscription", `"mode":"subscription",` + complete + `"payment_status":"paid","amount_total":0`, order.SessionOther, payment.StatusPaid},
		{"processing", pay + complete + intent(`"status":"processing"`), order.SessionPayment, payment.StatusProcessing},
		{"a voucher to be paid", pay + complete + intent(`"status":"requires_action"`), order.SessionPayment, payment.StatusToPay},
		{"processing, intent not expanded", pay + complete + `"payment_status":"unpaid","payment_intent":"pi_1"`, order.SessionPayment, payment.StatusProcessing},
		{"processing, no intent", pay + complete + `"payment_status":"unpaid","payment_intent":null`, order.SessionPayment, payment.StatusProcessing},
		{"intent cancelled", pay + complete + intent(`"status":"canceled"`), order.SessionPayment, payment.StatusFailed},
		{"intent failed", pay + complete + intent(`"status":"requires_payment_method","last_payment_error":{"code":"debit_not_authorized","type":"card_error"}`),
			order.SessionPayment, payment.StatusFailed},
		{"intent without an error", pay + complete + intent(`"status":"requires_payment_method","last_payment_error":null`), order.SessionPayment, payment.StatusProcessing},
		{"failed intent of an open session", pay + `"status":"open",` + intent(`"status":"requires_payment_method","last_payment_error":{"type":"card_error"}`),
			order.SessionPayment, payment.StatusOpen},
		{"open", pay + `"status":"open","payment_status":"unpaid"`, order.SessionPayment, payment.StatusOpen},
		{"expired", pay + `"status":"expired","payment_status":"unpaid","customer_details":null,"payment_intent":null`, order.SessionPayment, payment.StatusExpired},
		{"unpaid without a status", pay + `"payment_status":"unpaid"`, order.SessionPayment, payment.StatusOpen},
		{"of 2019", `"mode":null,"payment_intent":"pi_1","display_items":[{"amount":1500,"custom":null}]`, order.SessionOther, payment.StatusOpen},
		{"without a payment status", pay + complete + `"payment_status":null`, order.SessionPayment, payment.StatusOpen},
		{"an unknown payment status", pay + complete + `"payment_status":"partly_paid"`, order.SessionPayment, payment.StatusOpen},
		{"an unknown payment status, expired", pay + `"status":"expired","payment_status":"partly_paid"`, order.SessionPayment, payment.StatusOpen},
		{"an unknown status", pay + `"status":"paused","payment_status":"unpaid"`, order.SessionPayment, payment.StatusOpen},
		{"an unknown mode", `"mode":"rent",` + complete + `"payment_status":"no_payment_required"`, order.SessionOther, payment.StatusOpen},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := retrieve(t, answering(t, session(test.fields)))
			if f.Kind != test.kind || f.Status != test.want {
				t.Errorf("kind %q, status %q; want %q, %q", f.Kind, f.Status, test.kind, test.want)
			}
		})
	}
}

func TestAnyRefundOrDisputeOfTheChargeIsSaid(t *testing.T) {
	t.Parallel()
	for charge, want := range map[string]bool{
		`null`: false, `"ch_1"`: false, `{"id":"ch_1","refunded":false,"amount_refunded":0,"disputed":false}`: false,
		`{"id":"ch_1","refunded":true}`: true, `{"id":"ch_1","amount_refunded":1}`: true, `{"id":"ch_1","disputed":true}`: true,
	} {
		f := retrieve(t, answering(t, session(`"mode":"payment","status":"complete","payment_status":"paid","payment_intent":{"id":"pi_1","latest_charge":`+charge+`}`)))
		if f.Reversed != want || f.Status != payment.StatusPaid {
			t.Errorf("charge %s: reversed %v, status %q; want %v", charge, f.Reversed, f.Status, want)
		}
	}
}

func TestTheModeIsWhatLivemodeSays(t *testing.T) {
	t.Parallel()
	f := retrieve(t, answering(t, `{"id":"cs_test_a1","livemode":true,"mode":"setup"}`))
	if f.Mode != order.Live {
		t.Errorf("mode %q, want live", f.Mode)
	}
}

func TestTheAddressIsTheOneTypedElseTheNextBest(t *testing.T) {
	t.Parallel()
	const charge = `,"payment_intent":{"id":"pi_1","latest_charge":{"id":"ch_1","billing_details":{"email":" billing@example.com"}}}`
	for _, test := range []struct{ name, fields, want string }{
		{"typed", `"customer_details":{"email":"typed@example.com"},"customer_email":"filled@example.com"` + charge, "typed@example.com"},
		{"details null", `"customer_details":null,"customer_email":"filled@example.com"` + charge, "filled@example.com"},
		{"details without an address", `"customer_details":{"email":null},"customer_email":" "` + charge, "billing@example.com"},
		{"charge not expanded", `"customer_email":null,"payment_intent":{"id":"pi_1","latest_charge":"ch_1"}`, ""},
		{"charge null", `"payment_intent":{"id":"pi_1","latest_charge":null}`, ""},
		{"nobody", `"customer":null`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if f := retrieve(t, answering(t, session(test.fields))); f.Email != test.want {
				t.Errorf("email %q, want %q", f.Email, test.want)
			}
		})
	}
}

func TestConnectionsAreKept(t *testing.T) {
	t.Parallel()
	addresses := map[string]bool{}
	p := api(t, func(w http.ResponseWriter, r *http.Request) {
		addresses[r.RemoteAddr] = true
		_, _ = io.WriteString(w, session(`"mode":"payment"`))
	})
	for range 5 {
		retrieve(t, p)
	}
	if len(addresses) != 1 {
		t.Errorf("%d connections for 5 calls, want 1", len(addresses))
	}
}

func BenchmarkSession(b *testing.B) {
	body := session(`"mode":"payment","status":"complete","payment_status":"paid","amount_total":1200,"currency":"eur",
		"customer_details":{"email":"alex@example.com","name":"Alex"},
		"payment_intent":{"id":"pi_1","status":"succeeded","latest_charge":{"id":"ch_1","billing_details":{"email":"alex@example.com"}}}`)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }))
	defer s.Close()
	p := provider(b, func(c *stripe.Config) { c.APIURL = s.URL })
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Session(b.Context(), "cs_test_a1"); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAnAPIBehindAPathIsReachedBelowIt(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(s.Close)
	p := provider(t, func(c *stripe.Config) { c.APIURL = s.URL + "/behind/proxy/" })
	if _, err := p.Session(t.Context(), "cs_test_a1"); err == nil {
		t.Error("a 404 was no error")
	}
	if got, want := <-asked, "/behind/proxy/v1/checkout/sessions/cs_test_a1"; got != want {
		t.Errorf("asked for %q, want %q", got, want)
	}
}

func TestAConnectedAccountsSessionsAreAskedForOnItsBehalf(t *testing.T) {
	t.Parallel()
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("Stripe-Account"))
		if strings.HasSuffix(r.URL.Path, "/line_items") {
			_, _ = io.WriteString(w, `{"object":"list","has_more":false,"data":[`+line(2)+`]}`)
			return
		}
		_, _ = io.WriteString(w, `{"id":"cs_test_a1","object":"checkout.session","livemode":false,"mode":"payment",
			"line_items":{"object":"list","has_more":true,"data":[`+line(1)+`]}}`)
	}))
	t.Cleanup(s.Close)
	retrieve(t, provider(t, func(c *stripe.Config) { c.APIURL, c.Account = s.URL, "acct_1" }))
	if diff := cmp.Diff([]string{"acct_1", "acct_1"}, asked); diff != "" {
		t.Errorf("accounts of the two calls (-want +got):\n%s", diff)
	}
}

func TestASessionOfTheKeysOwnAccountIsFoundBesideAConnectedOne(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Stripe-Account") != "" {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error":{"type":"invalid_request_error","code":"resource_missing"}}`)
			return
		}
		_, _ = io.WriteString(w, session(`"mode":"payment"`))
	}))
	t.Cleanup(s.Close)
	if got := retrieve(t, provider(t, func(c *stripe.Config) { c.APIURL, c.Account = s.URL, "acct_1" })); len(got.Items) != 1 {
		t.Errorf("found %+v", got)
	}
}
