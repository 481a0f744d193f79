package paymenttest

import (
	"strings"
	"testing"
	"time"

	"handover/internal/order"
	"handover/internal/payment"
)

// manySales is more than fits on one page of any provider's list.
const manySales = 130

func (s Subject) books(t *testing.T) {
	t.Run("reversals", func(t *testing.T) { t.Parallel(); s.reversals(t) })
	t.Run("session of", func(t *testing.T) {
		t.Parallel()
		world := s.World(t)
		p := s.at(t, world.APIURL())
		for range 3 {
			sold := world.Sell(t, Sale{Status: payment.StatusPaid, Price: 1200, Buyer: ada})
			want := sold.Session
			if !s.Can.NamesSessions {
				want = ""
			}
			if got, err := p.SessionOf(t.Context(), sold.Ref); got != want || err != nil {
				t.Errorf("session %q, error %v; want %q", got, err, want)
			}
		}
	})
	t.Run("every paid session is listed once", func(t *testing.T) { t.Parallel(); s.lists(t) })
	t.Run("every refund and dispute is listed", func(t *testing.T) { t.Parallel(); s.listsReversals(t) })
}

// reversals goes through what can become of a payment of 12 euros.
func (s Subject) reversals(t *testing.T) {
	type step func(t *testing.T, w World, session string)
	refund := func(amount int64, status, then payment.RefundStatus) step {
		return func(t *testing.T, w World, session string) {
			id := w.Refund(t, session, amount, status)
			if then != status {
				w.Settle(t, session, id, then)
			}
		}
	}
	dispute := func(states ...order.Dispute) step {
		return func(t *testing.T, w World, session string) {
			for _, status := range states {
				w.Dispute(t, session, status)
			}
		}
	}
	const pending, succeeded, failed = payment.RefundPending, payment.RefundSucceeded, payment.RefundFailed
	for _, test := range []struct {
		name              string
		steps             []step
		refunded, pending int64
		dispute           order.Dispute
		needs             bool
	}{
		{name: "nothing", needs: true},
		{name: "a part", steps: []step{refund(500, succeeded, succeeded)}, refunded: 500, needs: true},
		{name: "two parts", steps: []step{refund(500, succeeded, succeeded), refund(300, succeeded, succeeded)}, refunded: 800, needs: true},
		{name: "all", steps: []step{refund(1200, succeeded, succeeded)}, refunded: 1200, needs: true},
		{name: "a refund that failed later", steps: []step{refund(1200, succeeded, failed)}, needs: true},
		{name: "a refund on its way", steps: []step{refund(500, pending, pending)}, pending: 500, needs: s.Can.PendingRefunds},
		{name: "a refund that arrived", steps: []step{refund(500, pending, succeeded)}, refunded: 500, needs: true},
		{name: "a dispute", steps: []step{dispute(order.DisputeOpen)}, dispute: order.DisputeOpen, needs: true},
		{name: "an inquiry", steps: []step{dispute(order.DisputeInquiry)}, dispute: order.DisputeInquiry, needs: s.Can.Inquiries},
		{name: "won", steps: []step{dispute(order.DisputeOpen, order.DisputeWon)}, dispute: order.DisputeWon, needs: s.Can.Inquiries},
		{name: "lost", steps: []step{dispute(order.DisputeOpen, order.DisputeLost)}, dispute: order.DisputeLost, needs: s.Can.Inquiries},
	} {
		if !test.needs {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			world := s.World(t)
			sold := world.Sell(t, Sale{Status: payment.StatusPaid, Price: 1200, Buyer: ada})
			world.Refund(t, world.Sell(t, Sale{Status: payment.StatusPaid, Price: 700, Buyer: ada}).Session, 700, succeeded) // another's
			for _, step := range test.steps {
				step(t, world, sold.Session)
			}
			r, err := s.at(t, world.APIURL()).Reversals(t.Context(), sold.Ref)
			if err != nil {
				t.Fatal(err)
			}
			if r.Paid.Minor != 1200 || !strings.EqualFold(r.Paid.Currency, "eur") {
				t.Errorf("paid %+v, want 1200 euro cents", r.Paid)
			}
			if got := r.Refunded(succeeded); got != test.refunded || r.Dispute != test.dispute {
				t.Errorf("refunded %d, dispute %q; want %d, %q", got, r.Dispute, test.refunded, test.dispute)
			}
			if got := r.Refunded(pending); s.Can.PendingRefunds && got != test.pending {
				t.Errorf("on its way %d, want %d", got, test.pending)
			}
		})
	}
}

