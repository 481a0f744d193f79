package paymenttest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/order"
	"handover/internal/payment"
)

var ada = Buyer{Email: "Ada+books@Example.com", Name: "Ada Example"}

func (s Subject) sessions(t *testing.T) {
	for name, sale := range map[string]Sale{
		"open":         {Status: payment.StatusOpen, Price: 1200},
		"processing":   {Status: payment.StatusProcessing, Price: 1200},
		"paid":         {Status: payment.StatusPaid, Price: 1200},
		"three units":  {Status: payment.StatusPaid, Price: 1200, Units: 3},
		"free":         {Status: payment.StatusFree},
		"expired":      {Status: payment.StatusExpired, Price: 1200},
		"subscription": {Status: payment.StatusPaid, Price: 1200, Kind: order.SessionOther},
		"twelve lines": {Status: payment.StatusPaid, Price: 100, Lines: 12, Units: 2},
	} {
		if sale.Lines > 1 && !s.Can.Lines {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sale.Buyer = ada
			world := s.World(t)
			sold := world.Sell(t, sale)
			s.proves(t, facts(t, s.at(t, world.APIURL()), sold.Session), sale, sold)
		})
	}
	t.Run("whatever else is in the answer", func(t *testing.T) {
		t.Parallel()
		world := s.World(t)
		sold := world.Sell(t, Sale{Status: payment.StatusPaid, Price: 1200, Buyer: ada})
		more := through(t, world.APIURL(), func(body []byte) []byte { return grown(t, body) })
		want, got := facts(t, s.at(t, world.APIURL()), sold.Session), facts(t, s.at(t, more), sold.Session)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("facts (-want +got):\n%s", diff)
		}
	})
	t.Run("a word that is not known proves nothing", func(t *testing.T) { t.Parallel(); s.strangeWords(t) })
	t.Run("when it was made", func(t *testing.T) { t.Parallel(); s.made(t) })
	t.Run("a refund or a dispute is said", func(t *testing.T) { t.Parallel(); s.reversed(t) })
	t.Run("a session of the other mode is not taken for one of this", func(t *testing.T) {
		t.Parallel()
		world := s.World(t)
		sold := world.Sell(t, Sale{Status: payment.StatusPaid, Price: 1200, Buyer: ada, Mode: order.Live})
		f, err := s.at(t, world.APIURL()).Session(t.Context(), sold.Session)
		if f.Mode != order.Live && !permanent(err) {
			t.Errorf("mode %q, error %v; want live, or a final error", f.Mode, err)
		}
	})
	t.Run("ids", func(t *testing.T) { t.Parallel(); s.ids(t) })
}

