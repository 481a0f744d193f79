package ledger_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"handover/internal/ledger"
	"handover/internal/order"
)

// shopOfOrders is a ledger with an order in each state.
func shopOfOrders(t *testing.T) (b *env, orders map[string]*env) {
	t.Helper()
	b = ownEnv(t)
	orders = map[string]*env{}
	for _, name := range []string{"new", "processing", "failed", "ignored", "owed", "refused", "spent", "delivered", "readdressed"} {
		orders[name] = b.another()
	}
	o := orders["new"]
	o.store(o.event("1"))
	for name, state := range map[string]order.PaymentState{
		"processing": order.PaymentPending, "failed": order.PaymentFailed, "ignored": order.PaymentIgnored,
	} {
		o := orders[name]
		o.record(order.Assessment{Key: o.key, State: state, Processing: name == "processing"})
	}
	orders["owed"].pay()
	for _, name := range []string{"spent", "refused"} {
		o := orders[name].pay().give()
		o.must(o.Stop(t.Context(), o.work(1), "", order.ClassPermanent, order.ReasonEmailRefused))
	}
	orders["delivered"].pay().give().accept(1)
	o = orders["readdressed"].pay().give().accept(1)
	request := o.request("r1")
	request.Address = kim
	o.resend(request)
	o.accept(2)
	// Created in the order of the list above, a minute apart.
	for i, name := range []string{"new", "processing", "failed", "ignored", "owed", "refused", "spent", "delivered", "readdressed"} {
		b.exec(`UPDATE orders SET created_at = now() - make_interval(mins => $2) WHERE session = $1`, orders[name].key.Session, 100-i)
	}
	b.exec(`UPDATE attention SET since = now() - interval '1 hour' WHERE session = $1`, orders["spent"].key.Session)
	return b, orders
}

func TestOrdersAreListedByChoice(t *testing.T) {
	t.Parallel()
	b, orders := shopOfOrders(t)
	names := map[order.Key]string{}
	for name, o := range orders {
		names[o.key] = name
	}
	tests := []struct {
		name   string
		filter ledger.Filter
		want   []string
	}{
		{"attention, the oldest first", ledger.Filter{Attention: true}, []string{"spent", "refused"}},
		{"ignored", ledger.Filter{Ignored: true}, []string{"ignored"}},
		{"pending, the oldest first", ledger.Filter{Pending: true}, []string{"new", "processing", "owed"}},
		{"an address in any letter case", ledger.Filter{Address: "ALEX+Shop@example.COM"}, []string{"readdressed", "delivered", "spent", "refused", "owed"}},
		{"the address that took another's place", ledger.Filter{Address: kim}, []string{"readdressed"}},
		{"an address nobody has", ledger.Filter{Address: "alexxshop@example.com"}, []string{}},
		{"a pattern is no address", ledger.Filter{Address: "%"}, []string{}},
		{"all, the newest first", ledger.Filter{}, []string{"readdressed", "delivered", "spent", "refused", "owed", "ignored", "failed", "processing", "new"}},
		{"at most two", ledger.Filter{Limit: 2}, []string{"readdressed", "delivered"}},
		{"at most one of them", ledger.Filter{Attention: true, Limit: 1}, []string{"spent"}},
	}
	for _, test := range tests {
		if test.filter.Limit == 0 {
			test.filter.Limit = 100
		}
		views, err := b.List(t.Context(), test.filter)
		b.must(err)
		got := []string{}
		for _, v := range views {
			got = append(got, names[v.Key])
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestWhatWaitsIsCounted(t *testing.T) {
	t.Parallel()
	b, orders := shopOfOrders(t)
	b.exec(`UPDATE webhook_events SET received_at = now() - interval '90 seconds' WHERE session = $1`, orders["new"].key.Session)
	b.exec(`UPDATE obligations SET created_at = now() - interval '2 minutes' WHERE session = $1 AND kind = 'email'`, orders["owed"].key.Session)
	w, err := b.Waits(t.Context())
	b.must(err)
	want := ledger.Waits{
		PaymentPending:            2,
		Ignored:                   1,
		Attention:                 map[string]int64{"email_refused": 2},
		Open:                      map[string]int64{"access": 2, "email": 1},
		OldestOpenSeconds:         map[string]float64{"payment": 6000, "access": 0, "email": 120},
		Undispatched:              1,
		OldestUndispatchedSeconds: 90,
		Known:                     map[string]ledger.SyncWindow{},
	}
	if diff := cmp.Diff(want, w, cmpopts.EquateApprox(0, 30)); diff != "" {
		t.Errorf("what waits (-want +got):\n%s", diff)
	}
}

func TestNothingWaitsInAnEmptyLedger(t *testing.T) {
	t.Parallel()
	b := ownEnv(t)
	w, err := b.Waits(t.Context())
	b.must(err)
	want := ledger.Waits{Attention: map[string]int64{}, Open: map[string]int64{}, OldestOpenSeconds: map[string]float64{"payment": 0}, Known: map[string]ledger.SyncWindow{}}
	if diff := cmp.Diff(want, w); diff != "" {
		t.Errorf("what waits (-want +got):\n%s", diff)
	}
	if views, err := b.List(t.Context(), ledger.Filter{Limit: 10}); err != nil || len(views) != 0 {
		t.Errorf("%d orders, %v", len(views), err)
	}
}

func TestListFindsAnOrderByItsPayment(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay()
	b.another().pay()
	found, err := b.List(t.Context(), ledger.Filter{Payment: "pi_" + b.key.Session, Limit: 10})
	b.must(err)
	if len(found) != 1 || found[0].Key != b.key {
		t.Errorf("found %v", found)
	}
}

func TestListFindsTheBuyersWhomNoEmailHasReached(t *testing.T) {
	t.Parallel()
	b := ownEnv(t)
	bounced, stopped, lost := b.another().pay().give().accept(1), b.another().pay().give(), b.another().pay().give().accept(1)
	b.another().pay().give().accept(1)
	b.another().pay().give()
	b.must(b.Stop(t.Context(), stopped.work(1), "", order.ClassPermanent, order.ReasonEmailRefused))
	for i, of := range []*env{bounced, lost} {
		b.report(order.EmailEvent{ID: fmt.Sprint("msg_", i), Type: "email.bounced", MessageID: of.message(1), Delivery: order.DeliveryBounced, Detail: "permanent"})
	}
	lost.resend(lost.request("r"))
	lost.accept(2) // reached by the second
	found, err := b.List(t.Context(), ledger.Filter{Unreached: true, Limit: 10})
	b.must(err)
	keys := map[order.Key]bool{}
	for _, v := range found {
		keys[v.Key] = true
	}
	if len(found) != 2 || !keys[bounced.key] || !keys[stopped.key] {
		t.Errorf("unreached: %v", keys)
	}
	if v := bounced.view(); v.Emails[0].Detail != "permanent" {
		t.Errorf("how it came back is %q", v.Emails[0].Detail)
	}
}
