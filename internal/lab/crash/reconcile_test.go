package crash_test

import (
	"strings"
	"testing"

	"handover/internal/lab/crash"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

// Orders whose workflow was lost, with money on its way and with an email still pending, are found and finished without
// anybody asking. Those that are under way are left alone.
func TestReconcileStartsWhatHasNoRun(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	c := s.Temporal
	terminate := func(session string) {
		t.Helper()
		if err := c.TerminateWorkflow(t.Context(), harness.WorkflowID(session), "", "a test"); err != nil {
			t.Fatal(err)
		}
	}
	unpaid := s.Buy(func(c *sandbox.Session) { c.PaymentStatus = "unpaid" })
	waiting := s.Buy(func(c *sandbox.Session) { c.PaymentStatus = "unpaid" })
	s.AwaitState(unpaid, order.CustomerProcessing)
	s.AwaitState(waiting, order.CustomerProcessing)
	terminate(unpaid)
	f := s.Fault(sandbox.Fault{Target: "resend.send", Mode: "refuse", Status: 500})
	half := s.Buy(nil)
	s.AwaitFault("fired", f, 1)
	s.Eventually("access is given", func() bool { return s.Status(half).Access.State == order.AccessGranted })
	terminate(half)
	s.Sandbox.ClearFaults()
	if _, err := s.Sandbox.ChangeSession(unpaid, []byte(`{"payment_status":"paid","payment_intent":{"status":"succeeded"}}`)); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"orders", "obligations"} { // an hour later
		if _, err := s.Database().Exec(t.Context(), "UPDATE "+table+" SET created_at = created_at - interval '1 hour'"); err != nil {
			t.Fatal(err)
		}
	}
	run := newestRun(t, s, waiting)
	trigger(t, s)
	s.SettledOnce(half, 1)
	s.SettledOnce(unpaid, 1)
	if got := newestRun(t, s, waiting); got != run {
		t.Error("an order that was under way was started again")
	}
	s.Eventually("the time of the pass is a metric", func() bool {
		_, metrics := get(t, s.WorkerURL+"/metrics")
		return strings.Contains(metrics, "\nhandover_reconcile_last_finished_timestamp_seconds ")
	})
}
