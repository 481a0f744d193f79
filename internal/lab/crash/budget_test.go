package crash_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"handover/internal/lab/crash"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

// Attempts are counted in the ledger: neither a second run nor a reset, in the middle or when all is exhausted, gives more.
func TestASecondRunAndAResetDoNotRefillTheBudget(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Config: "[steps.email]\nattempts = 5\nfirst_wait = \"500ms\"\nfactor = 1\ncall_timeout = \"1s\"\n"})
	f := s.Fault(sandbox.Fault{Target: "resend.send", Mode: "refuse", Status: 503})
	session := s.Buy(twoUnits)
	s.AwaitFault("fired", f, 1)
	if err := s.Temporal.TerminateWorkflow(t.Context(), harness.WorkflowID(session), "", "a test"); err != nil {
		t.Fatal(err)
	}
	if status := s.Report(session, harness.Completed, ""); status != 200 {
		t.Fatalf("the webhook was answered %d", status)
	}
	s.AwaitFault("fired", f, 3)
	reset(t, s, session)
	want := delivered(1, 5)
	want.Email, want.Buyer, want.Stopped, want.Attention = order.EmailAttention, order.CustomerEmailPending, 1, order.ReasonEmailExhausted
	want.Messages[0].Accepted, want.Complete = 0, false
	s.AwaitOutcome(session, want)
	if diff := cmp.Diff(want, s.Outcome(session)); diff != "" {
		t.Errorf("when all is exhausted (-want +got):\n%s", diff)
	}
	run := reset(t, s, session)
	s.Eventually("the reset run listens", func() bool {
		state, err := s.Temporal.QueryWorkflow(t.Context(), harness.WorkflowID(session), run, "state")
		var facts struct{ Reason order.Reason }
		return err == nil && state.Get(&facts) == nil && facts.Reason == order.ReasonEmailExhausted
	})
	if diff := cmp.Diff(want, s.Outcome(session)); diff != "" {
		t.Errorf("after another reset (-want +got):\n%s", diff)
	}
	// A person gives a fresh budget, under the same key.
	s.Sandbox.ClearFaults()
	if out, errs, code := s.Command("retry", "test/"+session, "--reason", "the provider is well again"); code != 0 {
		t.Fatalf("retry ended %d:\n%s%s", code, out, errs)
	}
	s.AwaitOutcome(session, delivered(1, 6))
	if diff := cmp.Diff(delivered(1, 6), s.Outcome(session)); diff != "" {
		t.Errorf("after the retry (-want +got):\n%s", diff)
	}
}
