package ledger_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/ledger"
	"handover/internal/order"
)

func TestSameEventAtOnceIsStoredOnce(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	e := b.event("1")
	stored := make([]ledger.Stored, 20)
	errs := make([]error, 20)
	atOnce(20, func(i int) { stored[i], errs[i] = b.StoreEvent(t.Context(), e) })
	fresh := 0
	for i := range stored {
		b.must(errs[i])
		if stored[i].New {
			fresh++
		}
		if stored[i].Next != ledger.NextStart {
			t.Errorf("a copy is answered with %q, want %q: whichever is first starts it", stored[i].Next, ledger.NextStart)
		}
	}
	if fresh != 1 {
		t.Errorf("%d of the copies are new, want 1", fresh)
	}
	if n := b.count(`SELECT count(*) FROM webhook_events WHERE event_id = $1`, e.ID); n != 1 {
		t.Errorf("stored %d times", n)
	}
	if n := b.count(`SELECT count(*) FROM orders WHERE session = $1`, b.key.Session); n != 1 {
		t.Errorf("%d orders, want 1", n)
	}
}

func TestTwoEventsOfANewSessionAtOnceLoseNeither(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	stored := make([]ledger.Stored, 10)
	errs := make([]error, 10)
	atOnce(10, func(i int) { stored[i], errs[i] = b.StoreEvent(t.Context(), b.event(string(rune('a'+i)))) })
	first := 0
	for i := range stored {
		b.must(errs[i])
		switch stored[i].Next {
		case ledger.NextStart:
			first++
		case ledger.NextStartOrCheck:
		default:
			t.Errorf("an event asks for %q", stored[i].Next)
		}
	}
	if first != 1 {
		t.Errorf("%d events start the order and are content with one that runs already, want 1", first)
	}
}

// TestEventsAskForWhatIsMissing walks an order through its life.
func TestEventsAskForWhatIsMissing(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	first, second := b.event("1"), b.event("2")
	want := func(step string, e ledger.WebhookEvent, next ledger.Next) {
		t.Helper()
		if got := b.store(e).Next; got != next {
			t.Errorf("%s: %q, want %q", step, got, next)
		}
	}
	want("the first event", first, ledger.NextStart)
	want("its repetition", first, ledger.NextStart)
	want("another event, nothing handed over yet", second, ledger.NextStartOrCheck)
	b.must(b.MarkDispatched(t.Context(), b.key, first.ID))
	want("the dispatched one again", first, ledger.NextEnsure)
	want("the other one again, not dispatched", second, ledger.NextCheck)
	b.record(order.Assessment{Key: b.key, State: order.PaymentPending, Processing: true})
	want("while the money is on its way", b.event("3"), ledger.NextCheck)
	b.pay()
	want("paid, work is open", b.event("4"), ledger.NextEnsure)
	b.give()
	want("the email is still owed", b.event("5"), ledger.NextEnsure)
	b.accept(1)
	want("delivered", b.event("6"), ledger.NextNothing)
	want("delivered, a known event again", first, ledger.NextNothing)
	if n := b.count(`SELECT count(*) FROM webhook_events WHERE event_id = $1 AND dispatched_at IS NOT NULL`, b.event("6").ID); n != 1 {
		t.Error("an event that brings nothing new stays undispatched")
	}
}

// An event of the payment alone makes the order that waits for it check, and no other.
func TestEventThatNamesThePaymentOfAnOrderThatWaitsMakesItCheck(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	captured := func(id string) ledger.WebhookEvent {
		return ledger.WebhookEvent{Environment: b.key.Environment, ID: "evt_" + id + b.key.Session, Type: "charge.captured", Kind: "other", PaymentRef: "pi_" + b.key.Session}
	}
	if s := b.store(captured("early")); s.Session != "" || s.Next != ledger.NextNothing {
		t.Errorf("before there is an order: %+v", s)
	}
	b.store(b.event("1"))
	b.record(order.Assessment{Key: b.key, State: order.PaymentPending, Processing: true, Ref: "pi_" + b.key.Session})
	if s := b.store(captured("waiting")); s.Session != b.key.Session || s.Next != ledger.NextCheck {
		t.Errorf("while it waits: %+v", s)
	}
	if s := b.store(captured("waiting")); s.New || s.Next != ledger.NextCheck {
		t.Errorf("the same again, not dispatched: %+v", s)
	}
	b.pay()
	if s := b.store(captured("late")); s.Session != "" || s.Next != ledger.NextNothing {
		t.Errorf("after it was paid: %+v", s)
	}
}

