package order_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"handover/internal/order"
)

func policies(refund, dispute string) *order.Catalogue {
	return order.NewCatalogue([]order.Product{
		{ID: "guide", Refund: refund, Dispute: dispute},
		{ID: "app", Refund: refund, Dispute: dispute},
	})
}

// sold is a guide for 10.00 and three licences of the app for 20.00 each: 70.00 in all.
var (
	soldItems = []order.Item{
		{Line: 1, Quantity: 1, Amount: 1000, Product: "guide"},
		{Line: 2, Quantity: 3, Amount: 6000, Product: "app"},
	}
	soldDues = []order.Entitlement{
		{Product: "guide", Kind: "download", File: "guide.pdf", Units: 1},
		{Product: "app", Kind: "license", Units: 3},
	}
)

func TestMoneyIsFullyRefundedAgainstWhatWasPaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		paid, refunded int64
		want           bool
	}{
		{7000, 0, false}, {7000, 6999, false}, {7000, 7000, true}, {7000, 7100, true}, {0, 0, false}, {0, 100, false},
	} {
		if got := (order.ReversalFacts{Paid: c.paid, Refunded: c.refunded}).FullyRefunded(); got != c.want {
			t.Errorf("%d of %d: fully refunded %v", c.refunded, c.paid, got)
		}
		// The total is what the session was about; less may have been paid.
		v := order.View{Total: order.Money{Minor: 9000}, Paid: c.paid, Refunded: c.refunded}
		if got := v.FullyRefunded(); got != c.want {
			t.Errorf("%d of %d: the view says fully refunded %v", c.refunded, c.paid, got)
		}
	}
}

