package crash_test

import (
	"strings"
	"testing"

	"handover/internal/lab/crash"
	"handover/internal/lab/stack/testenv"
	"handover/internal/order"
)

// refused starts a worker that does not come to poll, and returns what it says.
func refused(t *testing.T, s *crash.Shop) string {
	t.Helper()
	before, _ := s.Shop.Log("worker") // there is none where this is the first
	if err := s.Shop.StartWorker(t.Context()); err == nil {
		t.Fatal("the worker polls")
	}
	return s.Log("worker")[len(before):]
}

// Orders run on the task queue that the ledger knows. A worker on another is refused while there are some, a starter and the
// commands use the known one whatever TASK_QUEUE says, and nothing is stranded.
func TestAnotherTaskQueueStrandsNothing(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Config: quick})
	first := s.Buy(nil)
	s.SettledOnce(first, 1)
	known := s.TaskQueue
	s.Worker.Stop()
	s.TaskQueue = testenv.TaskQueue(t)
	if says := refused(t, s); !strings.Contains(says, "TASK_QUEUE is "+s.TaskQueue) || !strings.Contains(says, "set TASK_QUEUE="+known) {
		t.Errorf("the worker says: %s", says)
	}
	s.Starter.Stop()
	s.StartStarter() // with the other queue in its environment
	second := s.Buy(nil)
	if out, errs, code := s.Command("resend", "test/"+first, "--reason", "lost"); code != 0 {
		t.Errorf("resend ended %d: %s%s", code, out, errs)
	}
	s.TaskQueue = known
	s.StartWorker()
	s.SettledOnce(second, 1)
	s.SettledOnce(first, 2)
}

// A task queue of the namespace belongs to one installation: two databases would take each other's orders. That of one
// whose workers are gone is taken over.
func TestTaskQueueOfAnotherInstallationIsRefused(t *testing.T) {
	t.Parallel()
	ours, other := crash.Open(t, crash.Options{}), crash.Open(t, crash.Options{Idle: true})
	other.TaskQueue = ours.TaskQueue
	if says := refused(t, other); !strings.Contains(says, "used by another installation") {
		t.Errorf("the worker says: %s", says)
	}
	ours.Worker.Kill()
	other.StartStarter()
	other.StartWorker()
	session := other.Buy(nil)
	other.SettledOnce(session, 1)
}

// A worker that does not know the environment of orders in progress does not poll: it would stop each of them.
func TestWorkerRefusesToPollWithoutAnEnvironmentThatHasOrders(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	s.Worker.Stop()
	session := s.Buy(nil)
	s.Reconfigure("[environments.test]", "[environments.renamed]")
	if says := refused(t, s); !strings.Contains(says, "[environments.test]") {
		t.Errorf("the worker says: %s", says)
	}
	s.Reconfigure("[environments.renamed]", "[environments.test]")
	s.StartWorker()
	s.AwaitState(session, order.CustomerReady)
}