func TestEventIsPendingUntilThePaymentIsCheckedAfterIt(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	is := func(when string, want bool) {
		t.Helper()
		if got, err := b.EventPending(t.Context(), b.key); err != nil || got != want {
			t.Errorf("%s: pending %v, %v", when, got, err)
		}
	}
	is("unknown", false)
	b.store(b.event("1"))
	is("stored", true)
	b.record(order.Assessment{Key: b.key, State: order.PaymentPending, Processing: true})
	is("checked", false)
	b.store(b.event("2"))
	is("another", true)
	b.pay()
	is("paid", false)
}

func TestStoppedWorkIsNotRestartedByEvents(t *testing.T) {
	t.Parallel()
	b := newEnv(t).pay().give()
	b.must(b.Stop(t.Context(), b.work(1), "", order.ClassPermanent, order.ReasonEmailRefused))
	if next := b.store(b.event("1")).Next; next != ledger.NextNothing {
		t.Errorf("an event asks for %q on an order that waits for a person", next)
	}
}

func TestEventThatIsNotOursMakesNoOrder(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	ignored := b.event("ignored")
	ignored.Ignored = true
	refund := b.event("refund")
	refund.Session, refund.Kind, refund.PaymentRef = "", "refund", "pi_1"
	for _, e := range []ledger.WebhookEvent{ignored, refund} {
		if stored := b.store(e); !stored.New || stored.Next != ledger.NextNothing {
			t.Errorf("%s: %+v", e.Kind, stored)
		}
		if stored := b.store(e); stored.New {
			t.Errorf("%s: new again", e.Kind)
		}
		if n := b.count(`SELECT count(*) FROM webhook_events WHERE event_id = $1`, e.ID); n != 1 {
			t.Errorf("%s: kept %d times", e.Kind, n)
		}
	}
	if n := b.count(`SELECT count(*) FROM orders WHERE session = $1`, b.key.Session); n != 0 {
		t.Error("an order came into being")
	}
}

func TestSameEventIDOfAnotherEnvironmentIsAnotherEvent(t *testing.T) {
	t.Parallel()
	b := newEnv(t)
	e := b.event("1")
	b.store(e)
	e.Environment = "live"
	if stored := b.store(e); !stored.New || stored.Next != ledger.NextStart {
		t.Errorf("got %+v", stored)
	}
}

func TestUndispatchedEventsAreListedOldestFirstAfterGrace(t *testing.T) {
	t.Parallel()
	b := ownEnv(t)
	known := b.another()
	for _, e := range []ledger.WebhookEvent{b.event("1"), b.event("2"), b.event("dispatched"), b.event("just now"), known.event("late")} {
		b.store(e)
	}
	refund := b.event("refund")
	refund.Session = ""
	b.store(refund)
	b.must(b.MarkDispatched(t.Context(), known.key, "another"))
	age := func(e ledger.WebhookEvent, by time.Duration) {
		b.exec(`UPDATE webhook_events SET received_at = now() - $2::interval WHERE event_id = $1`, e.ID, by)
	}
	age(b.event("1"), 2*time.Minute)
	age(b.event("2"), time.Minute)
	age(b.event("dispatched"), time.Hour)
	age(known.event("late"), 3*time.Minute)
	age(refund, time.Hour)
	b.exec(`UPDATE webhook_events SET dispatched_at = now() WHERE event_id = $1`, b.event("dispatched").ID)

	got, err := b.Undispatched(t.Context(), 30*time.Second, []string{}, 10)
	b.must(err)
	want := []ledger.Undispatched{
		{Key: known.key, Event: known.event("late").ID, Next: ledger.NextCheck},
		{Key: b.key, Event: b.event("1").ID, Next: ledger.NextStartOrCheck},
		{Key: b.key, Event: b.event("2").ID, Next: ledger.NextStartOrCheck},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("undispatched (-want +got):\n%s", diff)
	}
	if got, err = b.Undispatched(t.Context(), 30*time.Second, []string{}, 1); err != nil || len(got) != 1 {
		t.Errorf("with a limit of 1: %d, %v", len(got), err)
	}
}
