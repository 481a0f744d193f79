package ledger_test

import (
	"slices"
	"testing"
	"time"

	"handover/internal/order"
)

// old makes everything that is known of the orders three hours older.
func (b *env) old() *env {
	b.t.Helper()
	b.exec(`
WITH age AS (SELECT interval '3 hours' AS x), work AS (
    UPDATE obligations SET created_at = created_at - x, claim_expires_at = claim_expires_at - x, next_attempt_at = next_attempt_at - x
    FROM age WHERE session = $1
), events AS (
    UPDATE webhook_events SET received_at = received_at - x FROM age WHERE session = $1
)
UPDATE orders SET created_at = created_at - x, looked_at = looked_at - x, reversal_due_at = reversal_due_at - x, next_attempt_at = next_attempt_at - x
FROM age WHERE session = $1`, b.key.Session)
	return b
}

func (b *env) stalledFor(age time.Duration) bool {
	b.t.Helper()
	keys, err := b.Stalled(b.t.Context(), order.Key{}, age, 1000)
	b.must(err)
	return slices.Contains(keys, b.key)
}

// What is old and has no stated reason to wait makes no progress, whatever it is and whether or not a run is open.
func TestWhatMakesNoProgressIsFound(t *testing.T) {
	t.Parallel()
	checkout := func(b *env) {
		_, err := b.StoreEvent(b.t.Context(), b.event("evt_1"))
		b.must(err)
	}
	pending := func(b *env) {
		p := b.paid()
		p.State, p.Entitlements, p.Processing = order.PaymentPending, nil, true
		b.record(p)
	}
	for name, c := range map[string]struct {
		do      func(b *env)
		stalled bool
	}{
		"a payment that nobody has checked":    {func(b *env) { checkout(b); b.old() }, true},
		"a session of this moment":             {checkout, false},
		"a payment whose next check is stated": {func(b *env) { checkout(b); b.old(); b.must(b.Postpone(b.t.Context(), b.key, 0)) }, false},
		"a stated check that has not come":     {func(b *env) { checkout(b); b.must(b.Postpone(b.t.Context(), b.key, time.Minute)); b.old() }, true},
		"a bank debit on its way":              {func(b *env) { pending(b); b.old() }, false},
		"a bank debit that nobody checks any more": {func(b *env) {
			pending(b)
			b.exec(`UPDATE orders SET looked_at = now() - interval '28 hours', created_at = now() - interval '9 days'`)
		}, true},
		"a bank debit with an event that nobody read": {func(b *env) {
			pending(b)
			b.old()
			b.exec(`UPDATE orders SET looked_at = looked_at - interval '1 hour'`)
			checkout(b)
			b.exec(`UPDATE webhook_events SET received_at = received_at - interval '3 hours'`)
		}, true},
		"access that nobody gave":     {func(b *env) { b.pay().old() }, true},
		"access of this moment":       {func(b *env) { b.pay() }, false},
		"an email that nobody sent":   {func(b *env) { b.pay().give().old() }, true},
		"an email that is being sent": {func(b *env) { b.pay().give().old(); b.claim(1) }, false},
		"an email whose sender died":  {func(b *env) { b.pay().give(); b.claim(1); b.old() }, true},
		"an email that goes out again in six hours": {func(b *env) {
			b.pay().give()
			b.must(b.Release(b.t.Context(), b.work(1), b.claim(1).Token, order.ClassRetry, true, 6*time.Hour))
			b.old()
		}, false},
		"an email that should have gone out by now": {func(b *env) {
			b.pay().give()
			b.must(b.Release(b.t.Context(), b.work(1), b.claim(1).Token, order.ClassRetry, true, time.Minute))
			b.old()
		}, true},
		"an email that has stopped": {func(b *env) {
			b.pay().give()
			b.must(b.Stop(b.t.Context(), b.work(1), "", order.ClassExhausted, order.ReasonEmailExhausted))
			b.old()
		}, false},
		"a refund that nobody read": {func(b *env) { b.pay().give().accept(1); b.storeRefund("evt_r"); b.old() }, true},
		"a refund that is read again soon": {func(b *env) {
			b.pay().give().accept(1)
			b.storeRefund("evt_r")
			b.old()
			b.must(b.Postpone(b.t.Context(), b.key, time.Minute))
		}, false},
		"an email that waits for the refund": {func(b *env) {
			b.pay().give()
			b.storeRefund("evt_r")
			b.old()
			b.must(b.Postpone(b.t.Context(), b.key, time.Minute))
		}, false},
		"what is done":     {func(b *env) { b.pay().give().accept(1).old() }, false},
		"what is not ours": {func(b *env) { p := b.paid(); p.State, p.Entitlements = order.PaymentIgnored, nil; b.record(p); b.old() }, false},
		"what a person has started again": {func(b *env) {
			b.pay().give()
			b.must(b.Stop(b.t.Context(), b.work(1), "", order.ClassExhausted, order.ReasonEmailExhausted))
			b.old()
			b.retry("again")
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := ownEnv(t)
			c.do(b)
			if got := b.stalledFor(2 * time.Hour); got != c.stalled {
				t.Errorf("without progress: %v, want %v", got, c.stalled)
			}
			if b.stalledFor(4 * time.Hour) {
				t.Error("without progress for longer than it is old")
			}
		})
	}
}

