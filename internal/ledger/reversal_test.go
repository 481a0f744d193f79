package ledger_test

import (
	"crypto/sha256"
	"errors"
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
func (b *bench) review(c *order.Catalogue, m order.MoneyFacts) *bench {
	b.t.Helper()
	begun, err := b.BeginReview(b.t.Context(), b.key)
	b.must(err)
	b.must(b.RecordReversal(b.t.Context(), ledger.Reversal{Key: b.key, Since: begun.Since, Money: m}, c))
	return b
}

// change carries out what is owed, and returns how much that was.
func (b *bench) change() int {
	b.t.Helper()
	n, err := b.ChangeOwn(b.t.Context(), b.key, ownKinds, ledger.Terms{Cap: 8})
	b.must(err)
	return n
}

func (b *bench) verdict(v order.Verdict, id string) ledger.Decision {
	b.t.Helper()
	judge := b.Revoke
	if v == order.VerdictRestore {
		judge = b.Restore
	}
	d, err := judge(b.t.Context(), ledger.Request{Key: b.key, ID: id, Kind: string(v), Who: "alice", Why: "the buyer asked"}, strict)
	b.must(err)
	return d
}

func (b *bench) refundEvent(id string) ledger.WebhookEvent {
	return ledger.WebhookEvent{Environment: b.key.Environment, ID: "evt_" + id + "_" + b.key.Session, Type: "charge.refunded", Kind: "refund",
		PaymentRef: "pi_" + b.key.Session, Body: []byte("{}")}
}

func (b *bench) storeRefund(id string) (string, ledger.Stored) {
	b.t.Helper()
	session, stored, err := b.StoreReversal(b.t.Context(), b.refundEvent(id))
	b.must(err)
	return session, stored
}

// secrets are the licence keys by the state of their grants.
func (b *bench) secrets(state order.AccessState) (secrets []string) {
	for _, g := range b.view().Grants {
		if g.State == state && g.Secret != "" {
			secrets = append(secrets, g.Secret)
		}
	}
	return secrets
}

func TestFullRefundEndsAccessAndRestoreGivesTheSameBack(t *testing.T) {
	t.Parallel()
	b := newBench(t).pay().give().accept(1)
	keys := b.secrets(order.AccessGranted)

	b.review(strict, order.MoneyFacts{Refunded: 1200})
	if v := b.view(); !v.ChangeDue || v.Refunded != 1200 {
		t.Errorf("after the review: change due %v, refunded %d", v.ChangeDue, v.Refunded)
	}
	if n := b.change(); n != 2 || b.view().Facts.Access != order.AccessRevoked {
		t.Errorf("%d pieces changed, access is %s", n, b.view().Facts.Access)
	}
	if n := b.review(strict, order.MoneyFacts{Refunded: 1200}).change(); n != 0 {
		t.Errorf("the same refund once more changed %d pieces", n)
	}
	b.review(strict, order.MoneyFacts{}).change() // it failed after all
	if diff := cmp.Diff(keys, b.secrets(order.AccessGranted)); diff != "" || b.view().Facts.Access != order.AccessGranted {
		t.Errorf("access is %s; keys (-before +after):\n%s", b.view().Facts.Access, diff)
	}
	if state := b.view().Facts.Email; state != order.EmailAccepted {
		t.Errorf("the email that had gone out is %s", state)
	}
}

func TestRefundThatComesBeforeTheGrantGivesNothing(t *testing.T) {
	t.Parallel()
	b := ownBench(t).pay().review(strict, order.MoneyFacts{Refunded: 1200}).give()
	b.change()
	v := b.view()
	if len(v.Grants) != 0 || v.Facts.Access != order.AccessRevoked || v.Reason != "" {
		t.Errorf("%d grants, access %s, attention %q", len(v.Grants), v.Facts.Access, v.Reason)
	}
	_, err := b.ClaimEmail(t.Context(), b.work(1), ledger.Terms{Lease: time.Minute, Cap: 8}, render)
	if why := denied(t, err).Why; why != ledger.DeniedResting {
		t.Errorf("the email's claim is denied as %s", why)
	}
	if left, err := b.Unfinished(t.Context(), order.Key{}, 0, 100); err != nil || len(left) != 0 {
		t.Errorf("what rests counts as unfinished: %v, %v", left, err)
	}

	b.verdict(order.VerdictRestore, "r1")
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
		b := newBench(t).pay()
		atOnce(2, func(i int) {
			if i == 0 {
				_, _ = b.GrantOwn(t.Context(), b.key, ownKinds, ledger.Terms{Cap: 8}, makeGuide)
				return
			}
			b.review(strict, order.MoneyFacts{Refunded: 1200})
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
			b := newBench(t)
			p := b.paid()
			p.Items[0].Amount = 1200 // two units of 600
			b.record(p)
			if !first {
				b.give()
			}
			b.review(byItem, order.MoneyFacts{Refunded: 600})
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
	b := ownBench(t).pay().give().accept(1).review(strict, order.MoneyFacts{Refunded: 500})
	if v := b.view(); v.Reason != order.ReasonRefundUnclear || v.Facts.Access != order.AccessGranted || v.ChangeDue {
		t.Fatalf("attention %q, access %s, change due %v", v.Reason, v.Facts.Access, v.ChangeDue)
	}
	listed, err := b.List(t.Context(), ledger.Filter{Attention: true, Limit: 10})
	b.must(err)
	if len(listed) != 1 || listed[0].AttentionAt == nil {
		t.Errorf("%d orders on the attention list", len(listed))
	}
	if waits, err := b.Waits(t.Context()); err != nil || waits.Attention[string(order.ReasonRefundUnclear)] != 1 {
		t.Errorf("the metric shows %v, %v", waits.Attention, err)
	}
	if d := b.verdict(order.VerdictRestore, "leave"); d.Outcome != order.OutcomeRestoring {
		t.Errorf("leaving it so was %s", d.Outcome)
	}
	b.review(strict, order.MoneyFacts{Refunded: 500})
	if v := b.view(); v.Reason != "" {
		t.Errorf("what a person has seen asks again: %q", v.Reason)
	}
	b.review(strict, order.MoneyFacts{Refunded: 900})
	if v := b.view(); v.Reason != order.ReasonRefundUnclear {
		t.Errorf("another part does not ask: %q", v.Reason)
	}
	b.review(strict, order.MoneyFacts{Refunded: 1200}).change()
	if v := b.view(); v.Reason != "" || v.Facts.Access != order.AccessRevoked {
		t.Errorf("the full sum: attention %q, access %s", v.Reason, v.Facts.Access)
	}
}

func TestEmailThatStoppedStaysOnTheListBesideARefund(t *testing.T) {
	t.Parallel()
	b := newBench(t).pay().give()
	b.must(b.Stop(t.Context(), b.work(1), "", order.ClassPermanent, order.ReasonEmailRefused))
	b.review(strict, order.MoneyFacts{Refunded: 500})
	b.verdict(order.VerdictRestore, "leave")
	if v := b.view(); v.Reason != order.ReasonEmailRefused {
		t.Errorf("attention is %q after the refund was dealt with", v.Reason)
	}
	b.review(strict, order.MoneyFacts{Refunded: 1200})
	b.must(b.StopChange(t.Context(), b.key, order.ClassSpent, order.ReasonRevokeStopped))
	b.verdict(order.VerdictRestore, "back")
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
			b := newBench(t).pay().give().accept(1).review(strict, order.MoneyFacts{Dispute: order.DisputeOpen})
			b.change()
			if state := b.view().Facts.Access; state != order.AccessHeld {
				t.Errorf("while it is open access is %s", state)
			}
			b.review(strict, order.MoneyFacts{Dispute: end}).change()
			if state := b.view().Facts.Access; state != want {
				t.Errorf("%s: access is %s", end, state)
			}
		})
	}
}

