package ledger_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/ledger"
	"handover/internal/order"
)

// shopPolicies is a catalogue of the tests' product.
func shopPolicies(refund, dispute string) *order.Catalogue {
	return order.NewCatalogue([]order.Product{{ID: "guide", Refund: refund, Dispute: dispute}})
}

var strict = shopPolicies(order.RefundFull, order.DisputeHold)

// review records what the provider says of the money.
func (b *env) review(c *order.Catalogue, m order.ReversalFacts) *env {
	b.t.Helper()
	begun, err := b.BeginReversal(b.t.Context(), b.key)
	b.must(err)
	b.must(b.RecordReversal(b.t.Context(), ledger.Reversal{Key: b.key, Since: begun.Since, Money: m}, c))
	return b
}

// change carries out what is owed, and returns how much that was.
func (b *env) change() int {
	b.t.Helper()
	n, err := b.ChangeLocal(b.t.Context(), b.key, ownKinds)
	b.must(err)
	return n
}

func (b *env) secrets(state order.AccessState) (secrets []string) {
	for _, g := range b.view().Grants {
		if g.State == state && g.Secret != "" {
			secrets = append(secrets, g.Secret)
		}
	}
	return secrets
}

// What the pages say of a refund is held against what the rule of refunds is: the amount that was captured.
func TestRefundOfAllThatWasCapturedIsAFullOne(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give().review(strict, order.ReversalFacts{Paid: 900, Refunded: 500})
	if v := b.view(); v.Paid != 900 || v.FullyRefunded() || v.AccessChangeDue {
		t.Errorf("after a part: paid %d, fully refunded %v, change due %v", v.Paid, v.FullyRefunded(), v.AccessChangeDue)
	}
	b.review(strict, order.ReversalFacts{Paid: 900, Refunded: 900})
	if v := b.view(); !v.FullyRefunded() || !v.AccessChangeDue || v.Total.Minor != 1200 {
		t.Errorf("after the rest: fully refunded %v, change due %v, total %d", v.FullyRefunded(), v.AccessChangeDue, v.Total.Minor)
	}
}

func TestFullRefundEndsAccessAndRestoreGivesTheSameBack(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give().accept(1)
	keys := b.secrets(order.AccessGranted)

	b.review(strict, order.ReversalFacts{Refunded: 1200})
	if v := b.view(); !v.AccessChangeDue || v.Refunded != 1200 {
		t.Errorf("after the review: change due %v, refunded %d", v.AccessChangeDue, v.Refunded)
	}
	if n := b.change(); n != 2 || b.view().Facts.Access != order.AccessRevoked {
		t.Errorf("%d pieces changed, access is %s", n, b.view().Facts.Access)
	}
	if n := b.review(strict, order.ReversalFacts{Refunded: 1200}).change(); n != 0 {
		t.Errorf("the same refund once more changed %d pieces", n)
	}
	b.review(strict, order.ReversalFacts{}).change() // it failed after all
	if diff := cmp.Diff(keys, b.secrets(order.AccessGranted)); diff != "" || b.view().Facts.Access != order.AccessGranted {
		t.Errorf("access is %s; keys (-before +after):\n%s", b.view().Facts.Access, diff)
	}
	if state := b.view().Facts.Email; state != order.EmailAccepted {
		t.Errorf("the email that had gone out is %s", state)
	}
}

func TestRefundThatComesBeforeTheGrantGivesNothing(t *testing.T) {
	t.Parallel()
	b := ownEnv(t).pay().review(strict, order.ReversalFacts{Refunded: 1200}).give()
	b.change()
	v := b.view()
	if len(v.Grants) != 0 || v.Facts.Access != order.AccessRevoked || v.Reason != "" {
		t.Errorf("%d grants, access %s, attention %q", len(v.Grants), v.Facts.Access, v.Reason)
	}
	_, err := b.ClaimEmail(t.Context(), b.work(1), ledger.LeaseOptions{Duration: time.Minute, MaxAttempts: 8}, render)
	if why := denied(t, err).Why; why != ledger.ClaimSuspended {
		t.Errorf("the email's claim is denied as %s", why)
	}
	if left, err := b.Unfinished(t.Context(), order.Key{}, 0, 100); err != nil || len(left) != 0 {
		t.Errorf("what is suspended counts as unfinished: %v, %v", left, err)
	}

	b.verdict(order.OverrideRestore, "r1")
	b.change()
	b.give()
	if v := b.view(); v.Facts.Access != order.AccessGranted || len(v.Grants) != 3 {
		t.Errorf("restored: access %s, %d grants", v.Facts.Access, len(v.Grants))
	}
	b.accept(1)
}

