package web_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/payment/stripe"
	"handover/internal/web"
	"handover/internal/web/webhook"
)

// What broke webhooks of other shops, each tried at the whole route with Stripe's own signatures and shapes. Every test is
// named after the symptom that must not show.

const (
	stripeSecret = "whsec_of_the_symptoms_tests"
	retired      = "whsec_that_was_retired_long_ago"
)

// stripeShop is the server with the adapter for Stripe instead of a stand-in.
func stripeShop(t *testing.T, secrets ...string) *shop {
	t.Helper()
	p, err := stripe.New(stripe.Config{APIKey: "sk_test_symptoms", WebhookSecrets: secrets, Mode: order.Test})
	if err != nil {
		t.Fatal(err)
	}
	return newShop(t, func(d *web.Deps, _ *web.Config) {
		d.Environments["test"] = webhook.Environment{Name: "test", Mode: order.Test, Provider: p}
	})
}

// stripeMAC is one v1 of a Stripe-Signature header.
func stripeMAC(secret, at, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(at + "." + body))
	return hex.EncodeToString(mac.Sum(nil))
}

// deliver posts a body as Stripe does, signed now.
func deliver(s *shop, body string) *httptest.ResponseRecorder {
	at := fmt.Sprint(noon.Unix())
	return deliverSigned(s, body, "t="+at+",v1="+stripeMAC(stripeSecret, at, body))
}

func deliverSigned(s *shop, body, signature string) *httptest.ResponseRecorder {
	return send(s, "POST", "/webhooks/payments/test", []byte(body), "Stripe-Signature", signature, "Content-Type", "application/json; charset=utf-8")
}

// completed is an event of a paid session with more fields beside its own.
func completed(fields, object string) string {
	return `{"id":"evt_1","object":"event",` + fields + `"created":1772452800,"livemode":false,"pending_webhooks":2,"type":"checkout.session.completed",` +
		`"data":{"object":{"id":"cs_test_a1","object":"checkout.session",` + object + `"payment_intent":"pi_1","payment_status":"paid","status":"complete"}}}`
}

// stored is what one session's event has to leave in the ledger.
func stored(t *testing.T, s *shop) {
	t.Helper()
	if len(s.events) != 1 {
		t.Fatalf("%d events stored, want 1", len(s.events))
	}
	e := s.events[0]
	if e.ID != "evt_1" || e.Session != "cs_test_a1" || e.PaymentRef != "pi_1" {
		t.Errorf("stored event %q of session %q and payment %q", e.ID, e.Session, e.PaymentRef)
	}
}

// A library refuses events whose API version is not its own. Events of an account come in the version of the account, of
// the endpoint, or of whoever made the call, and with suffixes of previews and release trains.
func TestAPIVersionMismatchIsNotRefused(t *testing.T) {
	t.Parallel()
	versions := []string{
		"", `"api_version":null,`, `"api_version":2026,`, `"api_version":"",`, `"api_version":"2026-08-26.dahlia; custom_checkout_beta=v1",`,
		`"api_version":"2026-09-30.preview",`, `"api_version":"2099-12-31.zebra",`,
	}
	for _, v := range []string{
		"2012-10-26", "2015-04-07", "2017-05-25", "2018-11-08", "2019-11-05", "2020-08-27", "2022-11-15", "2023-10-16", "2024-06-20",
		"2024-09-30.acacia", "2025-03-31.basil", "2025-11-17.clover", "2026-03-25.dahlia",
	} {
		versions = append(versions, `"api_version":"`+v+`",`)
	}
	for _, v := range versions {
		s, body := stripeShop(t, stripeSecret), completed(v, "")
		if w := deliver(s, body); w.Code != 200 {
			t.Errorf("%s: answered %d", v, w.Code)
		}
		stored(t, s)
	}
}

// Accounts from before 2017 send the request's id where newer ones send an object; it decides nothing.
func TestRequestThatIsAStringOnOldAccountsIsNotRefused(t *testing.T) {
	t.Parallel()
	for _, request := range []string{`"request":"req_1",`, `"request":{"id":"req_1","idempotency_key":null},`, `"request":null,`, `"request":[],`} {
		s, body := stripeShop(t, stripeSecret), completed(`"api_version":"2015-04-07",`+request, "")
		if w := deliver(s, body); w.Code != 200 {
			t.Errorf("%s: answered %d", request, w.Code)
		}
		stored(t, s)
	}
}