func TestVerdictIsTakenOnceAndInTheAudit(t *testing.T) {
	t.Parallel()
	b := newBench(t).pay().give()
	if d := b.verdict(order.VerdictRevoke, "a"); d.Outcome != order.OutcomeRevoking || d.Repeated {
		t.Errorf("%+v", d)
	}
	if d := b.verdict(order.VerdictRevoke, "a"); !d.Repeated || d.Outcome != order.OutcomeRevoking {
		t.Errorf("the repetition got %+v", d)
	}
	b.change()
	if d := b.verdict(order.VerdictRevoke, "b"); d.Refusal != order.RefusedRevoked {
		t.Errorf("revoking what is revoked: %+v", d)
	}
	b.review(strict, order.MoneyFacts{Dispute: order.DisputeWon}).change()
	if state := b.view().Facts.Access; state != order.AccessRevoked {
		t.Errorf("what a person ended is %s after news of the money", state)
	}
	entries, err := b.Audit(t.Context(), b.key)
	b.must(err)
	named := 0
	for _, e := range entries {
		if e.Who == "alice" && e.Why == "the buyer asked" {
			named++
		}
	}
	if named != 2 {
		t.Errorf("the audit names who and why %d times: %v", named, entries)
	}
}

func TestRefundEventFindsItsOrderOrWaitsForIt(t *testing.T) {
	t.Parallel()
	b := ownBench(t).pay()
	session, stored := b.storeRefund("1")
	if session != b.key.Session || stored.Next != ledger.NextReview || !stored.New {
		t.Errorf("the event of a known order: session %q, %+v", session, stored)
	}
	b.review(strict, order.MoneyFacts{Refunded: 1200})
	if _, again := b.storeRefund("1"); again.New || again.Next != ledger.NextNothing {
		t.Errorf("the same event once more: %+v", again)
	}
	if b.view().ReviewDue {
		t.Error("a duplicate asks for another review")
	}

	early := b.another()
	if session, stored := early.storeRefund("1"); session != "" || stored.Next != ledger.NextNothing {
		t.Errorf("the event before its order: session %q, %+v", session, stored)
	}
	waiting, err := b.Unmatched(t.Context(), 0, 10)
	b.must(err)
	if len(waiting) != 1 || waiting[0].Session != "" {
		t.Fatalf("waiting for their order: %+v", waiting)
	}
	r, err := b.RecordPayment(t.Context(), early.paid())
	if b.must(err); !r.Reversed {
		t.Error("the payment is confirmed and nobody asks about the refund that came before")
	}
	if waiting, err = b.Unmatched(t.Context(), 0, 10); err != nil || len(waiting) != 1 || waiting[0].Session != early.key.Session {
		t.Errorf("the order is known: %+v, %v", waiting, err)
	}
	early.review(strict, order.MoneyFacts{})
	if waiting, err = b.Unmatched(t.Context(), 0, 10); err != nil || len(waiting) != 0 {
		t.Errorf("after the review: %+v, %v", waiting, err)
	}
}

