package dispatch_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"handover/internal/dispatch"
	"handover/internal/lab/await"
	"handover/internal/lab/stack/testenv"
	"handover/internal/ledger"
	"handover/internal/order"
)

const late = "event dispatched late"

// loop runs the dispatcher until the returned function is called, which waits for its end.
func (b *bench) loop() (stop func()) {
	ctx, cancel := context.WithCancel(b.t.Context())
	var running sync.WaitGroup
	running.Go(func() { b.Run(ctx) })
	stop = func() {
		cancel()
		running.Wait()
	}
	b.t.Cleanup(stop)
	b.endLater()
	return stop
}

// age makes everything stored so far an hour old: time is moved, not waited for.
func (b *bench) age() {
	b.t.Helper()
	b.exec(`UPDATE webhook_events SET received_at = received_at - interval '1 hour'`)
	b.exec(`UPDATE requests SET created_at = created_at - interval '1 hour', signalled_at = signalled_at - interval '1 hour'`)
}

func TestEventThatWasLeftBehindIsHandedOver(t *testing.T) {
	t.Parallel()
	b := ownBench(t, testenv.Temporal(t))
	b.store("evt_1")
	b.age()
	b.store("evt_2") // it came just now, and is on its straight path
	b.loop()
	b.log.wait(t, late, 1)
	if run := b.run(); run.input.Event != "evt_1" || run.input.Known || len(run.signals) != 0 {
		t.Errorf("started %+v", run)
	}
	if b.marked("evt_2") {
		t.Error("an event within its grace was taken")
	}
}

func TestEventWithNothingNewIsMarked(t *testing.T) {
	t.Parallel()
	b := ownBench(t, testenv.Temporal(t))
	_, err := b.ledger.RecordPayment(t.Context(), order.Assessment{Key: b.key, State: "confirmed", Email: "alex@example.com"})
	b.must(err)
	b.store("evt_1")
	b.exec(`UPDATE webhook_events SET dispatched_at = NULL`)
	b.age()
	b.loop()
	b.log.wait(t, late, 1)
	if !b.marked("evt_1") || b.started() {
		t.Errorf("marked %v, started %v", b.marked("evt_1"), b.started())
	}
}

func TestEventThatWasLostAfterItsRunEndedIsLookedAt(t *testing.T) {
	t.Parallel()
	b := ownBench(t, testenv.Temporal(t))
	b.handOver("evt_1", ledger.NextStart)
	b.terminate()
	b.must(b.ledger.MarkDispatched(t.Context(), b.key, "evt_1"))
	b.store("evt_2")
	b.age()
	b.loop()
	b.log.wait(t, late, 1)
	if run := b.run(); !run.input.Known || run.status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING || len(run.signals) != 1 {
		t.Errorf("started %+v", run)
	}
	if !b.marked("evt_2") {
		t.Error("the event is not marked")
	}
}

func TestRequestWhoseSignalDidNotGoIsSignalled(t *testing.T) {
	t.Parallel()
	b := ownBench(t, testenv.Temporal(t))
	b.must(b.ledger.StoreRequest(t.Context(), order.Request{Key: b.key, ID: "starter/1", Kind: "resend", Who: "sam", Why: "mistyped", Address: "kim@example.org"}))
	b.age()
	b.store("evt_1")
	b.exec(`UPDATE webhook_events SET received_at = received_at - interval '1 hour'`)
	b.loop()
	// Events come first: the request is signalled in the same pass, or in the next.
	await.True(t, "it is signalled", func() bool { return b.started() && len(b.run().signals) > 0 })
	if got, want := b.run().signals[0], (signal{"resend", `{"reason":"mistyped","request_id":"starter/1"}`}); got != want {
		t.Errorf("signalled %+v", got)
	}
}

// TestDispatchersSideBySideStartOneRun: any number of starters may run. Those that come second signal the run, which
// starts nothing more.
func TestDispatchersSideBySideStartOneRun(t *testing.T) {
	t.Parallel()
	b := ownBench(t, testenv.Temporal(t))
	b.store("evt_1")
	b.age()
	for range 3 {
		b.loop()
	}
	b.log.wait(t, late, 1)
	first := b.run()
	b.log.wait(t, late, 2)
	if run := b.run(); run.id != first.id || run.input.Event != "evt_1" || run.input.Known || run.status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		t.Errorf("started %+v", run)
	}
}