// Go's decoder takes "ID" for "id" and lets the last of two keys win. One session is named, by the key as it is written,
// and the raw body is kept as it came.
func TestKeysInAnotherLetterCaseNameNoOtherSession(t *testing.T) {
	t.Parallel()
	s := stripeShop(t, stripeSecret)
	body := completed(`"ID":"evt_2","Livemode":true,"Type":"customer.created","Account":"acct_2",`, `"ID":"cs_test_b2","Payment_Intent":"pi_2","Payment_Status":"unpaid",`)
	if w := deliver(s, body); w.Code != 200 {
		t.Fatalf("answered %d", w.Code)
	}
	stored(t, s)
}

func TestKeysThatComeTwiceAreOneEventOfOneSession(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		completed(`"id":"evt_1","livemode":false,`, `"id":"cs_test_a1","payment_intent":"pi_1",`),
		completed(`"id":"evt_1","livemode":true,`, `"id":"cs_test_b2",`),
	} {
		s := stripeShop(t, stripeSecret)
		w := deliver(s, body)
		if w.Code != 200 && w.Code != 400 || len(s.events) > 1 {
			t.Errorf("answered %d with %d stored", w.Code, len(s.events))
		}
		for _, e := range s.events {
			if e.ID != "evt_1" || e.Session != "cs_test_a1" && e.Session != "cs_test_b2" {
				t.Errorf("stored event %q of session %q", e.ID, e.Session)
			}
		}
	}
}

// A byte that is no UTF-8 in somebody's name is no reason for a 500, and never reaches a text column.
func TestMalformedUTF8IsNoServerError(t *testing.T) {
	t.Parallel()
	s, body := stripeShop(t, stripeSecret), completed("", `"customer_details":{"name":"Zo`+"\xff\xfe"+`","email":"zoe@buyer.test"},`)
	if w := deliver(s, body); w.Code != 200 {
		t.Errorf("in a name: answered %d", w.Code)
	}
	stored(t, s)
	for _, bad := range []string{
		strings.Replace(completed("", ""), "evt_1", "evt_\xff", 1), strings.Replace(completed("", ""), "cs_test_a1", "cs_test_\xff", 1),
		strings.Replace(completed("", ""), "checkout.session.completed", "checkout.session.\xff", 1), strings.Replace(completed("", ""), "evt_1", `evt_\u0000`, 1),
	} {
		s := stripeShop(t, stripeSecret)
		if w := deliver(s, bad); w.Code != 400 || len(s.events) != 0 {
			t.Errorf("in a field that is stored: answered %d with %d stored", w.Code, len(s.events))
		}
	}
}

// 50 keys of 500 characters are what Stripe allows a session to carry: some 30 kB, over limits that others have set.
func TestMetadataAsLargeAsStripeAllowsIsNotCutOff(t *testing.T) {
	t.Parallel()
	metadata := map[string]string{}
	for i := range 50 {
		metadata[fmt.Sprintf("key_%038d", i)] = strings.Repeat("ü", 500)
	}
	encoded, err := json.Marshal(metadata)
	if err != nil {
		t.Fatal(err)
	}
	s, body := stripeShop(t, stripeSecret), completed("", `"metadata":`+string(encoded)+`,`)
	if w := deliver(s, body); w.Code != 200 {
		t.Errorf("%d bytes: answered %d", len(body), w.Code)
	}
	stored(t, s)
}