func TestAccessFollowsRefundsAndDisputes(t *testing.T) {
	t.Parallel()
	type state struct {
		Guide, App order.AccessState
		Keep       int64 // licences that stay
		Unclear    bool
	}
	granted := state{Guide: order.AccessGranted, App: order.AccessGranted}
	revoked := state{Guide: order.AccessRevoked, App: order.AccessRevoked}
	held := state{Guide: order.AccessHeld, App: order.AccessHeld}
	for name, c := range map[string]struct {
		refund, dispute string
		parts           []int64
		money           order.ReversalFacts
		by              order.OverrideSnapshot
		want            state
	}{
		"nothing happened":                      {money: order.ReversalFacts{}, want: granted},
		"a full refund":                         {money: order.ReversalFacts{Refunded: 7000}, want: revoked},
		"more than was paid":                    {money: order.ReversalFacts{Refunded: 7100}, want: revoked},
		"a full refund that is kept":            {refund: order.RefundKeep, money: order.ReversalFacts{Refunded: 7000}, want: granted},
		"a refund that has not succeeded":       {money: order.ReversalFacts{Pending: 7000}, want: granted},
		"a part that names no item":             {money: order.ReversalFacts{Refunded: 500}, want: state{Guide: order.AccessGranted, App: order.AccessGranted, Unclear: true}},
		"a part that is the guide, by default":  {money: order.ReversalFacts{Refunded: 1000}, want: state{Guide: order.AccessGranted, App: order.AccessGranted, Unclear: true}},
		"a part that is the guide, by item":     {refund: order.RefundItem, money: order.ReversalFacts{Refunded: 1000}, want: state{Guide: order.AccessRevoked, App: order.AccessGranted}},
		"a part that is one licence, by item":   {refund: order.RefundItem, money: order.ReversalFacts{Refunded: 2000}, want: state{Guide: order.AccessGranted, App: order.AccessGranted, Keep: 2}},
		"a part that is all licences, by item":  {refund: order.RefundItem, money: order.ReversalFacts{Refunded: 6000}, want: state{Guide: order.AccessGranted, App: order.AccessRevoked}},
		"a part that is both, by item":          {refund: order.RefundItem, money: order.ReversalFacts{Refunded: 3000}, want: state{Guide: order.AccessRevoked, App: order.AccessGranted, Keep: 2}},
		"a part that names no item, by item":    {refund: order.RefundItem, money: order.ReversalFacts{Refunded: 500}, want: state{Guide: order.AccessGranted, App: order.AccessGranted, Unclear: true}},
		"a part that is kept":                   {refund: order.RefundKeep, money: order.ReversalFacts{Refunded: 500}, want: granted},
		"a part that is the guide or shipping":  {refund: order.RefundItem, parts: []int64{1000}, money: order.ReversalFacts{Refunded: 1000}, want: state{Guide: order.AccessGranted, App: order.AccessGranted, Unclear: true}},
		"a part that is the shipping":           {refund: order.RefundItem, parts: []int64{500}, money: order.ReversalFacts{Refunded: 500}, want: state{Guide: order.AccessGranted, App: order.AccessGranted, Unclear: true}},
		"a part that cannot be the tax":         {refund: order.RefundItem, parts: []int64{190}, money: order.ReversalFacts{Refunded: 1000}, want: state{Guide: order.AccessRevoked, App: order.AccessGranted}},
		"a part in another currency":            {refund: order.RefundItem, money: order.ReversalFacts{Refunded: 1000, Currency: "usd"}, want: state{Guide: order.AccessGranted, App: order.AccessGranted, Unclear: true}},
		"a part in the sale's currency":         {refund: order.RefundItem, money: order.ReversalFacts{Refunded: 1000, Currency: "eur"}, want: state{Guide: order.AccessRevoked, App: order.AccessGranted}},
		"a dispute of all":                      {money: order.ReversalFacts{Dispute: order.DisputeOpen, Disputed: 7000}, want: held},
		"a dispute of the guide, by default":    {money: order.ReversalFacts{Dispute: order.DisputeOpen, Disputed: 1000}, want: state{Guide: order.AccessGranted, App: order.AccessGranted, Unclear: true}},
		"a dispute of the guide, by item":       {refund: order.RefundItem, money: order.ReversalFacts{Dispute: order.DisputeOpen, Disputed: 1000}, want: state{Guide: order.AccessHeld, App: order.AccessGranted}},
		"a lost dispute of one licence":         {refund: order.RefundItem, money: order.ReversalFacts{Dispute: order.DisputeLost, Disputed: 2000}, want: state{Guide: order.AccessGranted, App: order.AccessGranted, Keep: 2}},
		"a dispute of a part that names none":   {refund: order.RefundItem, money: order.ReversalFacts{Dispute: order.DisputeLost, Disputed: 300}, want: state{Guide: order.AccessGranted, App: order.AccessGranted, Unclear: true}},
		"a dispute of a part, kept":             {dispute: order.DisputeKeep, money: order.ReversalFacts{Dispute: order.DisputeLost, Disputed: 300}, want: granted},
		"a dispute of a part, seen":             {money: order.ReversalFacts{Dispute: order.DisputeLost, Disputed: 300}, by: order.OverrideSnapshot{Override: order.OverrideRestore, Dispute: order.DisputeLost}, want: granted},
		"a won dispute of a part":               {money: order.ReversalFacts{Dispute: order.DisputeWon, Disputed: 300}, want: granted},
		"an inquiry":                            {money: order.ReversalFacts{Dispute: order.DisputeInquiry}, want: granted},
		"an open dispute":                       {money: order.ReversalFacts{Dispute: order.DisputeOpen}, want: held},
		"an open dispute that is kept":          {dispute: order.DisputeKeep, money: order.ReversalFacts{Dispute: order.DisputeOpen}, want: granted},
		"a dispute that was won":                {money: order.ReversalFacts{Dispute: order.DisputeWon}, want: granted},
		"a dispute that was lost":               {money: order.ReversalFacts{Dispute: order.DisputeLost}, want: revoked},
		"a dispute of what was refunded":        {money: order.ReversalFacts{Refunded: 7000, Dispute: order.DisputeOpen}, want: revoked},
		"a won dispute of what was refunded":    {money: order.ReversalFacts{Refunded: 7000, Dispute: order.DisputeWon}, want: revoked},
		"revoked by a person":                   {by: order.OverrideSnapshot{Override: order.OverrideRevoke}, want: revoked},
		"revoked by a person, dispute won":      {money: order.ReversalFacts{Dispute: order.DisputeWon}, by: order.OverrideSnapshot{Override: order.OverrideRevoke}, want: revoked},
		"restored after a full refund":          {money: order.ReversalFacts{Refunded: 7000}, by: order.OverrideSnapshot{Override: order.OverrideRestore, Refunded: 7000}, want: granted},
		"restored, then refunded":               {money: order.ReversalFacts{Refunded: 7000}, by: order.OverrideSnapshot{Override: order.OverrideRestore}, want: revoked},
		"restored, then disputed":               {money: order.ReversalFacts{Dispute: order.DisputeOpen}, by: order.OverrideSnapshot{Override: order.OverrideRestore}, want: held},
		"a part that a person has seen":         {money: order.ReversalFacts{Refunded: 500}, by: order.OverrideSnapshot{Override: order.OverrideRestore, Refunded: 500}, want: granted},
		"another part after a person has seen":  {money: order.ReversalFacts{Refunded: 900}, by: order.OverrideSnapshot{Override: order.OverrideRestore, Refunded: 500}, want: state{Guide: order.AccessGranted, App: order.AccessGranted, Unclear: true}},
		"a part seen, then a dispute that won":  {money: order.ReversalFacts{Refunded: 500, Dispute: order.DisputeWon}, by: order.OverrideSnapshot{Override: order.OverrideRestore, Refunded: 500}, want: granted},
		"a part, after which a person revoked":  {money: order.ReversalFacts{Refunded: 500}, by: order.OverrideSnapshot{Override: order.OverrideRevoke, Refunded: 500}, want: revoked},
		"a part, and a dispute is open as well": {money: order.ReversalFacts{Refunded: 500, Dispute: order.DisputeOpen}, want: state{Guide: order.AccessHeld, App: order.AccessHeld, Unclear: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.refund == "" {
				c.refund = order.RefundFull
			}
			if c.dispute == "" {
				c.dispute = order.DisputeHold
			}
			c.money.Paid = 7000
			wants, unclear := order.DecideAccess(policies(c.refund, c.dispute), soldDues, order.Sold{Items: soldItems, Parts: c.parts, Currency: "eur"}, c.money, c.by)
			got := state{Guide: wants[0].State, App: wants[1].State, Keep: wants[1].Keep, Unclear: unclear}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("the access has to be (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPartialRefundIsToldOnlyWhereOneAnswerIsPossible(t *testing.T) {
	t.Parallel()
	item := func(product string, quantity, amount int64) order.Item {
		return order.Item{Product: product, Quantity: quantity, Amount: amount}
	}
	for name, c := range map[string]struct {
		items    []order.Item
		refunded int64
		want     map[string]int64
	}{
		"two lines of one price":            {items: []order.Item{item("a", 1, 500), item("b", 1, 500)}, refunded: 500},
		"two lines of one product":          {items: []order.Item{item("a", 1, 500), item("a", 1, 700)}, refunded: 700, want: map[string]int64{"a": 1}},
		"a line or two units of another":    {items: []order.Item{item("a", 1, 1000), item("b", 2, 1000)}, refunded: 1000},
		"a line of nothing":                 {items: []order.Item{item("a", 1, 0), item("b", 1, 500)}, refunded: 500},
		"a unit price that is no integer":   {items: []order.Item{item("a", 3, 1000)}, refunded: 333},
		"no amounts known":                  {items: []order.Item{item("a", 1, 0)}, refunded: 500},
		"a search that would take too long": {items: []order.Item{item("a", 1_000_000, 1_000_000), item("b", 1_000_000, 3_000_000), item("c", 1_000_000, 7_000_000)}, refunded: 999_983},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, known := order.Attribute(c.items, nil, c.refunded)
			if known != (c.want != nil) {
				t.Fatalf("known is %v", known)
			}
			if diff := cmp.Diff(c.want, got); known && diff != "" {
				t.Errorf("it was for (-want +got):\n%s", diff)
			}
		})
	}
}

// What is attributed adds up to what was refunded, never to more units than were sold, and no second answer exists.
func TestWhatAPartialRefundIsToldToBeForAddsUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "lines")
		var items []order.Item
		answers := map[int64]int{0: 1}
		for i := range n {
			quantity, unit := rapid.Int64Range(1, 4).Draw(t, "quantity"), rapid.Int64Range(1, 12).Draw(t, "unit")
			items = append(items, order.Item{Product: string(rune('a' + i)), Quantity: quantity, Amount: quantity * unit})
			next := map[int64]int{}
			for sum, ways := range answers {
				for k := int64(0); k <= quantity; k++ {
					next[sum+k*unit] += ways
				}
			}
			answers = next
		}
		refunded := rapid.Int64Range(1, 60).Draw(t, "refunded")
		units, known := order.Attribute(items, nil, refunded)
		if known != (answers[refunded] == 1) {
			t.Fatalf("%d answers are possible, and known is %v", answers[refunded], known)
		}
		if !known {
			return
		}
		var sum int64
		for _, item := range items {
			k := units[item.Product]
			if k > item.Quantity {
				t.Fatalf("%d units of %d sold", k, item.Quantity)
			}
			sum += k * (item.Amount / item.Quantity)
		}
		if sum != refunded {
			t.Fatalf("it adds up to %d and not to %d", sum, refunded)
		}
	})
}