func facts(t *testing.T, p payment.Provider, session string) payment.Facts {
	t.Helper()
	f, err := p.Session(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// proves holds the facts against what was sold.
func (s Subject) proves(t *testing.T, f payment.Facts, sale Sale, sold Sold) {
	t.Helper()
	lines, units := max(sale.Lines, 1), max(sale.Units, 1)
	total := sale.Price * units * int64(lines)
	kind := sale.Kind
	if kind == "" {
		kind = order.SessionPayment
	}
	finished := sale.Status == payment.StatusPaid || sale.Status == payment.StatusFree
	if f.Session != sold.Session || f.Mode != order.Test || f.Kind != kind || f.Status != sale.Status || f.Reversed {
		t.Errorf("session %q, mode %q, kind %q, status %q, reversed %v", f.Session, f.Mode, f.Kind, f.Status, f.Reversed)
	}
	if !finished {
		return
	}
	owed := kind == order.SessionPayment && sale.Status == payment.StatusPaid // a subscription's money may be elsewhere
	if f.PaymentRef != sold.Ref || owed && f.PaymentRef == "" {
		t.Errorf("reference %q, want %q", f.PaymentRef, sold.Ref)
	}
	if f.Total.Minor != total || !strings.EqualFold(f.Total.Currency, "eur") {
		t.Errorf("total %+v, want %d euro cents", f.Total, total)
	}
	if f.Email != sale.Buyer.Email || f.Name != sale.Buyer.Name {
		t.Errorf("buyer %q, %q; want %+v", f.Email, f.Name, sale.Buyer)
	}
	if len(f.Items) != lines {
		t.Fatalf("%d items, want %d", len(f.Items), lines)
	}
	for i, item := range f.Items {
		if item.Line != i+1 || item.Quantity != units || item.Amount != sale.Price*units || !slices.Contains(item.Refs, sold.Products[i]) || item.Product != "" {
			t.Errorf("item %d: %+v; want %d × %s for %d", i+1, item, units, sold.Products[i], sale.Price*units)
		}
	}
}

// strangeWords changes every word that says whether something was paid into one that nobody knows.
func (s Subject) strangeWords(t *testing.T) {
	world := s.World(t)
	sold := world.Sell(t, Sale{Status: payment.StatusPaid, Price: 1200, Buyer: ada})
	changed := 0
	strange := through(t, world.APIURL(), func(body []byte) []byte {
		return rewritten(t, body, func(o map[string]any) {
			for _, word := range s.Words {
				if _, text := o[word].(string); text {
					o[word] = "zebra"
					changed++
				}
			}
		})
	})
	f := facts(t, s.at(t, strange), sold.Session)
	if f.Status == payment.StatusPaid || f.Status == payment.StatusFree || changed == 0 {
		t.Errorf("status %q, with %d words changed", f.Status, changed)
	}
}

// made is what tells a sale from before Handover served the environment from one that it has to deliver.
func (s Subject) made(t *testing.T) {
	world := s.World(t)
	at := time.Now().Add(-60 * 24 * time.Hour).Truncate(time.Second)
	sold := world.Sell(t, Sale{Status: payment.StatusPaid, Price: 1200, Buyer: ada, At: at})
	world.Refund(t, sold.Session, 100, payment.RefundSucceeded)
	if f := facts(t, s.at(t, world.APIURL()), sold.Session); !f.Created.Truncate(time.Second).Equal(at) {
		t.Errorf("made %s, want %s", f.Created, at)
	}
}

func (s Subject) reversed(t *testing.T) {
	world := s.World(t)
	p := s.at(t, world.APIURL())
	for name, reverse := range map[string]func(session string){
		"full refund":    func(session string) { world.Refund(t, session, 1200, payment.RefundSucceeded) },
		"partial refund": func(session string) { world.Refund(t, session, 100, payment.RefundSucceeded) },
		"dispute":        func(session string) { world.Dispute(t, session, order.DisputeOpen) },
	} {
		sold := world.Sell(t, Sale{Status: payment.StatusPaid, Price: 1200, Buyer: ada})
		reverse(sold.Session)
		if f := facts(t, p, sold.Session); !f.Reversed || f.Status != payment.StatusPaid {
			t.Errorf("%s: reversed %v, status %q; want a paid session that was reversed", name, f.Reversed, f.Status)
		}
	}
}

func (s Subject) ids(t *testing.T) {
	p := s.open(t, nil)
	for _, id := range []string{s.Session(order.Test), s.Session(order.Test)} {
		if !p.ValidSession(id) {
			t.Errorf("%q is refused", id)
		}
	}
	for _, id := range []string{"", " ", "zz_1", "../x", s.Session(order.Test) + "/x", s.Session(order.Test) + "\n", s.Session(order.Test) + strings.Repeat("a", 200)} {
		_, err := p.Session(t.Context(), id) // nobody listens there: a call would be no answer
		if p.ValidSession(id) || !permanent(err) {
			t.Errorf("%q: valid %v, error %v; want a final error without a call", id, p.ValidSession(id), err)
		}
	}
}

// permanent says that repeating the call cannot help.
func permanent(err error) bool {
	var e *payment.APIError
	if !errors.As(err, &e) {
		return false
	}
	passing := e.Status < 400 || e.Status >= 500 || slices.Contains([]int{401, 403, 408, 409, 429}, e.Status)
	return !passing
}
