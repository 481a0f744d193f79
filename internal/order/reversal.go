package order

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
}

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

// DecideAccess is the rule of refunds and disputes: how each piece of access has to be, and whether a refund leaves open
// which of them it was for. A person's override comes first, a restoring one for as long as nothing new is known of the money.
func DecideAccess(c *Catalogue, bought []Entitlement, items []Item, m ReversalFacts, by OverrideSnapshot) (wants []DesiredAccess, unclear bool) {
	restored := by.Override == OverrideRestore && m.Refunded == by.Refunded && m.Dispute == by.Dispute
	full := m.FullyRefunded()
	units, attributed := Attribute(items, m.Refunded)
	for _, due := range bought {
		w := DesiredAccess{Entitlement: due, State: AccessGranted}
		product, known := c.Product(due.Product)
		switch {
		case by.Override == OverrideRevoke:
			w.State = AccessRevoked
		case restored:
		case full && product.Refund != RefundKeep:
			w.State = AccessRevoked
		default:
			w = partly(w, product, units[due.Product], attributed && !full)
			if m.Refunded > 0 && !full && known && product.Refund != RefundKeep && (!attributed || product.Refund == RefundFull && units[due.Product] > 0) {
				unclear = unclear || by.Override == OverrideNone || m.Refunded > by.Refunded
			}
			w = disputed(w, product, m.Dispute)
		}
		wants = append(wants, w)
	}
	return wants, unclear
}

// partly ends what a partial refund can only have been for, where the shop wants that. A licence ends unit by unit;
// what is given once however many units ends with the last of them.
func partly(w DesiredAccess, p Product, refunded int64, attributed bool) DesiredAccess {
	if !attributed || p.Refund != RefundItem || refunded == 0 {
		return w
	}
	if refunded >= w.Entitlement.Units {
		w.State = AccessRevoked
	} else {
		w.Keep = w.Entitlement.Units - refunded
	}
	return w
}

func disputed(w DesiredAccess, p Product, d Dispute) DesiredAccess {
	if p.Dispute == DisputeKeep || w.State == AccessRevoked {
		return w
	}
	switch d {
	case DisputeOpen:
		w.State = AccessHeld
	case DisputeLost:
		w.State = AccessRevoked
	}
	return w
}

// mostSteps bounds the search for what a partial refund was for.
const mostSteps = 20_000

// Attribute finds out how many units of which products a partial refund was for, from the lines' own amounts. It is known
// only where one answer is possible: a refund that could be for either of two lines names no item.
func Attribute(items []Item, refunded int64) (units map[string]int64, attributed bool) {
	if refunded <= 0 {
		return nil, false
	}
	s := search{items: items, taken: make([]int64, len(items)), steps: mostSteps}
	for _, item := range items {
		if item.Quantity <= 0 || item.Amount <= 0 || item.Amount%item.Quantity != 0 {
			return nil, false
		}
	}
	s.from(0, refunded)
	if s.steps <= 0 || s.found != 1 {
		return nil, false
	}
	units = map[string]int64{}
	for i, n := range s.answer {
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
