package web_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/payment/creem"
	"handover/internal/payment/stripe"
	"handover/internal/web"
	"handover/internal/web/webhook"
)

// The secrets that sign the bodies of the mutation tests.
const (
	fuzzStripeSecret = "whsec_mutated_bodies_stripe"
	fuzzCreemSecret  = "whsec_mutated_bodies_creem"
)

// bodies are what the providers send, before anything is changed in them.
var bodies = map[string][]string{
	"stripe": {
		`{"id":"evt_1","object":"event","type":"checkout.session.completed","livemode":false,"data":{"object":{"id":"cs_test_a1","object":"checkout.session","mode":"payment","payment_status":"paid","livemode":false,"payment_intent":"pi_1","metadata":{"note":"ü"}}}}`,
		`{"id":"evt_2","object":"event","type":"checkout.session.async_payment_failed","livemode":false,"data":{"object":{"id":"cs_test_a2","object":"checkout.session","payment_intent":{"id":"pi_2"}}}}`,
		`{"id":"evt_3","object":"event","type":"charge.refunded","livemode":false,"data":{"object":{"id":"ch_1","object":"charge","payment_intent":"pi_1","amount_refunded":500,"refunds":null}}}`,
		`{"id":"evt_4","object":"event","type":"charge.dispute.created","livemode":false,"data":{"object":{"id":"du_1","object":"dispute","charge":"ch_1","payment_intent":null}}}`,
		`{"id":"evt_5","object":"v2.core.event","type":"v1.checkout.session.completed","livemode":false,"created":"2026-01-01T00:00:00Z","related_object":{"id":"cs_test_a3","type":"checkout.session","url":"/v1/x"}}`,
		`{"id":"evt_6","object":"event","type":"customer.created","livemode":false,"account":"acct_1","data":{"object":{"id":"cus_1"}}}`,
	},
	"creem": {
		`{"id":"evt_1","eventType":"checkout.completed","created_at":1790000000000,"object":{"id":"ch_1","mode":"test","status":"completed","order":{"id":"ord_1","amount":1000}}}`,
		`{"id":"evt_2","eventType":"refund.created","created_at":1790000000000,"object":{"id":"ref_1","mode":"test","transaction":{"id":"tran_1","order":"ord_1"},"checkout":"ch_1"}}`,
	},
}

// mutated changes a body in one to four places: bytes flipped, cut out, doubled, or swapped for what JSON trips over.
func mutated(r *rand.Rand, body string) []byte {
	b := []byte(body)
	tokens := []string{`null`, `{}`, `[]`, `""`, `-1`, `1e999`, `true`, "\x00", "\xff", `"ID":"evt_x",`, `"livemode":true,`, `cs_live_`, `{"id":`, `\u0000`, `,`, `}`, `"`}
	for range 1 + r.IntN(4) {
		if len(b) == 0 {
			break
		}
		i := r.IntN(len(b))
		j := min(len(b), i+1+r.IntN(12))
		switch r.IntN(4) {
		case 0:
			b[i] ^= byte(1 << r.IntN(8))
		case 1:
			b = append(b[:i:i], b[j:]...)
		case 2:
			b = append(b[:j:j], append(bytes.Clone(b[i:j]), b[j:]...)...)
		default:
			b = append(b[:i:i], append([]byte(tokens[r.IntN(len(tokens))]), b[j:]...)...)
		}
	}
	return b
}

func signedBy(provider string, body []byte) http.Header {
	h := http.Header{}
	if provider == "creem" {
		mac := hmac.New(sha256.New, []byte(fuzzCreemSecret))
		mac.Write(body)
		h.Set("creem-signature", hex.EncodeToString(mac.Sum(nil)))
		return h
	}
	now := fmt.Sprint(noon.Unix())
	mac := hmac.New(sha256.New, []byte(fuzzStripeSecret))
	mac.Write([]byte(now + "."))
	mac.Write(body)
	h.Set("Stripe-Signature", "t="+now+",v1="+hex.EncodeToString(mac.Sum(nil)))
	return h
}

