package crash_test

import (
	"slices"
	"strings"
	"testing"

	historypb "go.temporal.io/api/history/v1"

	"handover/internal/lab/crash"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

// Orders that wait are finished by a worker whose story has changed: those that are past the change by the old story,
// those that are before it, and new ones, by the new. Without workflow.GetVersion the first kind would stand still, and
// go on as soon as a worker with it comes.
func TestOrdersOfTheVersionBeforeAreFinishedByTheNext(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	unpaid := s.Buy(func(c *sandbox.Session) { c.PaymentStatus = "unpaid" })
	s.AwaitState(unpaid, order.CustomerProcessing)
	open := s.Buy(nil)
	s.SettledOnce(open, 1)
	s.Fault(sandbox.Fault{Target: "resend.send", Mode: "refuse", Status: 422, Name: "validation_error", Times: 1})
	refused := s.Buy(nil)
	s.Eventually("the email needs a person", func() bool { return s.Status(refused).Email.State == order.EmailAttention })
	s.Worker.Stop()

	next := buildNextVersion(t)
	start := func(environment ...string) {
		if err := s.StartProgram(t.Context(), "next worker", next, environment...); err != nil {
			t.Fatal(err)
		}
	}
	start("NEXT_VERSION_GUARDED=no")
	if err := s.Temporal.SignalWorkflow(t.Context(), harness.WorkflowID(open), "", "resend", map[string]string{"reason": "not in the inbox"}); err != nil {
		t.Fatal(err)
	}
	s.Eventually("the changed story does not fit the order's history", func() bool {
		for line := range strings.Lines(s.Log("next worker")) {
			if strings.Contains(line, "TMPRL1100") && strings.Contains(line, open) {
				return true
			}
		}
		return false
	})
	if got := s.Status(open).Email.State; got != order.EmailAccepted {
		t.Errorf("the email of an order that stands still is %s", got)
	}
	s.Eventually("a metric counts it", func() bool {
		_, metrics := get(t, s.WorkerURL+"/metrics")
		return strings.Contains(metrics, "\ntemporal_workflow_task_execution_failed_total{")
	})
	s.Worker.Stop()

	start()
	s.AwaitAccepted(open, 2)
	s.SettledOnce(open, 2)
	if _, err := s.Sandbox.ChangeSession(unpaid, []byte(`{"payment_status":"paid","payment_intent":{"status":"succeeded"}}`)); err != nil {
		t.Fatal(err)
	}
	if status := s.Report(unpaid, "checkout.session.async_payment_succeeded", ""); status != 200 {
		t.Fatalf("the event was answered %d", status)
	}
	if _, errs, code := s.Command("resend", "test/"+refused, "--reason", "fixed", "--to", "ada@elsewhere.test"); code != 0 {
		t.Fatalf("resend ended %d: %s", code, errs)
	}
	fresh := s.Buy(nil)
	s.SettledOnce(unpaid, 1)
	s.SettledOnce(fresh, 1)
	s.AwaitState(refused, order.CustomerReady)
	for session, stepped := range map[string]bool{open: false, refused: false, unpaid: true, fresh: true} {
		if got := hasNextStep(s.History(session)); got != stepped {
			t.Errorf("%s has gone by the new story: %v, want %v", session, got, stepped)
		}
	}
}

func hasNextStep(h *historypb.History) bool {
	return slices.ContainsFunc(h.GetEvents(), func(e *historypb.HistoryEvent) bool {
		return e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == "StepOfTheNextVersion"
	})
}
