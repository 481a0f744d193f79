package soak

import (
	"slices"

	"handover/internal/order"
)

// expected is how access has to be, from the provider's books and the person's last word alone.
type expected struct {
	open    []unit // what can be opened; the rest of what was bought cannot
	held    bool   // something is held, and nothing is open
	unclear bool   // a person has to say what a refund was for
}

// expect works out how access has to be. It knows the seller's rules from docs/failure-modes.md and the wares' terms, and
// nothing of how the product applies them.
func expect(f Facts) expected {
	if !f.Paid || !f.whole() {
		return expected{}
	}
	all := owed(f.Order.Lines)
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
	back, told := wentBack(f.Order.Lines, refunded)
	var e expected
	for _, u := range all {
		w := wareOf(u.Product)
		open := true
		switch {
		case w.keep:
		case full, dispute == order.DisputeLost:
			open = false
		case told && w.item:
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
	e.unclear = asked && refunded > 0 && !full && namesNoItem(f.Order.Lines, back, told)
	return e
}

// namesNoItem says that a partial refund leaves open what becomes of something that a refund may end.
func namesNoItem(lines []Line, back map[string]int64, told bool) bool {
	return slices.ContainsFunc(lines, func(l Line) bool {
		w := wares[l.Ware]
		return !w.keep && (!told || !w.item && back[w.product] > 0)
	})
}

func wareOf(product string) ware {
	for _, w := range wares {
		if w.product == product {
			return w
		}
	}
	return ware{}
}

func quantity(lines []Line, product string) (n int64) {
	for _, l := range lines {
		if wares[l.Ware].product == product {
			n += l.Quantity
		}
	}
	return n
}

// wentBack tries every set of units, and tells which one a refund was for where only one costs just that.
func wentBack(lines []Line, refunded int64) (units map[string]int64, told bool) {
	if refunded <= 0 {
		return nil, false
	}
	sets := []map[string]int64{{}}
	for _, l := range lines {
		var more []map[string]int64
		for _, set := range sets {
			for n := int64(0); n <= l.Quantity; n++ {
				bigger := map[string]int64{l.Ware: n}
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
			cost += wares[name].amount * n
		}
		if cost == refunded {
			units = set
			found++
		}
	}
	return units, found == 1
}