// realProviders takes webhooks through the adapters that are shipped.
func realProviders(t testing.TB) func(*web.Deps, *web.Config) {
	t.Helper()
	nothing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(nothing.Close)
	s, err := stripe.New(stripe.Config{APIKey: "sk_test_fuzz", WebhookSecrets: []string{fuzzStripeSecret}, Mode: order.Test, APIURL: nothing.URL})
	if err != nil {
		t.Fatal(err)
	}
	c, err := creem.New(creem.Config{APIKey: "creem_test_fuzz", WebhookSecrets: []string{fuzzCreemSecret}, Mode: order.Test, APIURL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	return func(d *web.Deps, _ *web.Config) {
		d.Environments = map[string]webhook.Environment{}
		for name, p := range map[string]payment.Provider{"stripe": s, "creem": c} {
			d.Environments[name] = webhook.Environment{Name: name, Mode: order.Test, Provider: p}
		}
	}
}

// posted sends a body and returns the answer and what was stored of it.
func posted(s *shop, provider string, body []byte, header http.Header) (int, []ledger.WebhookEvent) {
	before := len(s.events)
	r := httptest.NewRequest(http.MethodPost, "/webhooks/payments/"+provider, bytes.NewReader(body))
	for name, values := range header {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, s.events[before:]
}

// check says what is wrong with the answer to a mutated body, sent once as it was signed before it was changed, and once
// signed again.
func check(t testing.TB, s *shop, provider, original string, body []byte) {
	t.Helper()
	if !bytes.Equal(body, []byte(original)) {
		if status, stored := posted(s, provider, body, signedBy(provider, []byte(original))); status != 401 || len(stored) != 0 {
			t.Errorf("changed after it was signed: %d, %d stored: %q", status, len(stored), body)
		}
	}
	status, stored := posted(s, provider, body, signedBy(provider, body))
	if status != 200 && status != 400 {
		t.Errorf("signed again: %d: %q", status, body)
	}
	if status != 200 && len(stored) != 0 {
		t.Errorf("answered %d and stored: %q", status, body)
	}
	for _, e := range stored {
		if e.Session != "" && !bytes.Contains(body, []byte(e.Session)) && !escaped(body) {
			t.Errorf("an order %q that is not in the body: %q", e.Session, body)
		}
		if provider == "stripe" && e.Kind == string(payment.EventCheckout) && liveEvent(body) {
			t.Errorf("an order of an event that says it is of the other mode: %q", body)
		}
	}
}

func escaped(body []byte) bool { return bytes.Contains(body, []byte(`\u`)) }

// liveEvent says that the body names the live mode without contradicting itself.
func liveEvent(body []byte) bool {
	var e struct {
		Live *bool `json:"livemode"`
	}
	return bytes.Count(bytes.ToLower(body), []byte("livemode")) == 1 && json.Unmarshal(body, &e) == nil && e.Live != nil && *e.Live
}

func TestAThousandMutatedBodiesNeitherBreakNorDeceive(t *testing.T) {
	t.Parallel()
	s := newShop(t, realProviders(t))
	s.next = ledger.Stored{New: true, Next: ledger.NextStart}
	r := rand.New(rand.NewPCG(1, 2))
	taken := 0
	for range 1000 {
		provider := []string{"stripe", "stripe", "creem"}[r.IntN(3)]
		original := bodies[provider][r.IntN(len(bodies[provider]))]
		before := len(s.events)
		check(t, s, provider, original, mutated(r, original))
		taken += len(s.events) - before
	}
	if taken < 100 || taken > 900 {
		t.Errorf("%d of 1000 were taken: the mutations test nothing", taken)
	}
}

func FuzzWebhook(f *testing.F) {
	for provider, list := range bodies {
		for _, body := range list {
			f.Add(provider == "creem", []byte(body))
		}
	}
	var opened sync.Once // opening a shop takes longer than a thousand webhooks
	var s *shop
	f.Fuzz(func(t *testing.T, isCreem bool, body []byte) {
		provider := "stripe"
		if isCreem {
			provider = "creem"
		}
		opened.Do(func() {
			s = newShop(t, realProviders(t))
			s.next = ledger.Stored{New: true, Next: ledger.NextStart}
		})
		s.events = nil
		check(t, s, provider, bodies[provider][0], body)
	})
}