func TestEventThatComesDuringAReviewAsksForAnother(t *testing.T) {
	t.Parallel()
	b := ownBench(t).pay()
	begun, err := b.BeginReview(t.Context(), b.key)
	b.must(err)
	b.storeRefund("1")
	b.must(b.RecordReversal(t.Context(), ledger.Reversal{Key: b.key, Since: begun.Since}, strict))
	if !b.view().ReviewDue {
		t.Error("what came during the look is taken for seen")
	}
	left, err := b.Undispatched(t.Context(), 0, 10)
	b.must(err)
	if len(left) != 1 || left[0].Next != ledger.NextReview {
		t.Errorf("to hand over: %+v", left)
	}
}

func TestReviewOwedCountsAsUnfinishedUntilDone(t *testing.T) {
	t.Parallel()
	b := ownBench(t).pay().give().accept(1)
	b.storeRefund("1")
	unfinished := func() int {
		left, err := b.Unfinished(t.Context(), order.Key{}, 0, 100)
		b.must(err)
		due, err := b.ReversalsDue(t.Context(), order.Key{}, 0, 100)
		b.must(err)
		return len(left) + len(due)
	}
	if n := unfinished(); n != 1 {
		t.Errorf("%d unfinished while the review is owed", n)
	}
	b.review(strict, order.MoneyFacts{Refunded: 1200})
	if n := unfinished(); n != 1 {
		t.Errorf("%d unfinished while the change is owed", n)
	}
	b.change()
	if n := unfinished(); n != 0 {
		t.Errorf("%d unfinished when all is done", n)
	}
}

