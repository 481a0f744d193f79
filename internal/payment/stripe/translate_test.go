package stripe_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/order"
	"handover/internal/payment"
)

func at(unix int64) time.Time { return time.Unix(unix, 0) }

// event is a body with an object in it.
func event(kind, fields, object string) string {
	return fmt.Sprintf(`{"id":"evt_1","object":"event","type":%q%s,"data":{"object":%s}}`, kind, fields, object)
}

func TestAnEventOfAnyVersionIsRead(t *testing.T) {
	t.Parallel()
	const completed = "checkout.session.completed"
	session := `{"id":"cs_test_a1","object":"checkout.session","payment_intent":"pi_1"}`
	want := payment.Event{
		ID: "evt_1", Type: completed, Kind: payment.EventCheckout, Mode: order.Test, Session: "cs_test_a1", PaymentRef: "pi_1",
	}
	noMode, noIntent, ofAccount := want, want, want
	noMode.Mode, noIntent.PaymentRef, ofAccount.Account = "", "", "acct_1"
	for _, test := range []struct {
		name, body string
		want       payment.Event
	}{
		{"plain", event(completed, `,"livemode":false`, session), want},
		{"byte order mark", "\xef\xbb\xbf" + event(completed, `,"livemode":false`, session), want},
		{"request a string", event(completed, `,"livemode":false,"request":"req_1"`, session), want},
		{"request an object", event(completed, `,"livemode":false,"request":{"id":null}`, session), want},
		{"created a string", event(completed, `,"livemode":false,"created":"2026-01-02T03:04:05.123456789Z"`, session), want},
		{"created a large number", event(completed, `,"livemode":false,"created":820982911946154508`, session), want},
		{"no version", event(completed, `,"livemode":false,"api_version":null`, session), want},
		{"an odd version", event(completed, `,"livemode":false,"api_version":"2026-08-26.dahlia; custom=v1"`, session), want},
		{"a version that is a number", event(completed, `,"livemode":false,"api_version":2026`, session), want},
		{"unknown fields", event(completed, `,"livemode":false,"new":[{"x":1e400}]`, session), want},
		{"no livemode", event(completed, ``, session), noMode},
		{"livemode null", event(completed, `,"livemode":null`, session), noMode},
		{"a connected account", event(completed, `,"livemode":false,"account":"acct_1"`, session), ofAccount},
		{"account null", event(completed, `,"livemode":false,"account":null`, session), want},
		{"intent expanded", event(completed, `,"livemode":false`, `{"id":"cs_test_a1","payment_intent":{"id":"pi_1"}}`), want},
		{"intent null", event(completed, `,"livemode":false`, `{"id":"cs_test_a1","payment_intent":null}`), noIntent},
		{"intent a number", event(completed, `,"livemode":false`, `{"id":"cs_test_a1","payment_intent":7}`), noIntent},
		{"keys in another letter case", event(completed, `,"livemode":false,"ID":"evt_2","Type":"x.y","Livemode":true,"Account":"acct_2"`,
			`{"id":"cs_test_a1","ID":"cs_test_b2","payment_intent":"pi_1","Payment_Intent":"pi_2"}`), want},
		{"a name that is not UTF-8", event(completed, `,"livemode":false,"name":"`+"\xff"+`"`, session), want},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := provider(t, nil).Translate([]byte(test.body))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheTypeDecidesWhatAnEventIsAbout(t *testing.T) {
	t.Parallel()
	const session = `{"id":"cs_live_a1","object":"checkout.session","payment_intent":"pi_1"}`
	for _, test := range []struct {
		kind, object string
		want         payment.Event
	}{
		{"checkout.session.completed", session, payment.Event{Kind: payment.EventCheckout, Session: "cs_live_a1", PaymentRef: "pi_1"}},
		{"checkout.session.async_payment_succeeded", session, payment.Event{Kind: payment.EventCheckout, Session: "cs_live_a1", PaymentRef: "pi_1"}},
		{"checkout.session.async_payment_failed", session, payment.Event{Kind: payment.EventCheckout, Hint: payment.HintFailed, Session: "cs_live_a1", PaymentRef: "pi_1"}},
		{"checkout.session.expired", session, payment.Event{Kind: payment.EventCheckout, Hint: payment.HintExpired, Session: "cs_live_a1", PaymentRef: "pi_1"}},
		{"checkout.session.something_new", session, payment.Event{Kind: payment.EventCheckout, Session: "cs_live_a1", PaymentRef: "pi_1"}},
		{"charge.refunded", `{"id":"ch_1","object":"charge","payment_intent":"pi_1"}`, payment.Event{Kind: payment.EventRefund, PaymentRef: "pi_1"}},
		{"charge.refunded", `{"id":"ch_1","object":"charge","payment_intent":null}`, payment.Event{Kind: payment.EventRefund, PaymentRef: "ch_1"}},
		{"refund.created", `{"id":"re_1","object":"refund","charge":"ch_1","payment_intent":{"id":"pi_1"}}`, payment.Event{Kind: payment.EventRefund, PaymentRef: "pi_1"}},
		{"refund.failed", `{"id":"re_1","object":"refund","charge":"ch_1","payment_intent":null}`, payment.Event{Kind: payment.EventRefund, PaymentRef: "ch_1"}},
		{"charge.refund.updated", `{"id":"re_1","object":"refund","charge":{"id":"ch_1"}}`, payment.Event{Kind: payment.EventRefund, PaymentRef: "ch_1"}},
		{"refund.updated", `{"id":"re_1","object":"refund","charge":null}`, payment.Event{Kind: payment.EventRefund}},
		{"charge.dispute.created", `{"id":"du_1","object":"dispute","charge":"ch_1","payment_intent":"pi_1","evidence":"text"}`, payment.Event{Kind: payment.EventDispute, PaymentRef: "pi_1"}},
		{"charge.refunded", `{"id":"ch_1","object":"charge","payment_intent":{"id":"pi_1","object":"payment_intent"}}`, payment.Event{Kind: payment.EventRefund, PaymentRef: "pi_1"}},
		{"charge.refunded", `{"id":"py_1","object":"charge"}`, payment.Event{Kind: payment.EventRefund, PaymentRef: "py_1"}},
		{"refund.created", `{"id":"re_1","object":"refund","charge":{"id":"ch_1","object":"charge","payment_intent":"pi_1"},"payment_intent":null}`, payment.Event{Kind: payment.EventRefund, PaymentRef: "pi_1"}},
		{"refund.created", `{"id":"re_1","object":"refund","charge":"ch_1","payment_intent":{"id":7}}`, payment.Event{Kind: payment.EventRefund, PaymentRef: "ch_1"}},
		{"charge.dispute.updated", `{"id":"du_1","object":"dispute","charge":"ch_1","payment_intent":null}`, payment.Event{Kind: payment.EventDispute, PaymentRef: "ch_1"}},
		{"charge.dispute.funds_withdrawn", `{"id":"du_1","object":"dispute","charge":{"id":"ch_1"},"payment_intent":{"id":"pi_1"}}`, payment.Event{Kind: payment.EventDispute, PaymentRef: "pi_1"}},
		{"charge.dispute.funds_reinstated", `{"id":"du_1","object":"dispute","charge":null,"payment_intent":null}`, payment.Event{Kind: payment.EventDispute}},
		{"charge.dispute.closed", `null`, payment.Event{Kind: payment.EventDispute}},
		{"charge.succeeded", `{"id":"ch_1","object":"charge","payment_intent":"pi_1"}`, payment.Event{Kind: payment.EventOther, PaymentRef: "pi_1"}},
		{"charge.captured", `{"id":"ch_1","object":"charge","payment_intent":null}`, payment.Event{Kind: payment.EventOther, PaymentRef: "ch_1"}},
		{"payment_intent.succeeded", `{"id":"pi_1","object":"payment_intent","latest_charge":"ch_1"}`, payment.Event{Kind: payment.EventOther, PaymentRef: "pi_1"}},
		{"invoice.paid", `{"id":"in_1"}`, payment.Event{Kind: payment.EventOther}},
		{"checkout.sessions", `[]`, payment.Event{Kind: payment.EventOther}},
		{"Checkout.Session.completed", session, payment.Event{Kind: payment.EventOther}},
	} {
		t.Run(test.kind, func(t *testing.T) {
			t.Parallel()
			test.want.ID, test.want.Type, test.want.Mode = "evt_1", test.kind, order.Live
			got, err := provider(t, nil).Translate([]byte(event(test.kind, `,"livemode":true`, test.object)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAThinEventIsRead(t *testing.T) {
	t.Parallel()
	thin := func(kind, fields, related string) string {
		return fmt.Sprintf(`{"id":"evt_test_1","object":"v2.core.event","type":%q,"created":"2026-01-02T03:04:05Z","livemode":false%s,"related_object":%s}`,
			kind, fields, related)
	}
	const session = `{"id":"cs_test_a1","type":"checkout.session","url":"/v1/checkout/sessions/cs_test_a1"}`
	for _, test := range []struct {
		name, body string
		want       payment.Event
	}{
		{"completed", thin("v1.checkout.session.completed", "", session),
			payment.Event{Type: "v1.checkout.session.completed", Kind: payment.EventCheckout, Session: "cs_test_a1"}},
		{"failed", thin("v1.checkout.session.async_payment_failed", "", session),
			payment.Event{Type: "v1.checkout.session.async_payment_failed", Kind: payment.EventCheckout, Hint: payment.HintFailed, Session: "cs_test_a1"}},
		{"of an account", thin("v1.checkout.session.completed", `,"context":"org_1/acct_1"`, session),
			payment.Event{Type: "v1.checkout.session.completed", Kind: payment.EventCheckout, Session: "cs_test_a1", Account: "acct_1"}},
		{"a refunded charge", thin("v1.charge.refunded", `,"context":null`, `{"id":"ch_1","type":"charge"}`),
			payment.Event{Type: "v1.charge.refunded", Kind: payment.EventRefund, PaymentRef: "ch_1"}},
		{"a refunded charge, in an object of another name", thin("v1.charge.refunded", "", `{"id":"py_1","type":"charge"}`),
			payment.Event{Type: "v1.charge.refunded", Kind: payment.EventRefund, PaymentRef: "py_1"}},
		{"a refund", thin("v1.refund.failed", "", `{"id":"re_1","type":"refund","url":"/v1/refunds/re_1"}`),
			payment.Event{Type: "v1.refund.failed", Kind: payment.EventRefund, PaymentRef: "re_1"}},
		{"a dispute", thin("v1.charge.dispute.created", "", `{"id":"du_1","type":"dispute","url":"/v1/disputes/du_1"}`),
			payment.Event{Type: "v1.charge.dispute.created", Kind: payment.EventDispute, PaymentRef: "du_1"}},
		{"a dispute without an object", thin("v1.charge.dispute.created", "", `null`),
			payment.Event{Type: "v1.charge.dispute.created", Kind: payment.EventDispute}},
		{"another", thin("v1.billing.meter.error_report_triggered", "", `{"id":"mtr_1","type":"billing.meter"}`),
			payment.Event{Type: "v1.billing.meter.error_report_triggered", Kind: payment.EventOther}},
		{"without an object", thin("v2.core.account.closed", "", `null`),
			payment.Event{Type: "v2.core.account.closed", Kind: payment.EventOther}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.want.ID, test.want.Mode = "evt_test_1", order.Test
			got, err := provider(t, nil).Translate([]byte(test.body))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
		})
	}
	_, err := provider(t, nil).Translate([]byte(thin("v1.checkout.session.completed", "", `null`)))
	if !errors.Is(err, payment.ErrMalformed) {
		t.Errorf("a thin checkout event without a session: error %v, want ErrMalformed", err)
	}
}

func TestWhatStripeDoesNotSendIsMalformed(t *testing.T) {
	t.Parallel()
	completed := func(fields, session string) string {
		return event("checkout.session.completed", fields, `{"id":`+session+`}`)
	}
	for name, body := range map[string]string{
		"empty":                      ``,
		"broken":                     `{"id":"evt_1"`,
		"something behind":           event("invoice.paid", "", `{}`) + "[",
		"two objects":                event("invoice.paid", "", `{}`) + `{}`,
		"a list":                     `[]`,
		"null":                       `null`,
		"gzip":                       "\x1f\x8b\x08",
		"no id":                      `{"type":"invoice.paid"}`,
		"id null":                    `{"id":null,"type":"invoice.paid"}`,
		"id a number":                `{"id":1,"type":"invoice.paid"}`,
		"id empty":                   `{"id":"","type":"invoice.paid"}`,
		"id with a space":            `{"id":"evt 1","type":"invoice.paid"}`,
		"id with NUL":                `{"id":"evt\u00001","type":"invoice.paid"}`,
		"id too long":                `{"id":"` + strings.Repeat("e", 256) + `","type":"invoice.paid"}`,
		"id only in upper case":      `{"ID":"evt_1","type":"invoice.paid"}`,
		"no type":                    `{"id":"evt_1"}`,
		"type a number":              `{"id":"evt_1","type":1}`,
		"type empty":                 `{"id":"evt_1","type":""}`,
		"type with a line end":       `{"id":"evt_1","type":"invoice.\npaid"}`,
		"type not ASCII":             `{"id":"evt_1","type":"invoice.päid"}`,
		"type too long":              `{"id":"evt_1","type":"` + strings.Repeat("t", 256) + `"}`,
		"livemode text":              event("invoice.paid", `,"livemode":"true"`, `{}`),
		"account a number":           event("invoice.paid", `,"account":7`, `{}`),
		"no data":                    `{"id":"evt_1","type":"checkout.session.completed"}`,
		"data null":                  `{"id":"evt_1","type":"checkout.session.completed","data":null}`,
		"object a string":            event("checkout.session.completed", "", `"cs_test_a1"`),
		"session missing":            event("checkout.session.completed", "", `{}`),
		"session null":               completed("", `null`),
		"session a number":           completed("", `1`),
		"session of another kind":    completed("", `"pi_1"`),
		"session a path":             completed("", `"cs_test_../../x"`),
		"session without its mode":   completed("", `"cs_a1B2"`),
		"session without characters": completed("", `"cs_test_"`),
		"session too long":           completed("", `"cs_test_`+strings.Repeat("a", 193)+`"`),
		"test session, live event":   completed(`,"livemode":true`, `"cs_test_a1"`),
		"live session, test event":   completed(`,"livemode":false`, `"cs_live_a1"`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := provider(t, nil).Translate([]byte(body))
			if !errors.Is(err, payment.ErrMalformed) {
				t.Errorf("event %+v, error %v; want ErrMalformed", e, err)
			}
		})
	}
}

// The dashboard's test event names a session of zeros, in no mode.
func TestTheSampleSessionIsRead(t *testing.T) {
	t.Parallel()
	e, err := provider(t, nil).Translate([]byte(event("checkout.session.completed", `,"livemode":false`, `{"id":"cs_00000000000000"}`)))
	if err != nil || e.Session != "cs_00000000000000" || e.Mode != order.Test {
		t.Errorf("event %+v, error %v", e, err)
	}
}

func TestALargeEventIsRead(t *testing.T) {
	t.Parallel()
	var metadata strings.Builder
	for i := range 50 {
		fmt.Fprintf(&metadata, `"key_%d":%q,`, i, strings.Repeat("v", 20000))
	}
	body := event("checkout.session.completed", "", `{"metadata":{`+metadata.String()+`"last":""},"id":"cs_test_a1"}`)
	if e, err := provider(t, nil).Translate([]byte(body)); err != nil || e.Session != "cs_test_a1" {
		t.Errorf("session %q, error %v", e.Session, err)
	}
}
