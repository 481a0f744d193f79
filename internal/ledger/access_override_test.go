package ledger_test

import (
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"handover/internal/ledger"
	"handover/internal/order"
)

func (b *env) verdict(v order.Override, id string) order.Decision {
	b.t.Helper()
	judge := b.Revoke
	if v == order.OverrideRestore {
		judge = b.Restore
	}
	d, err := judge(b.t.Context(), order.Request{Key: b.key, ID: id, Kind: string(v), Who: "alice", Why: "the buyer asked"}, strict)
	b.must(err)
	return d
}

func TestVerdictIsTakenOnceAndInTheAudit(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	if d := b.verdict(order.OverrideRevoke, "a"); d.Outcome != order.OutcomeRevoking || d.Repeated {
		t.Errorf("%+v", d)
	}
	if d := b.verdict(order.OverrideRevoke, "a"); !d.Repeated || d.Outcome != order.OutcomeRevoking {
		t.Errorf("the repetition got %+v", d)
	}
	b.change()
	if d := b.verdict(order.OverrideRevoke, "b"); d.Refusal != order.RefusedRevoked {
		t.Errorf("revoking what is revoked: %+v", d)
	}
	b.review(strict, order.ReversalFacts{Dispute: order.DisputeWon}).change()
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

func TestNoEmailIsOwedWhileAccessIsBeingEnded(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(b *env){
		"by a person":  func(b *env) { b.verdict(order.OverrideRevoke, "v") },
		"by a refund":  func(b *env) { b.review(strict, order.ReversalFacts{Refunded: 1200}) },
		"by a dispute": func(b *env) { b.review(strict, order.ReversalFacts{Dispute: order.DisputeOpen}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newEnv(t).pay().give().accept(1)
			end(b)
			if d := b.resend(b.request("r")); d.Refusal != order.RefusedNoAccess {
				t.Errorf("a resend was %+v", d)
			}
			d, err := b.Relink(t.Context(), order.Request{Key: b.key, ID: "l", Kind: "relink", Who: "alice", Why: "asked"}, newKeys)
			if b.must(err); d.Refusal != order.RefusedNoAccess {
				t.Errorf("a relink was %+v", d)
			}
			if n := len(b.view().Emails); n != 1 {
				t.Errorf("%d emails are owed", n)
			}
		})
	}
}

// What has been decided to end opens nothing from that commit on, also while Temporal and every worker are away.
func TestAccessIsDeniedFromTheDecisionOn(t *testing.T) {
	t.Parallel()
	twice := shopPolicies(order.RefundItem, order.DisputeHold)
	for name, c := range map[string]struct {
		end     func(b *env)
		access  order.AccessState
		granted int // of three grants
	}{
		"a request to revoke": {func(b *env) {
			b.must(b.StoreRequest(b.t.Context(), order.Request{Key: b.key, ID: "r", Kind: "revoke", Who: "alice", Why: "fraud"}))
		}, order.AccessRevoked, 3},
		"a request to have the email again": {func(b *env) { b.must(b.StoreRequest(b.t.Context(), b.request("r"))) }, order.AccessGranted, 3},
		"a full refund":                     {func(b *env) { b.review(strict, order.ReversalFacts{Refunded: 1200}) }, order.AccessRevoked, 0},
		"a dispute":                         {func(b *env) { b.review(strict, order.ReversalFacts{Dispute: order.DisputeOpen}) }, order.AccessHeld, 0},
		"a refund of one unit":              {func(b *env) { b.review(twice, order.ReversalFacts{Paid: 1200, Refunded: 600}) }, order.AccessGranted, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newEnv(t)
			paid := b.paid()
			paid.Items[0].Amount = 1200
			b.record(paid)
			b.give().accept(1)
			c.end(b)
			v, granted := b.view(), 0
			for _, g := range v.Grants {
				if g.State == order.AccessGranted {
					granted++
				}
			}
			if v.Facts.Access != c.access || granted != c.granted {
				t.Errorf("access %s, %d grants open; want %s, %d", v.Facts.Access, granted, c.access, c.granted)
			}
		})
	}
}

func TestStoppedChangeIsOnTheListAndRetried(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give().review(strict, order.ReversalFacts{Refunded: 1200})
	b.must(b.StopAccessChange(t.Context(), b.key, order.ClassExhausted, order.ReasonRevokeStopped))
	if v := b.view(); v.Reason != order.ReasonRevokeStopped || b.change() != 0 {
		t.Errorf("attention %q", v.Reason)
	}
	d, err := b.Retry(t.Context(), order.Request{Key: b.key, ID: "r", Kind: "retry", Who: "alice", Why: "mended"}, time.Hour)
	if b.must(err); d.Outcome != order.OutcomeRetrying {
		t.Errorf("the retry was %+v", d)
	}
	if n := b.change(); n != 2 || b.view().Reason != "" || b.view().Facts.Access != order.AccessRevoked {
		t.Errorf("%d changed, %q, %s", n, b.view().Reason, b.view().Facts.Access)
	}
}

