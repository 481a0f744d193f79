package dispatch_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	enumspb "go.temporal.io/api/enums/v1"

	"handover/internal/dispatch"
	"handover/internal/flow"
	"handover/internal/lab/stack/testenv"
	"handover/internal/ledger"
	"handover/internal/order"
)

func TestFirstEventStartsTheOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UseAttributes(true)
	b.handOver("evt_1", ledger.NextStart)
	run := b.run()
	want := flow.Input{Key: b.key, Event: "evt_1", Attributes: true}
	if diff := cmp.Diff(want, run.input); diff != "" {
		t.Errorf("input (-want +got):\n%s", diff)
	}
	if run.status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING || run.kind != flow.DeliverName || run.queue != b.queue || len(run.signals) != 0 {
		t.Errorf("started %+v", run)
	}
	if run.summary != "Order "+b.key.String() {
		t.Errorf("its line in the UI is %q", run.summary)
	}
	attributes := map[string]string{"HandoverEnvironment": b.key.Environment, "HandoverState": "automatic"}
	if diff := cmp.Diff(attributes, run.attributes); diff != "" {
		t.Errorf("search attributes (-want +got):\n%s", diff)
	}
	if b.marked("evt_1") {
		t.Error("the event is marked: the mark rides on the payment's commit, and until then it is not safe")
	}
}

func TestSameEventAtOnceStartsOneRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	errs := make(chan error, 10)
	for range cap(errs) {
		go func() { errs <- b.Dispatch(t.Context(), b.key, "evt_1", ledger.NextStart) }()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	b.endLater()
	if run := b.run(); run.status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING || len(run.signals) != 0 {
		t.Errorf("started %+v", run)
	}
}

func TestSecondEventOfAStartedOrderIsSignalled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.handOver("evt_1", ledger.NextStart)
	first := b.run()
	b.handOver("evt_2", ledger.NextStartOrCheck)
	b.handOver("evt_3", ledger.NextCheck)
	want := []signal{{"payment_event", `{"event":"evt_2"}`}, {"payment_event", `{"event":"evt_3"}`}}
	if diff := cmp.Diff(want, b.run().signals); diff != "" || b.run().id != first.id {
		t.Errorf("the same run %v; signals (-want +got):\n%s", b.run().id == first.id, diff)
	}
	if !b.marked("evt_2") || b.marked("evt_1") {
		t.Errorf("marked: the first %v, the second %v", b.marked("evt_1"), b.marked("evt_2"))
	}
}

func TestSecondEventStartsWhatNobodyStarted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.handOver("evt_2", ledger.NextStartOrCheck)
	if run := b.run(); run.input.Event != "evt_2" || run.input.Known || len(run.signals) != 0 {
		t.Errorf("started %+v", run)
	}
	if b.marked("evt_2") {
		t.Error("the event is marked before its payment is recorded")
	}
}

func TestEventAfterTheEndGetsANewRun(t *testing.T) {
	t.Parallel()
	for _, next := range []ledger.Next{ledger.NextCheck, ledger.NextStartOrCheck} {
		b := newBench(t)
		b.handOver("evt_1", ledger.NextStart)
		b.terminate()
		closed := b.run()
		b.handOver("evt_2", next)
		run := b.run()
		if !run.input.Known || run.status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING || run.id == closed.id {
			t.Errorf("%s: the newest run is %+v", next, run)
		}
		if diff := cmp.Diff([]signal{{"payment_event", `{"event":"evt_2"}`}}, run.signals); diff != "" {
			t.Errorf("%s: signals (-want +got):\n%s", next, diff)
		}
		if !b.marked("evt_2") {
			t.Errorf("%s: the event is not marked", next)
		}
	}
}

// TestRepetitionOfTheFirstEventStartsNothing although its run has closed: the ledger says so when more is to be done.
func TestRepetitionOfTheFirstEventStartsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.handOver("evt_1", ledger.NextStart)
	b.terminate()
	closed := b.run()
	b.handOver("evt_1", ledger.NextStart)
	if run := b.run(); run.id != closed.id {
		t.Errorf("started %+v", run)
	}
}

func TestEnsureLeavesAnOpenRunAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.handOver("evt_1", ledger.NextStart)
	before := b.run()
	b.handOver("evt_2", ledger.NextEnsure)
	if after := b.run(); after.id != before.id || len(after.signals) != 0 {
		t.Errorf("the newest run is %+v", after)
	}
	if !b.marked("evt_2") {
		t.Error("the event is not marked")
	}
}

