package ledger_test

import (
	"crypto/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"handover/internal/ledger"
	"handover/internal/order"
)

func (b *env) refundEvent(id string) ledger.WebhookEvent {
	return ledger.WebhookEvent{Environment: b.key.Environment, ID: "evt_" + id + "_" + b.key.Session, Type: "charge.refunded", Kind: "refund",
		PaymentRef: "pi_" + b.key.Session}
}

func (b *env) storeRefund(id string) (string, ledger.Stored) {
	b.t.Helper()
	stored, err := b.StoreEvent(b.t.Context(), b.refundEvent(id))
	b.must(err)
	return stored.Session, stored
}

// secrets are the licence keys by the state of their grants.
func TestRefundEventFindsItsOrderOrWaitsForIt(t *testing.T) {
	t.Parallel()
	b := ownEnv(t).pay()
	session, stored := b.storeRefund("1")
	if session != b.key.Session || stored.Next != ledger.NextReversal || !stored.New {
		t.Errorf("the event of a known order: session %q, %+v", session, stored)
	}
	b.review(strict, order.ReversalFacts{Refunded: 1200})
	if _, again := b.storeRefund("1"); again.New || again.Next != ledger.NextNothing {
		t.Errorf("the same event once more: %+v", again)
	}
	if b.view().ReversalDue {
		t.Error("a duplicate asks for another review")
	}

	early := b.another()
	if session, stored := early.storeRefund("1"); session != "" || stored.Next != ledger.NextNothing {
		t.Errorf("the event before its order: session %q, %+v", session, stored)
	}
	waiting, err := b.Unattached(t.Context(), 0, 10)
	b.must(err)
	if len(waiting) != 1 || waiting[0].Session != "" {
		t.Fatalf("waiting for their order: %+v", waiting)
	}
	r, err := b.RecordPayment(t.Context(), early.paid())
	if b.must(err); !r.ReversalDue {
		t.Error("the payment is confirmed and nobody asks about the refund that came before")
	}
	if waiting, err = b.Unattached(t.Context(), 0, 10); err != nil || len(waiting) != 1 || waiting[0].Session != early.key.Session {
		t.Errorf("the order is known: %+v, %v", waiting, err)
	}
	early.review(strict, order.ReversalFacts{})
	if waiting, err = b.Unattached(t.Context(), 0, 10); err != nil || len(waiting) != 0 {
		t.Errorf("after the review: %+v, %v", waiting, err)
	}
}

// What was sold before Handover served the environment was somebody else's to deliver. An event about its money makes no
// order of it, whether it is found by its payment or named by the event.
func TestReversalOfASaleFromBeforeMakesNoOrder(t *testing.T) {
	t.Parallel()
	served := time.Now().Add(-time.Hour)
	for name, c := range map[string]struct {
		named, known, unserved bool
		created                time.Time
		joined                 bool
	}{
		"from before":                                 {created: served.Add(-time.Minute)},
		"from before, and named by the event":         {named: true, created: served.Add(-time.Minute)},
		"from before, and its checkout event came":    {known: true, created: served.Add(-time.Minute), joined: true},
		"of a time that the provider does not say":    {named: true},
		"of an environment that no worker has served": {unserved: true, created: time.Now()},
		"from the second in which it began":           {created: served.Truncate(time.Second), joined: true},
		"from since then":                             {created: served.Add(time.Minute), joined: true},
		"from since then, and named by the event":     {named: true, created: served.Add(time.Minute), joined: true},
		"of an order that is known, from whenever":    {known: true, joined: true},
		"of an order that is known and that is named": {known: true, named: true, joined: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newEnv(t)
			b.key.Environment = "test-" + strings.ToLower(rand.Text())
			if !c.unserved {
				b.must(b.StartSync(t.Context(), b.key.Environment))
				b.exec(`UPDATE sales_lists SET covered_from = $2 WHERE environment = $1`, b.key.Environment, served)
			}
			if c.known {
				b.store(b.event("checkout"))
			}
			e := b.refundEvent("1")
			if c.named {
				e.Session = b.key.Session
			}
			stored, err := b.StoreEvent(t.Context(), e)
			b.must(err)
			if at := c.named && c.known; (stored.Session != "") != at || (stored.Next == ledger.NextReversal) != at {
				t.Errorf("stored: %+v", stored)
			}
			joined, err := b.Attach(t.Context(), b.key, e.ID, c.created)
			if b.must(err); joined != c.joined {
				t.Errorf("joined %v, want %v", joined, c.joined)
			}
			orders := b.count(`SELECT count(*) FROM orders WHERE environment = $1`, b.key.Environment)
			waiting := b.count(`SELECT count(*) FROM webhook_events WHERE environment = $1 AND event_id = $2 AND dispatched_at IS NULL`, b.key.Environment, e.ID)
			noted := b.count(`SELECT count(*) FROM audit WHERE environment = $1 AND session = $2 AND what LIKE '%discarded%'`, b.key.Environment, b.key.Session)
			if want := map[bool][3]int{true: {1, 1, 0}, false: {0, 0, 1}}[c.joined]; [3]int{orders, waiting, noted} != want {
				t.Errorf("orders, waiting events, lines in the audit: %v, want %v", [3]int{orders, waiting, noted}, want)
			}
		})
	}
}

