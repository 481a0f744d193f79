package stripe_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"handover/internal/order"
	"handover/internal/payment"
)

const (
	intentPath    = "/v1/payment_intents/pi_1"
	refundsPath   = "/v1/refunds?payment_intent=pi_1"
	disputesPath  = "/v1/disputes?payment_intent=pi_1"
	chargePath    = "/v1/charges/ch_1"
	untouched     = `{"id":"ch_1","object":"charge","paid":true,"amount":3000,"amount_captured":3000,"currency":"eur"}`
	ofAll         = `{"id":"ch_1","object":"charge","paid":true,"amount":3000,"amount_captured":3000,"amount_refunded":3000,"refunded":true,"currency":"eur"}`
	ofSome        = `{"id":"ch_1","object":"charge","paid":true,"amount":3000,"amount_captured":3000,"amount_refunded":500,"currency":"eur"}`
	contradictory = `{"id":"ch_1","object":"charge","paid":true,"amount":3000,"refunded":true,"currency":"eur"}`
	inDispute     = `{"id":"ch_1","object":"charge","paid":true,"amount":3000,"disputed":true,"currency":"eur"}`
)

func intentWith(charge string) string {
	return `{"id":"pi_1","object":"payment_intent","status":"succeeded","amount":3000,"amount_received":3000,"currency":"eur","latest_charge":` + charge + `}`
}

func refundOf(n int, amount int64, status string) string {
	return fmt.Sprintf(`{"id":"re_%d","object":"refund","amount":%d,"status":%q,"payment_intent":"pi_1"}`, n, amount, status)
}

func disputeIs(n int, status string) string {
	return fmt.Sprintf(`{"id":"du_%d","object":"dispute","status":%q,"payment_intent":"pi_1"}`, n, status)
}

func disputeOver(n int, status string, amount int64, currency string) string {
	return fmt.Sprintf(`{"id":"du_%d","object":"dispute","status":%q,"amount":%d,"currency":%q,"payment_intent":"pi_1"}`, n, status, amount, currency)
}

// partly is a payment of 30 euros of which 7 were captured.
func partly(refunds string) map[string]string {
	answers := after("null", refunds, asList(false))
	answers[intentPath] = `{"id":"pi_1","object":"payment_intent","status":"succeeded","amount":3000,"amount_received":700,"currency":"eur",
		"latest_charge":{"id":"ch_1","object":"charge","paid":true,"amount":3000,"amount_captured":700,"amount_refunded":2300,"refunded":false,"currency":"eur"}}`
	return answers
}

var captured = order.Money{Minor: 700, Currency: "eur"}

var euros = order.Money{Minor: 3000, Currency: "eur"}

// after is what a payment of 30 euros is, with its charge and the two lists as given; an empty list is a 404.
func after(charge, refunds, disputes string) map[string]string {
	answers := map[string]string{intentPath: intentWith(charge)}
	for path, answer := range map[string]string{refundsPath: refunds, disputesPath: disputes} {
		if answer != "" {
			answers[path] = answer
		}
	}
	return answers
}