func TestEnsureRestartsWhatSomebodyTerminated(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.handOver("evt_1", ledger.NextStart)
	b.terminate()
	closed := b.run()
	b.handOver("evt_2", ledger.NextEnsure)
	run := b.run()
	if run.id == closed.id || !run.input.Known || run.status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING || len(run.signals) != 0 {
		t.Errorf("the newest run is %+v", run)
	}
}

func TestNothingIsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.handOver("evt_1", ledger.NextNothing)
	if b.started() || b.marked("evt_1") {
		t.Errorf("started %v, marked %v", b.started(), b.marked("evt_1"))
	}
}

func TestResendIsSignalledWithoutTheAddress(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{false, true} {
		b := newBench(t)
		b.handOver("evt_1", ledger.NextStart)
		if closed {
			b.terminate()
		}
		request := order.Request{Key: b.key, ID: "starter/1", Kind: "resend", Who: "sam", Why: "mistyped", Address: "kim@example.org"}
		b.must(b.ledger.StoreRequest(t.Context(), request))
		b.must(b.Ask(t.Context(), request))
		run := b.run()
		if diff := cmp.Diff([]signal{{"resend", `{"reason":"mistyped","request_id":"starter/1"}`}}, run.signals); diff != "" || run.input.Known != closed {
			t.Errorf("closed %v: started as known %v; signals (-want +got):\n%s", closed, run.input.Known, diff)
		}
		if b.waits(time.Minute) {
			t.Errorf("closed %v: still waiting to be signalled", closed)
		}
	}
}

func TestReplayLooksAgainWhetherTheRunIsOpenOrNot(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{false, true} {
		b := newBench(t)
		b.handOver("evt_1", ledger.NextStart)
		if closed {
			b.terminate()
		}
		b.must(b.Replay(t.Context(), b.key))
		run := b.run()
		if diff := cmp.Diff([]signal{{"payment_event", `{"event":""}`}}, run.signals); diff != "" || run.input.Known != closed {
			t.Errorf("closed %v: started as known %v; signals (-want +got):\n%s", closed, run.input.Known, diff)
		}
	}
}

func TestNamespaceWithoutOurAttributesStartsAllTheSame(t *testing.T) {
	t.Parallel()
	b := newBenchOn(t, testenv.Shared(t), newNamespace(t))
	b.UseAttributes(true)
	// The server learns of a new namespace after a while.
	for {
		err := b.Dispatch(t.Context(), b.key, "evt_1", ledger.NextStart)
		if err == nil {
			break
		}
		if !unknownNamespace(err) {
			t.Fatal(err)
		}
	}
	if run := b.run(); run.input.Attributes || len(run.attributes) != 0 || run.input.Event != "evt_1" {
		t.Errorf("started %+v", run)
	}
	b.key = newKey()
	b.handOver("evt_2", ledger.NextEnsure)
	if run := b.run(); run.input.Attributes || !run.input.Known {
		t.Errorf("the next one: %+v", run)
	}
	if n := b.log.count("search attributes missing in the namespace"); n != 1 {
		t.Errorf("said %d times in the log, want once", n)
	}
}

func TestTemporalThatIsAwayIsAnErrorAndLeavesTheEvent(t *testing.T) {
	t.Parallel()
	b := newBenchOn(t, testenv.Shared(t), away(t))
	for _, next := range []ledger.Next{ledger.NextStart, ledger.NextStartOrCheck, ledger.NextCheck, ledger.NextEnsure} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		err := b.Dispatch(ctx, b.key, "evt_1", next)
		cancel()
		if err == nil || b.marked("evt_1") {
			t.Errorf("%s: %v, marked %v", next, err, b.marked("evt_1"))
		}
	}
	request := order.Request{Key: b.key, ID: "starter/1", Kind: "resend", Who: "sam", Why: "mistyped"}
	b.must(b.ledger.StoreRequest(t.Context(), request))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := b.Ask(ctx, request); err == nil {
		t.Error("a resend: no error")
	}
	if !b.waits(0) {
		t.Error("the request is not waiting any more")
	}
}

// unmarking is a ledger that is away when the mark is to be written.
type unmarking struct{ *ledger.Ledger }

var errAway = errors.New("the database is away")

func (unmarking) MarkDispatched(context.Context, order.Key, string) error { return errAway }

func TestMarkThatFailsIsAnError(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Dispatcher = dispatch.New(b.temporal, unmarking{b.ledger}, slog.New(b.log))
	b.UseQueue(b.queue)
	b.handOver("evt_1", ledger.NextStart)
	b.store("evt_2")
	if err := b.Dispatch(t.Context(), b.key, "evt_2", ledger.NextCheck); !errors.Is(err, errAway) {
		t.Errorf("got %v: the event has to come again, its signal is harmless", err)
	}
}