// The mark is made once, changes nothing of the automatic work, and ends by itself with the next progress, of whatever kind.
func TestMarkOfNoProgressEndsWithTheNextProgress(t *testing.T) {
	t.Parallel()
	mark := func(b *env, want int) {
		b.t.Helper()
		keys, err := b.MarkStalled(b.t.Context(), 2*time.Hour)
		if b.must(err); len(keys) != want {
			b.t.Errorf("marked %v, want %d", keys, want)
		}
	}
	for name, c := range map[string]struct{ stall, move func(b *env) }{
		"the payment is confirmed": {func(b *env) { b.store(b.event("evt_1")) }, func(b *env) { b.pay() }},
		"the payment is pending still": {func(b *env) { b.store(b.event("evt_1")) }, func(b *env) {
			p := b.paid()
			p.State, p.Entitlements, p.Processing = order.PaymentPending, nil, true
			b.record(p)
		}},
		"access is given":    {func(b *env) { b.pay() }, func(b *env) { b.give() }},
		"the email goes out": {func(b *env) { b.pay().give() }, func(b *env) { b.accept(1) }},
		"the refund is read": {func(b *env) { b.pay().give().accept(1); b.storeRefund("evt_r") }, func(b *env) { b.review(order.NewCatalogue(nil), order.ReversalFacts{Paid: 1900}) }},
		"access is taken": {func(b *env) {
			b.pay().give().accept(1).review(order.NewCatalogue(nil), order.ReversalFacts{Paid: 1900, Refunded: 1900})
		}, func(b *env) { b.change() }},
		"a wait is stated": {func(b *env) { b.store(b.event("evt_1")) }, func(b *env) { b.must(b.Postpone(b.t.Context(), b.key, time.Hour)); mark(b, 0) }},
		"a person is waited for": {func(b *env) { b.pay().give() }, func(b *env) {
			b.must(b.Stop(b.t.Context(), b.work(1), "", order.ClassExhausted, order.ReasonEmailExhausted))
			mark(b, 0)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := ownEnv(t)
			c.stall(b)
			b.old()
			before := b.view()
			mark(b, 1)
			mark(b, 0)
			v := b.view()
			if v.Reason != order.ReasonNotProgressing || v.AttentionAt == nil {
				t.Fatalf("reason %q since %v", v.Reason, v.AttentionAt)
			}
			if v.Facts != before.Facts {
				t.Errorf("the mark has changed %+v to %+v", before.Facts, v.Facts)
			}
			s, err := b.Snapshot(t.Context(), b.key)
			if b.must(err); s.Reason != order.ReasonNotProgressing {
				t.Errorf("the run sees %q", s.Reason)
			}
			c.move(b)
			if v := b.view(); v.Reason == order.ReasonNotProgressing {
				t.Error("the mark is still there")
			}
		})
	}
}