// A grant and a refund that come together leave nothing that can be opened, whichever is first.
func TestGrantAndRefundAtOnceLeaveNothingOpen(t *testing.T) {
	t.Parallel()
	for range 25 {
		b := newEnv(t).pay()
		atOnce(2, func(i int) {
			if i == 0 {
				_, _ = b.GrantLocal(t.Context(), b.key, ownKinds, makeGuide)
				return
			}
			b.review(strict, order.ReversalFacts{Refunded: 1200})
		})
		b.change()
		if v := b.view(); v.Facts.Access != order.AccessRevoked {
			t.Fatalf("access is %s with grants %v", v.Facts.Access, v.Grants)
		}
	}
}

func TestLicencesEndUnitByUnit(t *testing.T) {
	t.Parallel()
	byItem := shopPolicies(order.RefundItem, order.DisputeHold)
	for name, first := range map[string]bool{"after the grant": false, "before the grant": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newEnv(t)
			p := b.paid()
			p.Items[0].Amount = 1200 // two units of 600
			b.record(p)
			if !first {
				b.give()
			}
			b.review(byItem, order.ReversalFacts{Refunded: 600})
			b.change()
			b.give()
			if kept, ended := len(b.secrets(order.AccessGranted)), len(b.secrets(order.AccessRevoked)); kept != 1 || ended != 1 {
				t.Errorf("%d keys stay and %d have ended", kept, ended)
			}
			if v := b.view(); v.Facts.Access != order.AccessGranted || v.Reason != "" {
				t.Errorf("access %s, attention %q", v.Facts.Access, v.Reason)
			}
		})
	}
}

func TestPartialRefundThatNamesNoItemAsksAPerson(t *testing.T) {
	t.Parallel()
	b := ownEnv(t).pay().give().accept(1).review(strict, order.ReversalFacts{Refunded: 500})
	if v := b.view(); v.Reason != order.ReasonRefundUnclear || v.Facts.Access != order.AccessGranted || v.AccessChangeDue {
		t.Fatalf("attention %q, access %s, change due %v", v.Reason, v.Facts.Access, v.AccessChangeDue)
	}
	listed, err := b.List(t.Context(), ledger.Filter{Attention: true, Limit: 10})
	b.must(err)
	if len(listed) != 1 || listed[0].AttentionAt == nil {
		t.Errorf("%d orders on the attention list", len(listed))
	}
	if waits, err := b.Waits(t.Context()); err != nil || waits.Attention[string(order.ReasonRefundUnclear)] != 1 {
		t.Errorf("the metric shows %v, %v", waits.Attention, err)
	}
	if d := b.verdict(order.OverrideRestore, "leave"); d.Outcome != order.OutcomeRestoring {
		t.Errorf("leaving it so was %s", d.Outcome)
	}
	b.review(strict, order.ReversalFacts{Refunded: 500})
	if v := b.view(); v.Reason != "" {
		t.Errorf("what a person has seen asks again: %q", v.Reason)
	}
	b.review(strict, order.ReversalFacts{Refunded: 900})
	if v := b.view(); v.Reason != order.ReasonRefundUnclear {
		t.Errorf("another part does not ask: %q", v.Reason)
	}
	b.review(strict, order.ReversalFacts{Refunded: 1200}).change()
	if v := b.view(); v.Reason != "" || v.Facts.Access != order.AccessRevoked {
		t.Errorf("the full sum: attention %q, access %s", v.Reason, v.Facts.Access)
	}
}