func TestLoopOutlastsATemporalThatIsAway(t *testing.T) {
	t.Parallel()
	b := ownBench(t, away(t))
	b.store("evt_1")
	b.age()
	stop := b.loop()
	b.log.wait(t, "undispatched events are waiting for Temporal", 1)
	stop()
	if b.marked("evt_1") {
		t.Error("the event is marked")
	}
	if b.log.count(late) != 0 {
		t.Error("an event that went nowhere is logged as dispatched")
	}
}

func TestLoopEndsWithItsContext(t *testing.T) {
	t.Parallel()
	b := ownBench(t, testenv.Temporal(t))
	stop := b.loop()
	stop()
	if n := b.log.count("undispatched events could not be read"); n != 0 {
		t.Error("the end of the process is logged as a warning")
	}
}

// A worker's reconciliation does the same where no starter runs.
func TestWhatWasLeftBehindIsHandedOverOldestFirst(t *testing.T) {
	t.Parallel()
	b := ownBench(t, testenv.Temporal(t))
	other, young := *b, *b
	other.key, young.key = newKey(), newKey()
	b.store("evt_1")
	b.age()
	other.store("evt_2")
	b.age()
	young.store("evt_3")
	for _, order := range []*bench{b, &other, &young} {
		order.endLater()
	}
	hand := func(limit, want int) {
		t.Helper()
		if handed, left, err := b.DispatchStale(t.Context(), time.Minute, limit); handed != want || left != 0 || err != nil {
			t.Errorf("%d dispatched, %d left, %v; want %d and none", handed, left, err, want)
		}
	}
	hand(1, 1)
	if !b.started() || other.started() {
		t.Errorf("started: the first %v, the second %v", b.started(), other.started())
	}
	hand(10, 2) // an event is marked by the look that it leads to, and no worker looks here
	if !other.started() || young.started() {
		t.Errorf("started: the second %v, the one within its grace %v", other.started(), young.started())
	}
}

func TestWhatDoesNotGoIsCountedAsLeft(t *testing.T) {
	t.Parallel()
	b := ownBench(t, away(t))
	b.store("evt_1")
	b.store("evt_2")
	b.age()
	if handed, left, err := b.DispatchStale(t.Context(), time.Minute, 10); handed != 0 || left != 2 || err == nil {
		t.Errorf("%d dispatched, %d left, %v; want none, 2 and an error", handed, left, err)
	}
}

// stubborn is a ledger that never marks one event as dispatched.
type stubborn struct {
	*ledger.Ledger
	event string
}

func (l stubborn) MarkDispatched(ctx context.Context, key order.Key, event string) error {
	if event == l.event {
		return errors.New("not this one")
	}
	return l.Ledger.MarkDispatched(ctx, key, event)
}

// One event that never goes holds up none of the others, also where it is the oldest, and is tried less and less.
func TestOneBadEventHoldsUpNobody(t *testing.T) {
	t.Parallel()
	b := ownBench(t, testenv.Temporal(t))
	b.Dispatcher = dispatch.New(b.temporal, stubborn{b.ledger, "evt_bad"}, slog.New(b.log))
	b.UseQueue(b.queue)
	for _, event := range []string{"evt_bad", "evt_1", "evt_2"} {
		_, err := b.ledger.RecordPayment(t.Context(), order.Assessment{Key: b.key, State: order.PaymentPending})
		b.must(err)
		b.store(event)
		b.age()
	}
	b.endLater()
	dispatched, left, err := b.DispatchStale(t.Context(), time.Minute, 10)
	if dispatched != 2 || left != 1 || err != nil {
		t.Errorf("%d dispatched, %d left, %v", dispatched, left, err)
	}
	if dispatched, left, err = b.DispatchStale(t.Context(), time.Minute, 10); dispatched+left != 0 || err != nil {
		t.Errorf("at once again: %d dispatched, %d left, %v", dispatched, left, err)
	}
	if b.marked("evt_bad") || !b.marked("evt_1") || !b.marked("evt_2") {
		t.Error("the wrong ones are marked")
	}
}
