package order

import "slices"

// Dispute is how a payment's disputes stand, the gravest of them.
type Dispute string

// The states of a dispute. An inquiry has moved no money.
const (
	DisputeNone    Dispute = ""
	DisputeInquiry Dispute = "inquiry"
	DisputeWon     Dispute = "won"
	DisputeOpen    Dispute = "open"
	DisputeLost    Dispute = "lost"
)

// The words for what a refund or a dispute does to a product, in the catalogue.
const (
	RefundFull  = "full" // a full refund ends the access
	RefundItem  = "item" // so does a partial one that can only be this product's
	RefundKeep  = "keep"
	DisputeHold = "hold" // an open dispute holds the access, a lost one ends it
	DisputeKeep = "keep"
)

// RefundPolicies lists the words for what a refund does to the access.
func RefundPolicies() []string { return []string{RefundFull, RefundItem, RefundKeep} }

// DisputePolicies lists the words for what a dispute does to it.
func DisputePolicies() []string { return []string{DisputeHold, DisputeKeep} }

// ReversalFacts are what the provider proves about the money after it was paid.
type ReversalFacts struct {
	Paid     int64 // minor units; 0 when the provider does not say
	Refunded int64 // by refunds that succeeded
	Pending  int64 // by refunds that have not succeeded yet: noted, and take nothing away
	Dispute  Dispute
	Disputed int64  // what the disputes in that state are about; 0 when all of it is, or the provider does not say
	Currency string // of these amounts; empty when it is the sale's
}

// partlyDisputed says that the dispute is about a part of the payment.
func (m ReversalFacts) partlyDisputed() bool { return m.Disputed > 0 && m.Disputed < m.Paid }

// FullyRefunded says that all of the money went back. A payment of nothing cannot be refunded.
func (m ReversalFacts) FullyRefunded() bool { return m.Paid > 0 && m.Refunded >= m.Paid }

// Override is what a person has decided about the access of an order.
type Override string

// The overrides.
const (
	OverrideNone    Override = ""
	OverrideRevoke  Override = "revoked"
	OverrideRestore Override = "restored"
)

// OverrideSnapshot is a person's override, and what was known of the money then.
type OverrideSnapshot struct {
	Override Override
	Refunded int64
	Dispute  Dispute
}

// DesiredAccess is how one piece of access has to be. Units above Keep are revoked whatever State says; Keep 0 means all stay.
type DesiredAccess struct {
	Entitlement Entitlement
	State       AccessState // granted, held or revoked
	Keep        int64
}

// Sold is what the payment was for, in the sale's currency.
type Sold struct {
	Items    []Item
	Parts    []int64 // shipping, tax and discounts of the sale, in minor units: a refund may be of these, too
	Currency string
}

// DecideAccess is the rule of refunds and disputes: how each piece of access has to be, and whether a part of the money went
// back without saying for which of them. A person's override comes first, a restoring one for as long as nothing new is
// known of the money.
func DecideAccess(c *Catalogue, bought []Entitlement, sold Sold, m ReversalFacts, by OverrideSnapshot) (wants []DesiredAccess, unclear bool) {
	restored := by.Override == OverrideRestore && m.Refunded == by.Refunded && m.Dispute == by.Dispute
	full := m.FullyRefunded()
	refunded := sold.share(m.Refunded, m.Currency)
	disputed := sold.share(m.Disputed, m.Currency)
	seen := by.Override != OverrideNone
	for _, due := range bought {
		w := DesiredAccess{Entitlement: due, State: AccessGranted}
		product, known := c.Product(due.Product)
		if !known { // it has left the catalogue: the policies of a product that says nothing
			product.Refund, product.Dispute = RefundFull, DisputeHold
		}
		switch {
		case by.Override == OverrideRevoke:
			w.State = AccessRevoked
		case restored:
		case full && product.Refund != RefundKeep:
			w.State = AccessRevoked
		default:
			if m.Refunded > 0 && !full && product.Refund != RefundKeep {
				end, asked := refunded.ends(due, product)
				w = apart(w, end, AccessRevoked)
				unclear = unclear || asked && (!seen || m.Refunded > by.Refunded)
			}
			state := m.Dispute.access(product)
			if state != AccessGranted && m.partlyDisputed() {
				end, asked := disputed.ends(due, product)
				w = apart(w, end, state)
				unclear = unclear || asked && (!seen || m.Dispute != by.Dispute)
			} else if w.State != AccessRevoked && state != AccessGranted {
				w.State = state
			}
		}
		wants = append(wants, w)
	}
	return wants, unclear
}