// lists sells more than a page, and some things that do not belong on the list.
func (s Subject) lists(t *testing.T) {
	world := s.World(t)
	now := time.Now()
	missing := map[string]bool{}
	name := func(session, ref string) string {
		if s.Can.NamesSessions {
			return session
		}
		return ref
	}
	for n := range manySales {
		sold := world.Sell(t, Sale{Status: payment.StatusPaid, Price: 1200, Buyer: ada, At: now.Add(-time.Duration(n) * time.Minute)})
		missing[name(sold.Session, sold.Ref)] = true
	}
	other := world.Sell(t, Sale{Status: payment.StatusPaid, Price: 900, Kind: order.SessionOther, At: now.Add(-time.Hour)})
	old := world.Sell(t, Sale{Status: payment.StatusPaid, Price: 1200, At: now.AddDate(0, -3, 0)})
	world.Sell(t, Sale{Status: payment.StatusOpen, Price: 1200})
	world.Sell(t, Sale{Status: payment.StatusExpired, Price: 1200})

	p := s.at(t, world.APIURL())
	pages, cursor := 0, ""
	for {
		page, next, err := p.PaidSessions(t.Context(), now.Add(-6*time.Hour), cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, sale := range page {
			id := name(sale.Session, sale.Ref)
			switch {
			case id == name(other.Session, other.Ref) && sale.Kind == order.SessionOther:
			case id == name(old.Session, old.Ref):
				t.Error("a sale of months ago is listed")
			case !missing[id]:
				t.Errorf("%+v is listed twice, or was not sold", sale)
			case sale.Kind != order.SessionPayment || sale.At.IsZero() || s.Can.NamesSessions != (sale.Session != ""):
				t.Errorf("%+v", sale)
			}
			delete(missing, id)
		}
		pages++
		if cursor = next; cursor == "" || pages > manySales {
			break
		}
	}
	if len(missing) > 0 || pages < 2 || pages > manySales {
		t.Errorf("%d sales are not listed, on %d pages", len(missing), pages)
	}
}

// listsReversals gives the money of more than a page of sales back, and has one disputed.
func (s Subject) listsReversals(t *testing.T) {
	world := s.World(t)
	missing := map[string]bool{}
	for range manySales {
		sold := world.Sell(t, Sale{Status: payment.StatusPaid, Price: 1200, Buyer: ada})
		world.Refund(t, sold.Session, 500, payment.RefundSucceeded)
		missing[sold.Ref] = true
	}
	disputed := world.Sell(t, Sale{Status: payment.StatusPaid, Price: 1200, Buyer: ada})
	world.Dispute(t, disputed.Session, order.DisputeOpen)
	missing[disputed.Ref] = true
	kept := world.Sell(t, Sale{Status: payment.StatusPaid, Price: 1200, Buyer: ada})

	p, began := s.at(t, world.APIURL()), time.Now()
	for pages, cursor := 0, ""; ; pages++ {
		page, next, err := p.ReversalsSince(t.Context(), began.Add(-time.Hour), cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page {
			if r.Ref == kept.Ref {
				t.Error("a payment is listed of which nothing went back")
			}
			if r.At.IsZero() && r.Refunded == 0 && !r.Disputed {
				t.Errorf("nothing tells a new refund or dispute of %s by", r.Ref)
			}
			delete(missing, r.Ref)
		}
		if next == "" {
			break
		}
		if cursor = next; pages > manySales {
			t.Fatal("the list has no end")
		}
	}
	if len(missing) > 0 {
		t.Errorf("%d are not listed", len(missing))
	}
	if page, _, err := p.ReversalsSince(t.Context(), began.Add(90*24*time.Hour), ""); err != nil || len(page) > 0 {
		t.Errorf("from a later time on: %v, %v", page, err)
	}
	if _, _, err := p.ReversalsSince(t.Context(), began, "../x"); err == nil {
		t.Error("a cursor of nobody is taken")
	}
}