func TestEmailThatStoppedStaysOnTheListBesideARefund(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	b.must(b.Stop(t.Context(), b.work(1), "", order.ClassPermanent, order.ReasonEmailRefused))
	b.review(strict, order.ReversalFacts{Refunded: 500})
	b.verdict(order.OverrideRestore, "leave")
	if v := b.view(); v.Reason != order.ReasonEmailRefused {
		t.Errorf("attention is %q after the refund was dealt with", v.Reason)
	}
	b.review(strict, order.ReversalFacts{Refunded: 1200})
	b.must(b.StopAccessChange(t.Context(), b.key, order.ClassExhausted, order.ReasonRevokeStopped))
	b.verdict(order.OverrideRestore, "back")
	b.change()
	if v := b.view(); v.Reason != order.ReasonEmailRefused || v.Class != order.ClassPermanent || v.AttentionAt == nil {
		t.Errorf("attention is %q after the change was dealt with", v.Reason)
	}
}

func TestDisputeHoldsAndItsEndDecides(t *testing.T) {
	t.Parallel()
	for end, want := range map[order.Dispute]order.AccessState{order.DisputeWon: order.AccessGranted, order.DisputeLost: order.AccessRevoked} {
		t.Run(string(end), func(t *testing.T) {
			t.Parallel()
			b := newEnv(t).pay().give().accept(1).review(strict, order.ReversalFacts{Dispute: order.DisputeOpen})
			b.change()
			if state := b.view().Facts.Access; state != order.AccessHeld {
				t.Errorf("while it is open access is %s", state)
			}
			b.review(strict, order.ReversalFacts{Dispute: end}).change()
			if state := b.view().Facts.Access; state != want {
				t.Errorf("%s: access is %s", end, state)
			}
		})
	}
}

// Between the decision to end access and its end, an email would be owed for ever.

// What a person has to decide depends on all that the sale was made of, and on how much a dispute is about.
func TestAPartIsHeldAgainstAllThatTheSaleWasMadeOf(t *testing.T) {
	t.Parallel()
	byItem := shopPolicies(order.RefundItem, order.DisputeHold)
	for name, c := range map[string]struct {
		parts  []int64
		money  order.ReversalFacts
		access order.AccessState
		asked  bool
	}{
		"all of the items":                 {money: order.ReversalFacts{Paid: 1700, Refunded: 1200}, access: order.AccessRevoked},
		"the items, or the shipping":       {parts: []int64{1200}, money: order.ReversalFacts{Paid: 2400, Refunded: 1200}, access: order.AccessGranted, asked: true},
		"the items, in another currency":   {money: order.ReversalFacts{Paid: 1700, Refunded: 1200, Currency: "usd"}, access: order.AccessGranted, asked: true},
		"all, in another currency":         {money: order.ReversalFacts{Paid: 1700, Refunded: 1700, Currency: "usd"}, access: order.AccessRevoked},
		"what was paid is not known":       {money: order.ReversalFacts{Refunded: 1700, Currency: "usd"}, access: order.AccessGranted, asked: true},
		"a dispute of the items":           {money: order.ReversalFacts{Paid: 1700, Dispute: order.DisputeLost, Disputed: 1200}, access: order.AccessRevoked},
		"a dispute of something else":      {money: order.ReversalFacts{Paid: 1700, Dispute: order.DisputeLost, Disputed: 300}, access: order.AccessGranted, asked: true},
		"a dispute that says no amount":    {money: order.ReversalFacts{Paid: 1700, Dispute: order.DisputeLost}, access: order.AccessRevoked},
		"a dispute of something else, won": {money: order.ReversalFacts{Paid: 1700, Dispute: order.DisputeWon, Disputed: 300}, access: order.AccessGranted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newEnv(t)
			paid := b.paid()
			paid.Items[0].Amount, paid.Parts = 1200, c.parts
			b.record(paid)
			b.give().accept(1).review(byItem, c.money).change()
			if v := b.view(); v.Facts.Access != c.access || (v.Reason == order.ReasonRefundUnclear) != c.asked {
				t.Errorf("access %s, attention %q", v.Facts.Access, v.Reason)
			}
		})
	}
}
