package stripe_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"handover/internal/order"
	"handover/internal/payment"
	"handover/internal/payment/stripe"
)

// seeds are well-made events of every kind, with each reference as an id, as an object, null and left out, and envelopes
// as old and new accounts send them.
func seeds() [][]byte {
	var all [][]byte
	add := func(kind, fields, object string) { all = append(all, []byte(event(kind, fields, object))) }
	for _, kind := range []string{"completed", "async_payment_succeeded", "async_payment_failed", "expired"} {
		for _, intent := range []string{`,"payment_intent":"pi_1"`, `,"payment_intent":{"id":"pi_1"}`, `,"payment_intent":null`, ``} {
			add("checkout.session."+kind, `,"livemode":false`, `{"id":"cs_test_a1","object":"checkout.session"`+intent+`}`)
		}
	}
	refs := []string{`"payment_intent":"pi_1","charge":"ch_1"`, `"payment_intent":{"id":"pi_1"},"charge":{"id":"ch_1"}`,
		`"payment_intent":null,"charge":{"id":"ch_1","payment_intent":"pi_1"}`, `"payment_intent":null,"charge":null`, `"amount":1`}
	for _, kind := range []string{
		"charge.refunded charge", "charge.refund.updated refund", "refund.created refund", "refund.updated refund", "refund.failed refund",
		"charge.dispute.created dispute", "charge.dispute.updated dispute", "charge.dispute.closed dispute",
		"charge.dispute.funds_withdrawn dispute", "charge.dispute.funds_reinstated dispute",
	} {
		kind, object, _ := strings.Cut(kind, " ")
		for _, ref := range refs {
			add(kind, `,"livemode":true,"account":"acct_1"`, fmt.Sprintf(`{"id":"ob_1","object":%q,%s}`, object, ref))
		}
	}
	for _, fields := range []string{``, `,"livemode":null,"account":null`, `,"request":"req_1","api_version":null`,
		`,"request":{"id":null},"created":"2026-01-02T03:04:05Z"`, `,"created":1e400,"pending_webhooks":-1`} {
		add("invoice.paid", fields, `{"id":"in_1"}`)
	}
	for _, related := range []string{`{"id":"cs_live_1","type":"checkout.session"}`, `{"id":"re_1","type":"refund"}`, `null`, `[]`} {
		for _, kind := range []string{"v1.checkout.session.completed", "v1.refund.created", "v1.charge.dispute.closed", "v2.core.account.closed"} {
			all = append(all, fmt.Appendf(nil, `{"id":"evt_1","object":"v2.core.event","type":%q,"context":"org_1/acct_1","livemode":true,"related_object":%s}`, kind, related))
		}
	}
	return append(all, append([]byte("\xef\xbb\xbf"), all[0]...), []byte(`{"id":"evt_1","type":"x","data":{"object":[]}}`), []byte(`null`), nil)
}

var cleanID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,255}$`)

// holds checks what must be true of any body whatever: an error of the one kind and no event, or an event whose parts are
// safe to store and to ask for.
func holds(t *testing.T, p *stripe.Provider, body []byte) (read bool) {
	t.Helper()
	e, err := p.Translate(body)
	switch {
	case err != nil && !errors.Is(err, payment.ErrMalformed):
		t.Fatalf("error %v, want ErrMalformed, of %q", err, body)
	case err != nil && e != (payment.Event{}):
		t.Fatalf("an event beside an error: %+v, of %q", e, body)
	case err != nil:
		return false
	case !cleanID.MatchString(e.ID) || e.Type == "" || len(e.Type) > 255:
		t.Fatalf("event %+v, of %q", e, body)
	case (e.Kind == payment.EventCheckout) != (e.Session != "") || e.Session != "" && !order.ValidSession(e.Session):
		t.Fatalf("session %q of kind %q, of %q", e.Session, e.Kind, body)
	case e.PaymentRef != "" && !cleanID.MatchString(e.PaymentRef), e.Kind == payment.EventOther && e.PaymentRef != "":
		t.Fatalf("payment reference %q of kind %q, of %q", e.PaymentRef, e.Kind, body)
	case e.Account != "" && !cleanID.MatchString(e.Account):
		t.Fatalf("account %q, of %q", e.Account, body)
	}
	return true
}

func FuzzTranslate(f *testing.F) {
	for _, body := range seeds() {
		f.Add(body)
	}
	p := provider(f, nil)
	f.Fuzz(func(t *testing.T, body []byte) { holds(t, p, body) })
}

func TestEveryKindOfEventIsRead(t *testing.T) {
	t.Parallel()
	p, kinds := provider(t, nil), map[payment.EventKind]int{}
	for _, body := range seeds() {
		if holds(t, p, body) {
			e, _ := p.Translate(body)
			kinds[e.Kind]++
		}
	}
	for _, kind := range []payment.EventKind{payment.EventCheckout, payment.EventRefund, payment.EventDispute, payment.EventOther} {
		if kinds[kind] == 0 {
			t.Errorf("no seed is of kind %q", kind)
		}
	}
}

// mutate breaks a body as a bad line, a bad proxy or a bad sender would.
func mutate(r *rand.Rand, body []byte) []byte {
	body = bytes.Clone(body)
	for range 1 + r.IntN(4) {
		if len(body) == 0 {
			return body
		}
		at := r.IntN(len(body))
		switch r.IntN(6) {
		case 0:
			body[at] = byte(r.IntN(256))
		case 1:
			body = body[:at]
		case 2:
			body = append(body[:at:at], body[min(len(body), at+1+r.IntN(8)):]...)
		case 3:
			body = append(body[:at:at], append(bytes.Clone(body[at:min(len(body), at+r.IntN(40))]), body[at:]...)...)
		case 4: // another value of another type
			values := []string{`null`, `true`, `7`, `-1e999`, `"\u0000"`, `[]`, `{}`, `{"id":"x"}`, `"../x"`, `"` + string(bytes.Repeat([]byte("e"), 300)) + `"`}
			value := []byte(`:` + values[r.IntN(len(values))])
			if colon := bytes.IndexByte(body[at:], ':'); colon >= 0 {
				end := at + colon + 1
				for end < len(body) && body[end] != ',' && body[end] != '}' {
					end++
				}
				body = append(body[:at+colon:at+colon], append(value, body[end:]...)...)
			}
		case 5:
			body = bytes.Replace(body, []byte(`"`), []byte(`'`), 1)
		}
	}
	return body
}

func TestAThousandBrokenBodiesBreakNothing(t *testing.T) {
	t.Parallel()
	p, all, r := provider(t, nil), seeds(), rand.New(rand.NewPCG(1, 2))
	read := 0
	for n := range 1000 {
		if holds(t, p, mutate(r, all[n%len(all)])) {
			read++
		}
	}
	if read == 0 || read == 1000 {
		t.Errorf("%d of 1000 were read: the mutations test only one side", read)
	}
}
