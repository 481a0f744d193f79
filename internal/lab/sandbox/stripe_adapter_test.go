package sandbox_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/lab/sandbox"
	"handover/internal/order"
	"handover/internal/payment"
	adapter "handover/internal/payment/stripe"
)

// The adapter reads from the sandbox what a test made true there.
func adapterOf(t *testing.T, c shop) *adapter.Provider {
	t.Helper()
	return made(adapter.New(adapter.Config{APIKey: "sk_test_1", WebhookSecrets: []string{stripeSecret}, Mode: order.Test, APIURL: c.Base + "/stripe"}))(t)
}

func TestTheAdapterReadsRefundsAndDisputes(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{})
	p, sess := adapterOf(t, c), buyGuide(t, c)
	ref := sess.PaymentIntent.ID
	want := payment.Reversals{Paid: order.Money{Minor: 1200, Currency: "eur"}}
	check := func(after string) {
		t.Helper()
		got, err := p.Reversals(t.Context(), ref)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("after %s: error %v, (-want +got):\n%s", after, err, diff)
		}
	}
	check("the purchase")
	r := made(c.Refund(sandbox.Refund{Session: sess.ID, Amount: 200, Status: "pending"}))(t)
	want.Refunds = []payment.Refund{{ID: r.ID, Amount: 200, Status: payment.RefundPending}}
	check("a refund that is pending")
	made(c.ChangeRefund(r.ID, "succeeded"))(t)
	want.Refunds[0].Status = payment.RefundSucceeded
	check("its success")
	made(c.ChangeRefund(r.ID, "failed"))(t)
	want.Refunds[0].Status = payment.RefundFailed
	check("its failure")
	d := made(c.Dispute(sandbox.Dispute{Session: sess.ID, Status: "warning_needs_response"}))(t)
	want.Dispute, want.Disputed = order.DisputeInquiry, 1200
	check("an inquiry")
	for status, dispute := range map[string]order.Dispute{
		"needs_response": order.DisputeOpen, "won": order.DisputeWon, "lost": order.DisputeLost, "warning_closed": order.DisputeNone,
	} {
		made(c.ChangeDispute(d.ID, status))(t)
		if want.Dispute, want.Disputed = dispute, 1200; dispute == order.DisputeNone {
			want.Disputed = 0
		}
		check(status)
	}
	for _, ref := range []string{ref, r.ID, d.ID} {
		if got, err := p.SessionOf(t.Context(), ref); got != sess.ID || err != nil {
			t.Errorf("session of %s: %q, error %v", ref, got, err)
		}
	}
}

func TestTheAdapterTrustsTheChargeWhereTheListsAreAway(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{})
	p, sess := adapterOf(t, c), buyGuide(t, c)
	made(c.Refund(sandbox.Refund{Session: sess.ID}))(t)
	made(c.Dispute(sandbox.Dispute{Session: sess.ID}))(t)
	for _, target := range []string{"stripe.refunds", "stripe.disputes"} {
		made(c.AddFault(sandbox.Fault{Target: target, Mode: "refuse", Status: 404}))(t)
	}
	got, err := p.Reversals(t.Context(), sess.PaymentIntent.ID)
	if err != nil || got.Refunded(payment.RefundSucceeded) != 1200 || got.Dispute != order.DisputeOpen {
		t.Errorf("%+v, error %v", got, err)
	}
	if n := c.Counts().Stripe.Reads["stripe.refunds"]; n != 1 {
		t.Errorf("%d reads of refunds were counted", n)
	}
}

func TestTheAdapterFindsEverySaleOfTheLastDays(t *testing.T) {
	t.Parallel()
	now := newClock()
	c := start(t, sandbox.Config{Now: now.now})
	var times []time.Time
	for n := range 250 { // an hour apart, so ten days and a bit
		times = append(times, now.now().Add(-time.Duration(n)*time.Hour))
	}
	list := made(c.CreateBatch(sandbox.Batch{Session: sandbox.Session{Items: []sandbox.Item{{Price: "price_guide"}}}, Created: times}))(t)
	made(c.CreateSession(sandbox.Session{Status: "open", PaymentStatus: "unpaid"}))(t)
	p := adapterOf(t, c)
	for _, days := range []int{3, 9} {
		since := now.now().Add(-time.Duration(days) * 24 * time.Hour)
		var want, got []string
		for _, sess := range list {
			if !sess.Created.Before(since.Add(-24 * time.Hour)) {
				want = append(want, sess.ID+" "+sess.PaymentIntent.ID)
			}
		}
		for cursor, more := "", true; more; more = cursor != "" {
			page, next, err := p.PaidSessions(t.Context(), since, cursor)
			must(t, err)
			for _, sale := range page {
				got = append(got, sale.Session+" "+sale.Ref)
			}
			cursor = next
		}
		if diff := cmp.Diff(want, got); diff != "" || len(want) < days*24 {
			t.Errorf("%d days, %d sales: %s", days, len(want), diff)
		}
	}
}

func TestTheAdapterReadsWhatWasPaidForEachLine(t *testing.T) {
	t.Parallel()
	c := start(t, sandbox.Config{})
	sess := made(c.CreateSession(sandbox.Session{Items: []sandbox.Item{
		{Price: "price_guide", Quantity: 2, Discount: 400}, {Price: "price_maps"},
	}}))(t)
	f, err := adapterOf(t, c).Session(t.Context(), sess.ID)
	must(t, err)
	if len(f.Items) != 2 || f.Items[0].Amount != 2000 || f.Items[1].Amount != 500 || f.Total.Minor != 2500 {
		t.Errorf("items %+v, total %+v", f.Items, f.Total)
	}
}