// share is what a part of the money was for: how many units of which products, where that is known.
type share struct {
	units      map[string]int64
	attributed bool
}

// share finds out what an amount was for. Amounts of two currencies cannot be compared.
func (s Sold) share(amount int64, currency string) share {
	if currency != "" && currency != s.Currency {
		return share{}
	}
	units, attributed := Attribute(s.Items, s.Parts, amount)
	return share{units, attributed}
}

// ends says how many units of a piece of access end by it, and whether a person has to decide that: where it is not known
// what the money was for, or the shop wants no part to end by itself.
func (s share) ends(due Entitlement, p Product) (units int64, asked bool) {
	switch {
	case !s.attributed:
		return 0, true
	case p.Refund == RefundItem:
		return s.units[due.Product], false
	}
	return 0, s.units[due.Product] > 0
}

// apart ends so many units of a piece of access. A licence ends unit by unit; what is given once however many units ends
// with the last of them, and only the whole of it can be held.
func apart(w DesiredAccess, units int64, state AccessState) DesiredAccess {
	switch {
	case units == 0 || w.State == AccessRevoked:
	case units >= w.Entitlement.Units || state == AccessHeld:
		w.State = state
	default:
		if keep := w.Entitlement.Units - units; w.Keep == 0 || keep < w.Keep {
			w.Keep = keep
		}
	}
	return w
}

// access is what a dispute makes of a product's access.
func (d Dispute) access(p Product) AccessState {
	switch {
	case p.Dispute == DisputeKeep:
	case d == DisputeOpen:
		return AccessHeld
	case d == DisputeLost:
		return AccessRevoked
	}
	return AccessGranted
}

// mostSteps bounds the search for what a partial refund was for.
const mostSteps = 20_000

// Attribute finds out how many units of which products a part of the money was for, from the lines' own amounts. It is
// known only where one answer is possible: an amount that could be for either of two lines, or for the shipping, names no
// item.
func Attribute(items []Item, parts []int64, amount int64) (units map[string]int64, attributed bool) {
	if amount <= 0 {
		return nil, false
	}
	for _, item := range items {
		if item.Quantity <= 0 || item.Amount <= 0 || item.Amount%item.Quantity != 0 {
			return nil, false
		}
	}
	all := slices.Clone(items)
	for _, part := range parts {
		if part > 0 {
			all = append(all, Item{Quantity: 1, Amount: part})
		}
	}
	s := search{items: all, taken: make([]int64, len(all)), steps: mostSteps}
	s.from(0, amount)
	if s.steps <= 0 || s.found != 1 {
		return nil, false
	}
	units = map[string]int64{}
	for i, n := range s.answer {
		if n > 0 && i >= len(items) {
			return nil, false
		}
		if n > 0 {
			units[items[i].Product] += n
		}
	}
	return units, true
}

type search struct {
	items  []Item
	taken  []int64
	answer []int64
	found  int
	steps  int
}

// from tries every number of units of the lines from i on, until a second answer is found or the search is too long.
func (s *search) from(i int, left int64) {
	if s.steps--; s.steps <= 0 || s.found > 1 {
		return
	}
	if left == 0 {
		s.found++
		s.answer = append([]int64(nil), s.taken...)
		return
	}
	if i == len(s.items) {
		return
	}
	unit := s.items[i].Amount / s.items[i].Quantity
	for n := int64(0); n <= s.items[i].Quantity && n*unit <= left; n++ {
		s.taken[i] = n
		s.from(i+1, left-n*unit)
	}
	s.taken[i] = 0
}