func TestOpenDisputeIsLookedAtOnceADay(t *testing.T) {
	t.Parallel()
	b := ownBench(t).pay().give().accept(1).review(strict, order.MoneyFacts{Dispute: order.DisputeOpen})
	b.change()
	due := func() int {
		keys, err := b.ReversalsDue(t.Context(), order.Key{}, time.Hour, 10)
		b.must(err)
		return len(keys)
	}
	if n := due(); n != 0 {
		t.Errorf("right after the look %d are due", n)
	}
	b.exec(`UPDATE orders SET reversal_read_at = now() - interval '25 hours'`)
	if n := due(); n != 1 {
		t.Errorf("a day later %d are due", n)
	}
	b.review(strict, order.MoneyFacts{Dispute: order.DisputeWon})
	b.exec(`UPDATE orders SET reversal_read_at = now() - interval '25 hours'`)
	b.change()
	if n := due(); n != 0 {
		t.Errorf("%d are due after the end of the dispute", n)
	}
}

func TestStoppedChangeIsOnTheListAndRetried(t *testing.T) {
	t.Parallel()
	b := newBench(t).pay().give().review(strict, order.MoneyFacts{Refunded: 1200})
	b.must(b.StopChange(t.Context(), b.key, order.ClassSpent, order.ReasonRevokeStopped))
	if v := b.view(); v.Reason != order.ReasonRevokeStopped || b.change() != 0 {
		t.Errorf("attention %q", v.Reason)
	}
	d, err := b.Retry(t.Context(), ledger.Request{Key: b.key, ID: "r", Kind: "retry", Who: "alice", Why: "mended"}, time.Hour)
	if b.must(err); d.Outcome != order.OutcomeRetrying {
		t.Errorf("the retry was %+v", d)
	}
	if n := b.change(); n != 2 || b.view().Reason != "" || b.view().Facts.Access != order.AccessRevoked {
		t.Errorf("%d changed, %q, %s", n, b.view().Reason, b.view().Facts.Access)
	}
}

func TestUnreadableReviewIsOnTheListAndRetried(t *testing.T) {
	t.Parallel()
	b := newBench(t).pay().give()
	b.storeRefund("1")
	b.must(b.StopReversal(t.Context(), b.key, order.ClassPermanent, order.ReasonReversalUnread))
	if v := b.view(); v.Reason != order.ReasonReversalUnread || v.Facts.Access != order.AccessGranted {
		t.Errorf("attention %q, access %s", v.Reason, v.Facts.Access)
	}
	d, err := b.Retry(t.Context(), ledger.Request{Key: b.key, ID: "r", Kind: "retry", Who: "alice", Why: "mended"}, time.Hour)
	if b.must(err); d.Outcome != order.OutcomeRetrying || !b.view().ReviewDue || b.view().Reason != "" {
		t.Errorf("the retry was %+v; due %v, %q", d, b.view().ReviewDue, b.view().Reason)
	}
}

func TestRelinkKillsTheOldLinkAndSendsAnother(t *testing.T) {
	t.Parallel()
	b := newBench(t).pay().give()
	hash := func(version int) [32]byte { return sha256.Sum256(linkHash(b.key, version)) }
	send := func(generation int) {
		t.Helper()
		claim, err := b.ClaimEmail(t.Context(), b.work(generation), terms, func(d ledger.EmailData) (ledger.Frozen, error) {
			frozen, err := render(d)
			sum := hash(d.LinkVersion)
			frozen.LinkHash = sum[:]
			return frozen, err
		})
		b.must(err)
		b.must(b.Finish(t.Context(), b.work(generation), claim.Token, b.message(generation)))
	}
	send(1)
	if _, err := b.OrderByLink(t.Context(), hash(1)); err != nil {
		t.Fatalf("the first link: %v", err)
	}
	d, err := b.Relink(t.Context(), ledger.Request{Key: b.key, ID: "r", Kind: "relink", Who: "alice", Why: "it went astray"})
	if b.must(err); d.Outcome != order.OutcomeSending || d.Generation != 2 {
		t.Fatalf("%+v", d)
	}
	if _, err := b.OrderByLink(t.Context(), hash(1)); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("the old link still opens the order: %v", err)
	}
	send(2)
	if _, err := b.OrderByLink(t.Context(), hash(2)); err != nil {
		t.Errorf("the new link: %v", err)
	}
}
