package creem_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handover/internal/order"
	"handover/internal/payment"
)

func sent(kind, object string) []byte {
	return fmt.Appendf(nil, `{"id":"evt_1","eventType":%q,"created_at":1790000000000,"object":%s}`, kind, object)
}

func TestAnOrderIsNamedInEveryShapeThatCreemUses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, kind, object string
		want               payment.Event
	}{
		{"checkout with its order", "checkout.completed", `{"id":"ch_1","order":{"id":"ord_1"}}`, payment.Event{Kind: payment.EventCheckout, Session: "ch_1", PaymentRef: "ord_1"}},
		{"checkout with its order's id", "checkout.completed", `{"id":"ch_1","order":"ord_1"}`, payment.Event{Kind: payment.EventCheckout, Session: "ch_1", PaymentRef: "ord_1"}},
		{"checkout without an order", "checkout.completed", `{"id":"ch_1"}`, payment.Event{Kind: payment.EventCheckout, Session: "ch_1"}},
		{"another event of a checkout", "checkout.abandoned", `{"id":"ch_1","order":"ord_1"}`, payment.Event{Kind: payment.EventOther}},
		{"refund", "refund.created", `{"id":"ref_1","transaction":{"id":"tran_1","order":"ord_1"}}`, payment.Event{Kind: payment.EventRefund, PaymentRef: "ord_1"}},
		{"the transaction's order before the other", "refund.created", `{"transaction":{"order":"ord_1"},"order":{"id":"ord_2"}}`, payment.Event{Kind: payment.EventRefund, PaymentRef: "ord_1"}},
		{"the transaction's id only", "refund.created", `{"transaction":"tran_1","order":{"id":"ord_1"},"checkout":"ch_1"}`, payment.Event{Kind: payment.EventRefund, Session: "ch_1", PaymentRef: "ord_1"}},
		{"the order's id only", "refund.created", `{"transaction":{"order":null},"order":"ord_1","customer":"cust_1"}`, payment.Event{Kind: payment.EventRefund, PaymentRef: "ord_1"}},
		{"no order anywhere", "refund.created", `{"transaction":null,"checkout":{"id":"ch_1"}}`, payment.Event{Kind: payment.EventRefund, Session: "ch_1"}},
		{"dispute", "dispute.created", `{"id":"disp_1","transaction":{"order":{"id":"ord_1"}}}`, payment.Event{Kind: payment.EventDispute, PaymentRef: "ord_1"}},
		{"dispute without an object", "dispute.created", `null`, payment.Event{Kind: payment.EventDispute}},
		{"subscription", "subscription.paid", `{"id":"sub_1","order":"ord_1"}`, payment.Event{Kind: payment.EventOther}},
		{"upper case", "Checkout.Completed", `{"id":"ch_1"}`, payment.Event{Kind: payment.EventOther}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.want.ID, test.want.Type = "evt_1", test.kind
			got, err := provider(t, nil).Translate(sent(test.kind, test.object))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOneFieldSaysTheMode(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]order.Mode{
		`"test"`: order.Test, `"sandbox"`: order.Test, `"local"`: order.Test, `"prod"`: order.Live, `"live"`: order.Live,
		`"staging"`: "", `"Prod"`: "", `null`: "",
	} {
		object := `{"id":"ch_1","mode":` + word + `,"order":{"id":"ord_1","mode":"prod"},"product":{"mode":"prod"},"livemode":true}`
		e, err := provider(t, nil).Translate(sent("checkout.completed", object))
		if err != nil || e.Mode != want {
			t.Errorf("%s: mode %q, error %v; want %q", word, e.Mode, err, want)
		}
	}
	for _, word := range []string{`7`, `true`, `{}`, `["test"]`, `""`} {
		if _, err := provider(t, nil).Translate(sent("subscription.paid", `{"mode":`+word+`}`)); !errors.Is(err, payment.ErrMalformed) {
			t.Errorf("%s: error %v, want ErrMalformed", word, err)
		}
	}
}
