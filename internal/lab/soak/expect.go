package soak

import (
	"slices"

	"handover/internal/order"
)

// expected is how access has to be, from the sandbox's records and the person's last word alone.
type expected struct {
	open    []unit // what can be opened; the rest of what was bought cannot
	held    bool   // something is held, and nothing is open
	unclear bool   // a person has to say what a refund was for
}

// expect works out how access has to be. It knows the seller's rules from docs/failure-modes.md and the products' terms, and
// nothing of how the product applies them.
func expect(f Facts) expected {
	if !f.Paid || !f.whole() {
		return expected{}
	}
	all := boughtUnits(f.Order.Lines)
	refunded, dispute := f.money()
	switch f.Override.What {
	case order.OverrideRevoke:
		return expected{}
	case order.OverrideRestore:
		if f.Override.Refunded == refunded && f.Override.Dispute == dispute {
			return expected{open: all}
		}
	}
	full := refunded > 0 && refunded >= f.Captured
	back, named := wentBack(f.Order.Lines, refunded)
	var e expected
	for _, u := range all {
		w := productOf(u.Product)
		open := true
		switch {
		case w.keep:
		case full, dispute == order.DisputeLost:
			open = false
		case named && w.item:
			bought, returned := quantity(f.Order.Lines, u.Product), back[u.Product]
			if u.Kind == "license" {
				open = u.N <= bought-returned
			} else {
				open = returned < bought
			}
		}
		if open && !w.keep && dispute == order.DisputeOpen {
			open, e.held = false, true
		}
		if open {
			e.open = append(e.open, u)
		}
	}
	e.held = e.held && len(e.open) == 0
	asked := f.Override.What == order.OverrideNone || refunded > f.Override.Refunded
	e.unclear = asked && refunded > 0 && !full && namesNoItem(f.Order.Lines, back, named)
	return e
}

// namesNoItem says that a partial refund leaves open what becomes of something that a refund may end.
func namesNoItem(lines []Line, back map[string]int64, named bool) bool {
	return slices.ContainsFunc(lines, func(l Line) bool {
		w := products[l.Product]
		return !w.keep && (!named || !w.item && back[w.id] > 0)
	})
}

func productOf(id string) product {
	for _, w := range products {
		if w.id == id {
			return w
		}
	}
	return product{}
}

func quantity(lines []Line, id string) (n int64) {
	for _, l := range lines {
		if products[l.Product].id == id {
			n += l.Quantity
		}
	}
	return n
}

// wentBack tries every set of units, and names the one that a refund was for where only one costs just that.
func wentBack(lines []Line, refunded int64) (units map[string]int64, named bool) {
	if refunded <= 0 {
		return nil, false
	}
	sets := []map[string]int64{{}}
	for _, l := range lines {
		var more []map[string]int64
		for _, set := range sets {
			for n := int64(0); n <= l.Quantity; n++ {
				bigger := map[string]int64{l.Product: n}
				for name, units := range set {
					bigger[name] = units
				}
				more = append(more, bigger)
			}
		}
		sets = more
	}
	found := 0
	for _, set := range sets {
		cost := int64(0)
		for name, n := range set {
			cost += products[name].amount * n
		}
		if cost == refunded {
			units = set
			found++
		}
	}
	return units, found == 1
}