func TestEventThatNamesItsSessionWaitsWithItsName(t *testing.T) {
	t.Parallel()
	b := ownEnv(t)
	e := b.refundEvent("1")
	e.Session, e.PaymentRef = b.key.Session, ""
	_, err := b.StoreEvent(t.Context(), e)
	b.must(err)
	waiting, err := b.Unattached(t.Context(), 0, 10)
	if b.must(err); len(waiting) != 1 || waiting[0].Named != b.key.Session || waiting[0].Session != "" {
		t.Errorf("waiting: %+v", waiting)
	}
	b.store(b.event("checkout"))
	waiting, err = b.Unattached(t.Context(), 0, 10)
	b.must(err)
	left, err := b.Undispatched(t.Context(), 0, []string{}, 10)
	b.must(err)
	review := func(u ledger.Undispatched) bool { return u.Event == e.ID && u.Next == ledger.NextReversal }
	if len(waiting) != 0 || !slices.ContainsFunc(left, review) {
		t.Errorf("its order is known: waiting %+v, to hand over %+v", waiting, left)
	}
}

func TestEventThatComesDuringAReviewAsksForAnother(t *testing.T) {
	t.Parallel()
	b := ownEnv(t).pay()
	begun, err := b.BeginReversal(t.Context(), b.key)
	b.must(err)
	b.storeRefund("1")
	b.must(b.RecordReversal(t.Context(), ledger.Reversal{Key: b.key, Since: begun.Since}, strict))
	if !b.view().ReversalDue {
		t.Error("what came during the look is taken for seen")
	}
	left, err := b.Undispatched(t.Context(), 0, []string{}, 10)
	b.must(err)
	if len(left) != 1 || left[0].Next != ledger.NextReversal {
		t.Errorf("to hand over: %+v", left)
	}
}

func TestLookThatBeganEarlierDoesNotTakeBackALaterOne(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	stopped, err := b.BeginReversal(t.Context(), b.key) // by a worker that is stopped now
	b.must(err)
	b.review(strict, order.ReversalFacts{Refunded: 1200}).change()
	b.must(b.RecordReversal(t.Context(), ledger.Reversal{Key: b.key, Since: stopped.Since}, strict))
	b.change()
	if v := b.view(); v.Facts.Access != order.AccessRevoked || v.Refunded != 1200 {
		t.Errorf("access %s, refunded %d", v.Facts.Access, v.Refunded)
	}
}

func TestReviewOwedCountsAsUnfinishedUntilDone(t *testing.T) {
	t.Parallel()
	b := ownEnv(t).pay().give().accept(1)
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
	b.review(strict, order.ReversalFacts{Refunded: 1200})
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
	b := ownEnv(t).pay().give().accept(1).review(strict, order.ReversalFacts{Dispute: order.DisputeOpen})
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
	b.review(strict, order.ReversalFacts{Dispute: order.DisputeWon})
	b.exec(`UPDATE orders SET reversal_read_at = now() - interval '25 hours'`)
	b.change()
	if n := due(); n != 0 {
		t.Errorf("%d are due after the end of the dispute", n)
	}
}