func TestReversalsAreReadAsTheyStand(t *testing.T) {
	t.Parallel()
	none := asList(false)
	trusted := func(amount int64) []payment.Refund {
		return []payment.Refund{{ID: "ch_1", Amount: amount, Status: payment.RefundSucceeded}}
	}
	for _, test := range []struct {
		name    string
		answers map[string]string
		want    payment.Reversals
	}{
		{"nothing happened", after(untouched, none, none), payment.Reversals{Paid: euros}},
		{"every state of a refund", after(ofSome, asList(false, refundOf(1, 100, "pending"), refundOf(2, 200, "requires_action"), refundOf(3, 300, "succeeded"),
			refundOf(4, 400, "failed"), refundOf(5, 500, "canceled"), refundOf(6, 600, "something_new")), none),
			payment.Reversals{Paid: euros, Refunds: []payment.Refund{
				{ID: "re_1", Amount: 100, Status: payment.RefundPending}, {ID: "re_2", Amount: 200, Status: payment.RefundPending},
				{ID: "re_3", Amount: 300, Status: payment.RefundSucceeded}, {ID: "re_4", Amount: 400, Status: payment.RefundFailed},
				{ID: "re_5", Amount: 500, Status: payment.RefundFailed}, {ID: "re_6", Amount: 600, Status: payment.RefundPending},
			}}},
		{"a list wins over the charge's figures", after(ofAll, asList(false, refundOf(1, 3000, "pending")), none),
			payment.Reversals{Paid: euros, Refunds: []payment.Refund{{ID: "re_1", Amount: 3000, Status: payment.RefundPending}}}},
		{"refunded in full, list empty", after(ofAll, none, none), payment.Reversals{Paid: euros, Refunds: trusted(3000)}},
		{"refunded in full, no list", after(ofAll, "", none), payment.Reversals{Paid: euros, Refunds: trusted(3000)}},
		{"refunded in part, no list", after(ofSome, "", none), payment.Reversals{Paid: euros, Refunds: trusted(500)}},
		{"refunded without an amount", after(contradictory, none, none), payment.Reversals{Paid: euros, Refunds: trusted(3000)}},
		{"no lists, nothing happened", after(untouched, "", ""), payment.Reversals{Paid: euros}},
		{"disputed, no list", after(inDispute, none, ""), payment.Reversals{Paid: euros, Dispute: order.DisputeOpen}},
		{"disputed, list empty", after(inDispute, none, none), payment.Reversals{Paid: euros, Dispute: order.DisputeOpen}},
		{"disputed, and the list says how it ended", after(inDispute, none, asList(false, disputeIs(1, "won"))), payment.Reversals{Paid: euros, Dispute: order.DisputeWon}},
		{"the rest of the authorisation was released", partly(asList(false, refundOf(1, 2300, "succeeded"))), payment.Reversals{Paid: captured}},
		{"released, then some of it refunded", partly(asList(false, refundOf(2, 300, "succeeded"), refundOf(1, 2300, "succeeded"))),
			payment.Reversals{Paid: captured, Refunds: []payment.Refund{{ID: "re_2", Amount: 300, Status: payment.RefundSucceeded}}}},
		{"released, then all of it refunded", partly(asList(false, refundOf(2, 700, "succeeded"), refundOf(1, 2300, "succeeded"))),
			payment.Reversals{Paid: captured, Refunds: []payment.Refund{{ID: "re_2", Amount: 700, Status: payment.RefundSucceeded}}}},
		{"released, no list", partly(""), payment.Reversals{Paid: captured}},
		{"a part disputed", after(untouched, none, asList(false, disputeOver(1, "needs_response", 500, "eur"), disputeOver(2, "won", 900, "eur"))),
			payment.Reversals{Paid: euros, Dispute: order.DisputeOpen, Disputed: 500}},
		{"two parts disputed", after(untouched, none, asList(false, disputeOver(1, "lost", 500, "eur"), disputeOver(2, "lost", 900, "eur"))),
			payment.Reversals{Paid: euros, Dispute: order.DisputeLost, Disputed: 1400}},
		{"disputed in another currency", after(untouched, none, asList(false, disputeOver(1, "lost", 500, "usd"))),
			payment.Reversals{Paid: euros, Dispute: order.DisputeLost}},
		{"no charge", after(`null`, none, none), payment.Reversals{Paid: euros}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, _ := holding(t, test.answers)
			got, err := p.Reversals(t.Context(), "pi_1")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("reversals (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheGravestDisputeCounts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		statuses []string
		want     order.Dispute
	}{
		{[]string{"warning_needs_response"}, order.DisputeInquiry},
		{[]string{"warning_under_review"}, order.DisputeInquiry},
		{[]string{"warning_something_new"}, order.DisputeInquiry},
		{[]string{"warning_closed"}, order.DisputeNone},
		{[]string{"prevented"}, order.DisputeNone},
		{[]string{"needs_response"}, order.DisputeOpen},
		{[]string{"under_review"}, order.DisputeOpen},
		{[]string{"something_new"}, order.DisputeOpen},
		{[]string{""}, order.DisputeOpen},
		{[]string{"won"}, order.DisputeWon},
		{[]string{"lost"}, order.DisputeLost},
		{[]string{"won", "warning_needs_response"}, order.DisputeWon},
		{[]string{"won", "needs_response"}, order.DisputeOpen},
		{[]string{"lost", "needs_response", "won"}, order.DisputeLost},
		{[]string{"warning_closed", "warning_needs_response"}, order.DisputeInquiry},
	} {
		t.Run(fmt.Sprint(test.statuses), func(t *testing.T) {
			t.Parallel()
			var list []string
			for n, status := range test.statuses {
				list = append(list, disputeIs(n, status))
			}
			p, _ := holding(t, after(inDispute, asList(false), asList(false, list...)))
			got, err := p.Reversals(t.Context(), "pi_1")
			if err != nil || got.Dispute != test.want {
				t.Errorf("dispute %q, error %v; want %q", got.Dispute, err, test.want)
			}
		})
	}
}

func TestEveryPageOfRefundsAndDisputesIsRead(t *testing.T) {
	t.Parallel()
	p, _ := holding(t, map[string]string{
		intentPath:                              intentWith(ofSome),
		refundsPath:                             asList(true, refundOf(1, 100, "succeeded"), refundOf(2, 100, "succeeded")),
		refundsPath + "&starting_after=re_2":    asList(true, refundOf(2, 100, "succeeded"), refundOf(3, 100, "succeeded")),
		refundsPath + "&starting_after=re_3":    asList(false, refundOf(4, 100, "succeeded")),
		disputesPath:                            asList(true, disputeIs(1, "won")),
		disputesPath + "&starting_after=du_1":   asList(false, disputeIs(2, "lost")),
		"/v1/charges/ch_1":                      ofSome,
		"/v1/refunds?payment_intent=pi_another": asList(false),
	})
	got, err := p.Reversals(t.Context(), "pi_1")
	if err != nil || got.Refunded(payment.RefundSucceeded) != 400 || len(got.Refunds) != 4 || got.Dispute != order.DisputeLost {
		t.Errorf("%+v, error %v", got, err)
	}
}

func TestAChargeStandsForAPaymentWithoutAnIntent(t *testing.T) {
	t.Parallel()
	p, _ := holding(t, map[string]string{
		chargePath:                 ofSome,
		"/v1/refunds?charge=ch_1":  asList(false, refundOf(1, 500, "succeeded")),
		"/v1/disputes?charge=ch_1": asList(false, disputeIs(1, "needs_response")),
	})
	want := payment.Reversals{Paid: euros, Refunds: []payment.Refund{{ID: "re_1", Amount: 500, Status: payment.RefundSucceeded}}, Dispute: order.DisputeOpen}
	got, err := p.Reversals(t.Context(), "ch_1")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v, reversals (-want +got):\n%s", err, diff)
	}
}

func TestEveryReferenceToAPaymentLeadsToTheSameReversals(t *testing.T) {
	t.Parallel()
	answers := after(`"ch_1"`, asList(false, refundOf(1, 500, "succeeded")), asList(false))
	answers[chargePath] = `{"id":"ch_1","object":"charge","paid":true,"amount":3000,"amount_refunded":500,"currency":"eur","payment_intent":"pi_1"}`
	answers["/v1/refunds/re_1"] = refundOf(1, 500, "succeeded")
	answers["/v1/disputes/du_1"] = disputeIs(1, "needs_response")
	want := payment.Reversals{Paid: euros, Refunds: []payment.Refund{{ID: "re_1", Amount: 500, Status: payment.RefundSucceeded}}}
	for _, ref := range []string{"pi_1", "ch_1", "charge:ch_1", "re_1", "du_1"} {
		p, _ := holding(t, answers)
		got, err := p.Reversals(t.Context(), ref)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: error %v, reversals (-want +got):\n%s", ref, err, diff)
		}
	}
}

