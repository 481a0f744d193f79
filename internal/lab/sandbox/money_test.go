package sandbox_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/webhook"

	"handover/internal/lab/sandbox"
)

// buyGuide makes a paid session of 12 euros.
func buyGuide(t *testing.T, c shop) sandbox.Session {
	t.Helper()
	return made(c.CreateSession(sandbox.Session{Items: []sandbox.Item{{Price: "price_guide"}}}))(t)
}

// charge retrieves a session's charge through its payment intent.
func charge(t *testing.T, sc *stripe.Client, sess sandbox.Session) *stripe.Charge {
	t.Helper()
	p := &stripe.PaymentIntentRetrieveParams{}
	p.AddExpand("latest_charge")
	pi := made(sc.V1PaymentIntents.Retrieve(t.Context(), sess.PaymentIntent.ID, p))(t)
	if pi.Status != "succeeded" || pi.AmountReceived != sess.Amount {
		t.Errorf("payment intent: %+v", pi)
	}
	alone := made(sc.V1Charges.Retrieve(t.Context(), pi.LatestCharge.ID, nil))(t)
	if alone.PaymentIntent.ID != pi.ID || alone.AmountRefunded != pi.LatestCharge.AmountRefunded {
		t.Errorf("charge: %+v, in its payment intent: %+v", alone, pi.LatestCharge)
	}
	return alone
}

func TestARefundShowsInItsListAndInTheCharge(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{})
	sc, sess, other := stripeClient(c.Base, "k"), buyGuide(t, c), buyGuide(t, c)
	if ch := charge(t, sc, sess); ch.AmountRefunded != 0 || ch.Refunded || ch.Disputed {
		t.Errorf("before: %+v", ch)
	}
	part := made(c.Refund(sandbox.Refund{Session: sess.ID, Amount: 500}))(t)
	if ch := charge(t, sc, sess); ch.AmountRefunded != 500 || ch.Refunded {
		t.Errorf("after a part: %d %v", ch.AmountRefunded, ch.Refunded)
	}
	rest := made(c.Refund(sandbox.Refund{Session: sess.ID, Status: "pending"}))(t)
	if ch := charge(t, sc, sess); rest.Amount != 700 || ch.AmountRefunded != 1200 || !ch.Refunded {
		t.Errorf("after the rest: %d, %d %v", rest.Amount, ch.AmountRefunded, ch.Refunded)
	}
	if _, err := c.Refund(sandbox.Refund{Session: sess.ID, Amount: 1}); err == nil {
		t.Error("more was given back than was paid")
	}
	made(c.ChangeRefund(rest.ID, "failed"))(t)
	if ch := charge(t, sc, sess); ch.AmountRefunded != 500 || ch.Refunded {
		t.Errorf("after the rest failed: %d %v", ch.AmountRefunded, ch.Refunded)
	}
	made(c.Refund(sandbox.Refund{Session: other.ID}))(t)

	chargeID := charge(t, sc, sess).ID
	for name, params := range map[string]*stripe.RefundListParams{
		"by payment": {PaymentIntent: &sess.PaymentIntent.ID},
		"by charge":  {Charge: &chargeID},
		"in pages":   {PaymentIntent: &sess.PaymentIntent.ID, ListParams: stripe.ListParams{Limit: stripe.Int64(1)}},
	} {
		var got []string
		for r, err := range sc.V1Refunds.List(t.Context(), params).All(t.Context()) {
			must(t, err)
			got = append(got, r.ID+" "+string(r.Status)+" "+r.Charge.ID+" "+r.PaymentIntent.ID)
		}
		tail := " " + chargeID + " " + sess.PaymentIntent.ID
		if diff := cmp.Diff([]string{rest.ID + " failed" + tail, part.ID + " succeeded" + tail}, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if r := made(sc.V1Refunds.Retrieve(t.Context(), rest.ID, nil))(t); r.FailureReason == "" || r.Amount != 700 {
		t.Errorf("retrieved: %+v", r)
	}
}

func TestADisputeShowsInItsListAndInTheCharge(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{})
	sc, sess, other := stripeClient(c.Base, "k"), buyGuide(t, c), buyGuide(t, c)
	d := made(c.Dispute(sandbox.Dispute{Session: sess.ID, Status: "warning_needs_response"}))(t)
	made(c.Dispute(sandbox.Dispute{Session: other.ID}))(t)
	if ch := charge(t, sc, sess); !ch.Disputed || ch.AmountRefunded != 0 {
		t.Errorf("charge: %+v", ch)
	}
	for _, status := range []string{"warning_needs_response", "needs_response", "won"} {
		made(c.ChangeDispute(d.ID, status))(t)
		list := sc.V1Disputes.List(t.Context(), &stripe.DisputeListParams{PaymentIntent: &sess.PaymentIntent.ID})
		must(t, list.Err())
		one := made(sc.V1Disputes.Retrieve(t.Context(), d.ID, nil))(t)
		if len(list.Data()) != 1 || list.Data()[0].ID != d.ID || string(list.Data()[0].Status) != status || one.Status != list.Data()[0].Status {
			t.Errorf("%s: list %+v, alone %+v", status, list.Data(), one)
		}
	}
}

