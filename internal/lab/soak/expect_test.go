package soak

import (
	"math/rand/v2"
	"slices"
	"testing"

	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

func TestAccessIsExpectedAsTheSellersRulesSay(t *testing.T) {
	t.Parallel()
	both := []Line{{"set", 3}, {"gift", 1}} // 3 × 4100 + 300, by item and kept
	for name, c := range map[string]struct {
		lines   []Line
		refund  int64
		dispute string
		verdict order.Override
		open    int // units, a download counts as one
		unclear bool
	}{
		"nothing happened":                        {lines: both, open: 5},
		"all went back, but what is kept":         {lines: both, refund: 12600, open: 1},
		"one unit went back":                      {lines: both, refund: 4100, open: 4},
		"all units of one item went back":         {lines: both, refund: 12300, open: 1},
		"a part that names no item":               {lines: both, refund: 17, open: 5, unclear: true},
		"a part of what only a full refund ends":  {lines: []Line{{"guide", 2}}, refund: 1900, open: 3, unclear: true},
		"a part of what is kept":                  {lines: []Line{{"gift", 3}}, refund: 300, open: 3},
		"disputed":                                {lines: both, dispute: "needs_response", open: 1},
		"an inquiry":                              {lines: both, dispute: "warning_needs_response", open: 5},
		"lost":                                    {lines: both, dispute: "lost", open: 1},
		"won":                                     {lines: both, dispute: "won", open: 5},
		"a person ended it":                       {lines: both, verdict: order.OverrideRevoke},
		"a person gave it back after that refund": {lines: both, refund: 12600, verdict: order.OverrideRestore, open: 5},
		"it can be for one thing or for others":   {lines: []Line{{"set", 1}, {"birds", 5}, {"gift", 2}}, refund: 4100, open: 5, unclear: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := Facts{Record: &Record{Order: Order{Lines: c.lines}, Paid: true, Captured: total(c.lines)}}
			if c.refund > 0 {
				f.Refunds = []sandbox.Refund{{Amount: c.refund, Status: "succeeded"}, {Amount: 1, Status: "pending"}, {Amount: 1, Status: "failed"}}
			}
			if c.dispute != "" {
				f.Disputes = []sandbox.Dispute{{Status: c.dispute}, {Status: "warning_closed"}}
			}
			f.Override = Override{What: c.verdict, Refunded: c.refund}
			if e := expect(f); len(e.open) != c.open || e.unclear != c.unclear {
				t.Errorf("%d units open, unclear %t; want %d, %t", len(e.open), e.unclear, c.open, c.unclear)
			}
		})
	}
}

// The checker and the product were written apart. Where they differ, one of them is wrong.
func TestTheCheckerAndTheProductAgreeAboutMoney(t *testing.T) {
	t.Parallel()
	catalogue := catalogueOf()
	d := rng{rand.New(rand.NewPCG(1, 2))}
	states := []string{"", "warning_needs_response", "needs_response", "won", "lost"}
	for range 20_000 {
		f := Facts{Record: &Record{Order: Order{Lines: d.lines(SalePaid)}, Paid: true}}
		f.Captured = total(f.Order.Lines)
		if d.chance(70) {
			f.Refunds = []sandbox.Refund{{Amount: pick(d, f.Captured, 1+d.Int64N(f.Captured), products[f.Order.Lines[0].Product].amount), Status: "succeeded"}}
		}
		f.Disputes = []sandbox.Dispute{{Status: pick(d, states...)}}
		refunded, dispute := f.money()
		f.Override = Override{What: pick(d, order.OverrideNone, order.OverrideNone, order.OverrideRestore, order.OverrideRevoke)}
		if f.Override.What != order.OverrideNone {
			f.Override.Refunded, f.Override.Dispute = pick(d, refunded, refunded/2), pick(d, dispute, dispute, order.DisputeNone)
		}
		items := itemsOf(f.Order.Lines)
		wants, unclear := order.DecideAccess(catalogue, catalogue.Entitlements(items), order.Sold{Items: items},
			order.ReversalFacts{Paid: f.Captured, Refunded: refunded, Dispute: dispute},
			order.OverrideSnapshot{Override: f.Override.What, Refunded: f.Override.Refunded, Dispute: f.Override.Dispute})
		e := expect(f)
		if open := openOf(wants); !sameUnits(open, e.open) || unclear != e.unclear {
			t.Fatalf("lines %v, %s, override at %d %q:\nthe product opens %v, unclear %t;\nthe checker expects %v, unclear %t",
				f.Order.Lines, moneyText(f), f.Override.Refunded, f.Override.Dispute, open, unclear, e.open, e.unclear)
		}
	}
}

func catalogueOf() *order.Catalogue {
	var sold []order.Product
	for _, w := range products {
		p := order.Product{ID: w.id, SoldAs: []string{w.sold}, Refund: order.RefundFull, Dispute: order.DisputeHold}
		if w.item {
			p.Refund = order.RefundItem
		}
		if w.keep {
			p.Refund, p.Dispute = order.RefundKeep, order.DisputeKeep
		}
		if w.file != "" {
			p.Access = append(p.Access, order.AccessSpec{Kind: "download", File: w.file})
		}
		if w.license {
			p.Access = append(p.Access, order.AccessSpec{Kind: "license"})
		}
		if w.id != "" {
			sold = append(sold, p)
		}
	}
	return order.NewCatalogue(sold)
}

func itemsOf(lines []Line) (items []order.Item) {
	for i, l := range lines {
		w := products[l.Product]
		items = append(items, order.Item{
			Line: i + 1, Refs: []string{w.sold}, Quantity: l.Quantity, Amount: w.amount * l.Quantity, Product: w.id,
		})
	}
	return items
}

// openOf lists what stays open by the product's own rule, in the units of the checker.
func openOf(wants []order.DesiredAccess) (open []unit) {
	for _, w := range wants {
		units := int64(1)
		if w.Entitlement.Kind == "license" {
			units = w.Entitlement.Units
		}
		for n := int64(1); n <= units; n++ {
			if w.State == order.AccessGranted && (w.Keep == 0 || n <= w.Keep) {
				open = append(open, unit{w.Entitlement.Product, string(w.Entitlement.Kind), w.Entitlement.File, n})
			}
		}
	}
	return open
}

func sameUnits(a, b []unit) bool {
	has := func(list []unit) func(unit) bool {
		return func(u unit) bool { return !slices.Contains(list, u) }
	}
	return len(a) == len(b) && !slices.ContainsFunc(a, has(b)) && !slices.ContainsFunc(b, has(a))
}
