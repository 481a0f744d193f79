package crash_test

import (
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"handover/internal/lab/crash"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

// doorway is a point at which a starter can die with an event in its hands.
type doorway struct {
	row, point string
	unpaid     bool // an order that waits for its money, and the event that says it came
	again      bool // the provider sends the event again until it is taken
	want       crash.Outcome
}

var doorways = []doorway{
	{row: "before the event is stored", point: "webhook.before_store", again: true, want: delivered(1, 1)},
	{row: "after storing, before the workflow starts", point: "webhook.stored", want: delivered(1, 1)},
	{row: "after the workflow started, before that is on record", point: "dispatch.started", want: delivered(1, 1)},
	{row: "after the signal was sent and that is on record", point: "dispatch.marked", unpaid: true, want: delivered(2, 1)},
}

// eager makes the provider send an event that was not taken again soon, for half a minute.
func eager(c *sandbox.Config) {
	c.RetryAfter = slices.Repeat([]time.Duration{300 * time.Millisecond}, 100)
}

// enter brings one event to each doorway of the starter, while no worker runs. Its calls end when the starter does.
func enter(t *testing.T, s *crash.Shop) (all []heldOrder, calls *sync.WaitGroup) {
	t.Helper()
	calls = &sync.WaitGroup{}
	sessions := make([]string, len(doorways))
	for i, d := range doorways {
		sessions[i] = s.Checkout(func(c *sandbox.Session) {
			twoUnits(c)
			if d.unpaid {
				c.PaymentStatus = "unpaid"
			}
		})
		if d.unpaid {
			s.Report(sessions[i], harness.Completed, "")
			s.AwaitState(sessions[i], order.CustomerProcessing)
			if _, err := s.Sandbox.ChangeSession(sessions[i], []byte(`{"payment_status":"paid","payment_intent":{"status":"succeeded"}}`)); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.Worker.Stop()
	for i, d := range doorways {
		event := sandbox.EventRequest{Type: harness.Completed, Session: sessions[i], Retry: d.again}
		if d.unpaid {
			event.Type = "checkout.session.async_payment_succeeded"
		}
		s.Arm(d.point, 1)
		calls.Go(func() {
			// A starter that dies leaves it without an answer; one that wakes up may still give one.
			if _, err := s.Sandbox.DeliverEvent(t.Context(), event); err != nil {
				t.Error(err)
			}
		})
		at := s.At(d.point)
		all = append(all, heldOrder{place{row: d.row, point: d.point, want: d.want}, sessions[i], at})
	}
	return all, calls
}

func TestAStarterKilledAtAnyPointLosesNothingAfterItsNextStart(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Config: brisk, Failpoints: true, Sandbox: eager})
	all, calls := enter(t, s)
	s.Starter.Kill()
	calls.Wait()
	s.StartStarter()
	s.StartWorker()
	checkAll(t, s, all)
}

// What a dead or frozen starter had in its hands is another one's. Only an event that was not stored is nobody's: the
// provider brings it again.
func TestAnotherStarterFinishesWhatADeadOneBegan(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Config: brisk, Failpoints: true, Sandbox: eager})
	all, calls := enter(t, s)
	s.Starter.Kill()
	calls.Wait()
	s.StartAnotherStarter()
	s.StartWorker()
	for _, at := range all[1:] {
		s.AwaitAccepted(at.session, 1)
	}
	s.StartStarter() // at the address that the provider knows
	checkAll(t, s, all)
}

func TestAStarterFrozenAtAnyPointStartsNothingTwiceWhenItWakesUp(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Config: brisk, Failpoints: true, Sandbox: eager})
	all, calls := enter(t, s)
	if err := s.Starter.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s.StartAnotherStarter()
	s.StartWorker()
	runs := map[string]string{}
	for _, at := range all[1:] {
		s.AwaitAccepted(at.session, 1)
		runs[at.session] = newestRun(t, s, at.session)
	}
	for _, at := range all {
		at.Release()
	}
	if err := s.Starter.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	calls.Wait()
	checkAll(t, s, all)
	for session, run := range runs {
		if got := newestRun(t, s, session); got != run {
			t.Errorf("%s: the late starter began run %s", session, got)
		}
	}
}