func TestWhatStripeDoesNotKnowOfAPaymentIsMissing(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{})
	sess := buyGuide(t, c)
	r, d := made(c.Refund(sandbox.Refund{Session: sess.ID, Amount: 1}))(t), made(c.Dispute(sandbox.Dispute{Session: sess.ID}))(t)
	retrieve := func(sc *stripe.Client, intent, ch, refund, dispute string) map[string]error {
		_, e1 := sc.V1PaymentIntents.Retrieve(t.Context(), intent, nil)
		_, e2 := sc.V1Charges.Retrieve(t.Context(), ch, nil)
		_, e3 := sc.V1Refunds.Retrieve(t.Context(), refund, nil)
		_, e4 := sc.V1Disputes.Retrieve(t.Context(), dispute, nil)
		return map[string]error{"payment intent": e1, "charge": e2, "refund": e3, "dispute": e4}
	}
	ch := charge(t, stripeClient(c.Base, "k"), sess).ID
	for name, got := range map[string]map[string]error{
		"unknown":               retrieve(stripeClient(c.Base, "k"), "pi_x", "ch_x", "re_x", "du_x"),
		"key of the other mode": retrieve(stripeClient(c.Base, "sk_live_1"), sess.PaymentIntent.ID, ch, r.ID, d.ID),
	} {
		for what, err := range got {
			var e *stripe.Error
			if !errors.As(err, &e) || e.HTTPStatusCode != 404 || e.Code != stripe.ErrorCodeResourceMissing {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
	list := stripeClient(c.Base, "sk_live_1").V1Refunds.List(t.Context(), &stripe.RefundListParams{})
	if must(t, list.Err()); len(list.Data()) != 0 {
		t.Errorf("a live key sees %d refunds of test mode", len(list.Data()))
	}
}

func TestMoneyThatNeverCameCannotGoBack(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{})
	sess := buyGuide(t, c)
	unpaid := made(c.CreateSession(sandbox.Session{PaymentStatus: "unpaid", Amount: 900}))(t)
	free := made(c.CreateSession(sandbox.Session{PaymentStatus: "no_payment_required"}))(t)
	for name, err := range map[string]error{
		"refund of an unpaid session":   second(c.Refund(sandbox.Refund{Session: unpaid.ID})),
		"refund of a free session":      second(c.Refund(sandbox.Refund{Session: free.ID})),
		"refund of an unknown session":  second(c.Refund(sandbox.Refund{Session: "cs_test_none"})),
		"dispute of an unpaid session":  second(c.Dispute(sandbox.Dispute{Session: unpaid.ID})),
		"a status that no refund has":   second(c.Refund(sandbox.Refund{Session: sess.ID, Status: "done"})),
		"a status that no dispute has":  second(c.Dispute(sandbox.Dispute{Session: sess.ID, Status: "open"})),
		"a change of an unknown refund": second(c.ChangeRefund("re_none", "failed")),
		"events of an unknown dispute":  second(c.DeliverDispute(t.Context(), "du_none", sandbox.MoneyEvents{})),
	} {
		if err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// reported is what the next n webhooks say: their type, and their object's kind, status and payment.
func reported(t *testing.T, hook receiver, n int) (list []string) {
	t.Helper()
	for range n {
		got := hook.next(t)
		event, err := webhook.ConstructEvent(got.body, got.header.Get("Stripe-Signature"), stripeSecret)
		must(t, err)
		var o struct {
			Object, Status string
			PaymentIntent  string `json:"payment_intent"`
		}
		must(t, json.Unmarshal(event.Data.Raw, &o))
		list = append(list, string(event.Type)+" "+o.Object+" "+o.Status+" "+o.PaymentIntent)
	}
	return list
}

func TestARefundsEventsAreThoseOfItsState(t *testing.T) {
	t.Parallel()
	hook := receive(t, always(200))
	c := start(t, sandbox.Config{StripeSecret: stripeSecret, WebhookURL: hook.url})
	sess := buyGuide(t, c)
	pi := " " + sess.PaymentIntent.ID
	r := made(c.Refund(sandbox.Refund{Session: sess.ID, Status: "pending"}))(t)
	made(c.DeliverRefund(t.Context(), r.ID, sandbox.MoneyEvents{}))(t)
	if diff := cmp.Diff([]string{"refund.created refund pending" + pi, "charge.refunded charge succeeded" + pi}, reported(t, hook, 2)); diff != "" {
		t.Error(diff)
	}
	made(c.ChangeRefund(r.ID, "failed"))(t)
	made(c.DeliverRefund(t.Context(), r.ID, sandbox.MoneyEvents{}))(t)
	if diff := cmp.Diff([]string{"refund.updated refund failed" + pi, "refund.failed refund failed" + pi}, reported(t, hook, 2)); diff != "" {
		t.Error(diff)
	}
	chosen := made(c.DeliverRefund(t.Context(), r.ID, sandbox.MoneyEvents{Types: []string{"charge.refunded", "refund.created"}, Copies: 2}))(t)
	if diff := cmp.Diff([]string{"charge.refunded charge succeeded" + pi, "charge.refunded charge succeeded" + pi,
		"refund.created refund failed" + pi, "refund.created refund failed" + pi}, reported(t, hook, 4)); diff != "" {
		t.Error(diff)
	}
	if len(chosen) != 2 || chosen[0].EventID == chosen[1].EventID || !cmp.Equal(chosen[0].Statuses, []int{200, 200}) {
		t.Errorf("deliveries: %+v", chosen)
	}
}

func TestADisputesEventsAreThoseOfItsState(t *testing.T) {
	t.Parallel()
	hook := receive(t, always(200))
	c := start(t, sandbox.Config{StripeSecret: stripeSecret, WebhookURL: hook.url})
	sess := buyGuide(t, c)
	d := made(c.Dispute(sandbox.Dispute{Session: sess.ID, Status: "warning_needs_response"}))(t)
	made(c.DeliverDispute(t.Context(), d.ID, sandbox.MoneyEvents{}))(t)
	for _, status := range []string{"needs_response", "lost"} {
		made(c.ChangeDispute(d.ID, status))(t)
		made(c.DeliverDispute(t.Context(), d.ID, sandbox.MoneyEvents{}))(t)
	}
	e := made(c.Dispute(sandbox.Dispute{Session: sess.ID}))(t)
	made(c.DeliverDispute(t.Context(), e.ID, sandbox.MoneyEvents{}))(t)
	made(c.ChangeDispute(e.ID, "won"))(t)
	made(c.DeliverDispute(t.Context(), e.ID, sandbox.MoneyEvents{}))(t)
	pi := " " + sess.PaymentIntent.ID
	want := []string{
		"charge.dispute.created dispute warning_needs_response" + pi,
		"charge.dispute.updated dispute needs_response" + pi, "charge.dispute.closed dispute lost" + pi,
		"charge.dispute.created dispute needs_response" + pi, "charge.dispute.funds_withdrawn dispute needs_response" + pi,
		"charge.dispute.closed dispute won" + pi, "charge.dispute.funds_reinstated dispute won" + pi,
	}
	if diff := cmp.Diff(want, reported(t, hook, len(want))); diff != "" {
		t.Error(diff)
	}
}

func TestRefundsAndDisputesSurviveARestart(t *testing.T) {
	t.Parallel()
	cfg := sandbox.Config{Journal: filepath.Join(t.TempDir(), "journal"), Products: products}
	first := made(sandbox.New(cfg))(t)
	c := shop{first, serve(t, first)}
	sess := buyGuide(t, c)
	r := made(c.Refund(sandbox.Refund{Session: sess.ID, Amount: 300}))(t)
	d := made(c.Dispute(sandbox.Dispute{Session: sess.ID}))(t)
	must(t, c.SetEndpoints([]sandbox.Endpoint{sandbox.Endpoint{URL: "https://shop.example/hook"}}))
	must(t, c.SetPrice(sandbox.Price{ID: "price_guide", Inactive: true}))
	made(c.ChangeSession(sess.ID, fields(t, map[string]any{"name": "B"})))(t)
	must(t, first.Close())

	again := made(sandbox.New(cfg))(t)
	t.Cleanup(func() { again.Close() })
	sc := stripeClient(serve(t, again), "k")
	if ch := charge(t, sc, sess); ch.AmountRefunded != 300 || !ch.Disputed {
		t.Errorf("charge: %d %v", ch.AmountRefunded, ch.Disputed)
	}
	made(sc.V1Refunds.Retrieve(t.Context(), r.ID, nil))(t)
	made(sc.V1Disputes.Retrieve(t.Context(), d.ID, nil))(t)
	if list := sc.V1WebhookEndpoints.List(t.Context(), nil); len(list.Data()) != 1 || list.Data()[0].URL != "https://shop.example/hook" {
		t.Errorf("endpoints: %+v, %v", list.Data(), list.Err())
	}
	if p := made(sc.V1Prices.Retrieve(t.Context(), "price_guide", nil))(t); p.Active {
		t.Error("the price is active again")
	}
}