// Whatever happened to the money, a person's override and nothing else can give access to what is fully refunded.
func TestFullRefundIsNeverGrantedWithoutAPerson(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := order.ReversalFacts{Paid: 7000, Refunded: rapid.Int64Range(7000, 8000).Draw(t, "refunded"),
			Dispute: rapid.SampledFrom([]order.Dispute{"", "inquiry", "open", "won", "lost"}).Draw(t, "dispute")}
		by := order.OverrideSnapshot{Override: rapid.SampledFrom([]order.Override{"", "revoked"}).Draw(t, "override")}
		wants, unclear := order.DecideAccess(policies(rapid.SampledFrom([]string{"full", "item"}).Draw(t, "refund"), "hold"), soldDues, order.Sold{Items: soldItems}, m, by)
		for _, w := range wants {
			if w.State != order.AccessRevoked {
				t.Fatalf("%s is %s", w.Entitlement.Product, w.State)
			}
		}
		if unclear {
			t.Fatal("a full refund is said to be unclear")
		}
	})
}

func TestVerdictIsRefusedWhereItChangesNothing(t *testing.T) {
	t.Parallel()
	paid := order.PaymentConfirmed
	for name, c := range map[string]struct {
		override order.Override
		facts    order.OverrideFacts
		want     order.Refusal
	}{
		"unpaid":                     {order.OverrideRevoke, order.OverrideFacts{Payment: order.PaymentPending, Owed: 1, Whole: 1}, order.RefusedUnpaid},
		"nothing owed":               {order.OverrideRevoke, order.OverrideFacts{Payment: paid}, order.RefusedNothingOwed},
		"revoke what is granted":     {order.OverrideRevoke, order.OverrideFacts{Payment: paid, Owed: 2, Whole: 2}, ""},
		"revoke what is held":        {order.OverrideRevoke, order.OverrideFacts{Payment: paid, Owed: 2}, ""},
		"revoke what is revoked":     {order.OverrideRevoke, order.OverrideFacts{Payment: paid, Owed: 2, Revoked: 2}, order.RefusedRevoked},
		"restore what is revoked":    {order.OverrideRestore, order.OverrideFacts{Payment: paid, Owed: 2, Revoked: 2}, ""},
		"restore what is held":       {order.OverrideRestore, order.OverrideFacts{Payment: paid, Owed: 2}, ""},
		"restore what is granted":    {order.OverrideRestore, order.OverrideFacts{Payment: paid, Owed: 2, Whole: 2}, order.RefusedGranted},
		"leave it after a part":      {order.OverrideRestore, order.OverrideFacts{Payment: paid, Owed: 2, Whole: 2, Asked: true}, ""},
		"revoke again where stopped": {order.OverrideRevoke, order.OverrideFacts{Payment: paid, Owed: 2, Revoked: 2, Asked: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outcome, refusal := order.DecideOverride(c.override, c.facts)
			if refusal != c.want || (outcome == order.OutcomeRefused) != (c.want != "") {
				t.Errorf("%s, refused for %q; want %q", outcome, refusal, c.want)
			}
		})
	}
}