func TestWhatWasPaidIsWhatArrived(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, intent string
		want         order.Money
	}{
		{"received", `{"id":"pi_1","amount":3000,"amount_received":2500,"currency":"eur","latest_charge":` + untouched + `}`, order.Money{Minor: 2500, Currency: "eur"}},
		{"said by the charge only", `{"id":"pi_1","amount":3000,"latest_charge":` + untouched + `}`, euros},
		{"charge not captured", `{"id":"pi_1","amount":3000,"currency":"eur","latest_charge":{"id":"ch_1","object":"charge","paid":true,"amount":2000,"currency":"eur"}}`, order.Money{Minor: 2000, Currency: "eur"}},
		{"not yet", `{"id":"pi_1","amount":3000,"currency":"eur","status":"processing","latest_charge":{"id":"ch_1","object":"charge","paid":false,"amount":3000,"currency":"eur"}}`, order.Money{Currency: "eur"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, _ := holding(t, map[string]string{intentPath: test.intent, refundsPath: asList(false), disputesPath: asList(false)})
			if got, err := p.Reversals(t.Context(), "pi_1"); got.Paid != test.want || err != nil {
				t.Errorf("paid %+v, error %v; want %+v", got.Paid, err, test.want)
			}
		})
	}
}

func TestReversalsThatCannotBeReadAreAnError(t *testing.T) {
	t.Parallel()
	whole := func(path, answer string) map[string]string {
		answers := after(untouched, asList(false), asList(false))
		answers[path] = answer
		return answers
	}
	for _, test := range []struct {
		name    string
		answers map[string]string
		want    payment.APIError
	}{
		{"unknown", nil, payment.APIError{Status: 404, Code: "resource_missing"}},
		{"unknown, with empty lists", map[string]string{refundsPath: asList(false), disputesPath: asList(false)}, payment.APIError{Status: 404, Code: "resource_missing"}},
		{"payment away", whole(intentPath, `500 {}`), payment.APIError{Status: 500}},
		{"another payment", whole(intentPath, `{"id":"pi_2"}`), payment.APIError{Status: 200, Code: "wrong_object"}},
		{"charge away", map[string]string{intentPath: intentWith(`"ch_1"`), chargePath: `500 {}`}, payment.APIError{Status: 500}},
		{"refunds away", whole(refundsPath, `503 {}`), payment.APIError{Status: 503}},
		{"refunds broken", whole(refundsPath, `{"data":[`), payment.APIError{}},
		{"refunds without end", whole(refundsPath, asList(true)), payment.APIError{Status: 200, Code: "endless_list"}},
		{"disputes not permitted", whole(disputesPath, `403 {}`), payment.APIError{Status: 403}},
		{"too many at once", whole(disputesPath, `429 {"error":{"code":"rate_limit"}}`), payment.APIError{Status: 429, Code: "rate_limit"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, _ := holding(t, test.answers)
			if got, err := p.Reversals(t.Context(), "pi_1"); !isAPIError(err, test.want) {
				t.Errorf("%+v, error %#v; want %+v", got, err, test.want)
			}
		})
	}
}

func TestListsKnowAPaymentThatCannotBeRetrieved(t *testing.T) {
	t.Parallel()
	p, _ := holding(t, map[string]string{refundsPath: asList(false, refundOf(1, 500, "succeeded"))})
	want := payment.Reversals{Refunds: []payment.Refund{{ID: "re_1", Amount: 500, Status: payment.RefundSucceeded}}}
	got, err := p.Reversals(t.Context(), "pi_1")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v, reversals (-want +got):\n%s", err, diff)
	}
}

func TestAConnectedAccountsReversalsAreReadThere(t *testing.T) {
	t.Parallel()
	there := map[string]string{}
	for path, answer := range after(ofAll, asList(false, refundOf(1, 3000, "succeeded")), asList(false)) {
		there["acct_1"+path] = answer
	}
	for name, answers := range map[string]map[string]string{"there": there, "the key's own": after(ofAll, asList(false, refundOf(1, 3000, "succeeded")), asList(false))} {
		p, _ := holding(t, answers, connected)
		if got, err := p.Reversals(t.Context(), "pi_1"); err != nil || got.Refunded(payment.RefundSucceeded) != 3000 {
			t.Errorf("%s: %+v, error %v", name, got, err)
		}
	}
}