// With no secret, a check that is skipped, or a header that falls through, anybody can sell. All of these look alike from
// outside.
func TestUnsignedWebhooksNeverFallThrough(t *testing.T) {
	t.Parallel()
	now, body := fmt.Sprint(noon.Unix()), completed("", "")
	right := stripeMAC(stripeSecret, now, body)
	for name, signature := range map[string]string{
		"no header":                  "",
		"empty parts":                "t=,v1=",
		"no v1":                      "t=" + now,
		"no t":                       "v1=" + right,
		"an old scheme only":         "t=" + now + ",v0=" + right,
		"made with an empty key":     "t=" + now + ",v1=" + stripeMAC("", now, body),
		"made with the key's name":   "t=" + now + ",v1=" + stripeMAC("whsec_", now, body),
		"of another body":            "t=" + now + ",v1=" + stripeMAC(stripeSecret, now, body+" "),
		"of another time":            "t=" + fmt.Sprint(noon.Unix()-1) + ",v1=" + right,
		"a digest without its end":   "t=" + now + ",v1=" + right[:62],
		"the digest in another text": "t=" + now + ",v1=" + right + "00",
	} {
		s := stripeShop(t, stripeSecret)
		w := deliverSigned(s, body, signature)
		if w.Code != 401 || len(s.events) != 0 || w.Body.String() != `{"error":"signature missing, wrong or stale"}`+"\n" {
			t.Errorf("%s: answered %d %s with %d stored", name, w.Code, w.Body, len(s.events))
		}
	}
}

// Clocks differ by seconds, and attackers by centuries: old, future, negative and overflowing times are refused, to the
// second, and nothing overflows into the present.
func TestClockSkewIsToleratedForFiveMinutesEitherWay(t *testing.T) {
	t.Parallel()
	body := completed("", "")
	for at, want := range map[string]int{
		fmt.Sprint(noon.Unix() - 300): 200, fmt.Sprint(noon.Unix() + 300): 200, fmt.Sprint(noon.Unix() - 299): 200, fmt.Sprint(noon.Unix() + 299): 200,
		fmt.Sprint(noon.Unix() - 301): 401, fmt.Sprint(noon.Unix() + 301): 401, fmt.Sprint(noon.Unix() + 100_000): 401,
		"0": 401, "-1": 401, "99999999999999999999": 401, "9223372036854775807": 401, "-9223372036854775808": 401, "1e9": 401, "": 401, "now": 401,
	} {
		s := stripeShop(t, stripeSecret)
		if w := deliverSigned(s, body, "t="+at+",v1="+stripeMAC(stripeSecret, at, body)); w.Code != want {
			t.Errorf("t=%s, with the clock at %d: answered %d, want %d", at, noon.Unix(), w.Code, want)
		}
	}
}

// While a secret is rolled Stripe signs with both, and an endpoint elsewhere may still use the old one alone. Any match
// counts until the old one is taken out of the list, and then it counts no more.
func TestAnEndpointWithTheOldSecretWorksUntilThatIsRetired(t *testing.T) {
	t.Parallel()
	now, body := fmt.Sprint(noon.Unix()), completed("", "")
	newer, older := "v1="+stripeMAC(stripeSecret, now, body), "v1="+stripeMAC(retired, now, body)
	for _, test := range []struct {
		name, signature string
		secrets         []string
		status          int
	}{
		{"both, signed with the new", newer, []string{stripeSecret, retired}, 200},
		{"both, signed with the old", older, []string{stripeSecret, retired}, 200},
		{"both, signed with both", older + "," + newer, []string{stripeSecret, retired}, 200},
		{"the second of the list, first of the header", newer + "," + older, []string{retired}, 200},
		{"the new alone, signed with both", older + "," + newer, []string{stripeSecret}, 200},
		{"the new alone, signed with the old", older, []string{stripeSecret}, 401},
	} {
		s := stripeShop(t, test.secrets...)
		if w := deliverSigned(s, body, "t="+now+","+test.signature); w.Code != test.status {
			t.Errorf("%s: answered %d, want %d", test.name, w.Code, test.status)
		}
	}
}

// Events of what else the account does are taken, and hand nothing over.
func TestEventsOfOtherProductsAreNeverRefused(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{
		"invoice.paid", "customer.created", "customer.subscription.updated", "payment_intent.succeeded", "charge.succeeded", "account.updated",
		"v2.core.event_destination.ping", "payout.failed", "something.quite_new",
	} {
		s := stripeShop(t, stripeSecret)
		s.next = ledger.Stored{New: true}
		body := fmt.Sprintf(`{"id":"evt_1","object":"event","livemode":false,"type":%q,"data":{"object":{"id":"in_1","object":"invoice"}}}`, kind)
		if w := deliver(s, body); w.Code != 200 || len(s.events) != 1 || s.events[0].Session != "" || len(s.handed) != 0 {
			t.Errorf("%s: answered %d, stored %d, handed over %v", kind, w.Code, len(s.events), s.handed)
		}
	}
}