func TestUnreadableReviewIsOnTheListAndRetried(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	b.storeRefund("1")
	b.must(b.StopReversal(t.Context(), b.key, order.ClassPermanent, order.ReasonReversalUnread))
	if v := b.view(); v.Reason != order.ReasonReversalUnread || v.Facts.Access != order.AccessGranted {
		t.Errorf("attention %q, access %s", v.Reason, v.Facts.Access)
	}
	d, err := b.Retry(t.Context(), order.Request{Key: b.key, ID: "r", Kind: "retry", Who: "alice", Why: "mended"}, time.Hour)
	if b.must(err); d.Outcome != order.OutcomeRetrying || !b.view().ReversalDue || b.view().Reason != "" {
		t.Errorf("the retry was %+v; due %v, %q", d, b.view().ReversalDue, b.view().Reason)
	}
}

func TestRelinkKillsTheOldLinkAndSendsAnother(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	hash := func(version int) [32]byte { return sha256.Sum256(linkHash(b.key, version)) }
	send := func(generation int) {
		t.Helper()
		claim, err := b.ClaimEmail(t.Context(), b.work(generation), terms, func(d ledger.EmailData) (ledger.Rendered, error) {
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
	b.resend(b.request("again"))
	send(2)
	if v := b.view(); v.Relinked() || v.LinkVersion != 1 {
		t.Errorf("a resend made link version %d", v.LinkVersion)
	}
	d, err := b.Relink(t.Context(), order.Request{Key: b.key, ID: "r", Kind: "relink", Who: "alice", Why: "it went astray"}, newKeys)
	if b.must(err); d.Outcome != order.OutcomeSending || d.Generation != 3 {
		t.Fatalf("%+v", d)
	}
	if v := b.view(); !v.Relinked() || v.LinkVersion != 2 {
		t.Errorf("the relink made link version %d", v.LinkVersion)
	}
	if _, err := b.OrderByLink(t.Context(), hash(1)); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("the old link still opens the order: %v", err)
	}
	send(3)
	if _, err := b.OrderByLink(t.Context(), hash(2)); err != nil {
		t.Errorf("the new link: %v", err)
	}
}

// A cart with something unknown gives nothing until a person decides; restoring it gives what the catalogue knows.
func TestRestoreGivesTheKnownItemsOfACartWithUnknownOnes(t *testing.T) {
	t.Parallel()
	shop := order.NewCatalogue([]order.Product{{
		ID: "guide", SoldAs: []string{"price_guide"}, Access: []order.AccessSpec{{Kind: "download", File: "guide.pdf"}},
	}})
	for name, c := range map[string]struct {
		email  string
		refs   []string
		want   order.Outcome
		reason order.Reason
	}{
		"one is known":             {email: alex, refs: []string{"price_guide"}, want: order.OutcomeRestoring},
		"one is known, no address": {refs: []string{"price_guide"}, want: order.OutcomeRestoring, reason: order.ReasonNoAddress},
		"none is known":            {email: alex, refs: []string{"price_cap"}, want: order.OutcomeRefused, reason: order.ReasonItemsUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newEnv(t)
			paid := b.paid()
			paid.Email, paid.Entitlements, paid.Reason, paid.Class = c.email, nil, order.ReasonItemsUnknown, order.ClassPermanent
			paid.Items = []order.Item{{Line: 1, Refs: c.refs, Name: "A", Quantity: 1}, {Line: 2, Refs: []string{"price_shirt"}, Name: "A shirt", Quantity: 1}}
			b.record(paid)
			d, err := b.Restore(t.Context(), order.Request{Key: b.key, ID: "r", Kind: "restore", Who: "alice", Why: "the shirt is sent by post"}, shop)
			if b.must(err); d.Outcome != c.want {
				t.Fatalf("%+v", d)
			}
			if c.want == order.OutcomeRestoring {
				b.give()
			}
			v := b.view()
			if granted := v.Facts.Access == order.AccessGranted; granted != (c.want == order.OutcomeRestoring) || v.Reason != c.reason {
				t.Errorf("access %s, attention %q", v.Facts.Access, v.Reason)
			}
		})
	}
}
