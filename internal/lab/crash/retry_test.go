package crash_test

import (
	"strings"
	"testing"

	"handover/internal/lab/crash"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

func TestRetryWorksOnAStoppedEmailUnderTheSameKey(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Config: "[steps.email]\nattempts = 2\nfirst_wait = \"100ms\"\n"})
	s.Fault(sandbox.Fault{Target: "resend.send", Mode: "refuse", Status: 503})
	session := s.Buy(nil)
	s.Eventually("the attempts are exhausted", func() bool {
		state := s.Status(session).Email.State
		return state == order.EmailAttention || state == order.EmailUncertain
	})
	if got := s.Sandbox.Counts().Emails.ByKey[harness.EmailKey(session, 1)].Calls; got != 2 {
		t.Errorf("%d calls, want the 2 that are configured", got)
	}
	s.Sandbox.ClearFaults()
	out, errs, code := s.Command("retry", "test/"+session, "--reason", "the provider is well again")
	if code != 0 || !strings.Contains(out, "worked on again") {
		t.Fatalf("retry ended %d:\n%s%s", code, out, errs)
	}
	s.SettledOnce(session, 1)
	status, _, _ := s.Command("status", "test/"+session)
	if strings.Contains(status, "NEEDS ATTENTION") || !strings.Contains(status, "the provider is well again") {
		t.Errorf("the status after the retry:\n%s", status)
	}
	// The reason of a refusal is where the refusal is, and nowhere else.
	because := order.RefusedNothingStopped.Message()
	out, errs, code = s.Command("retry", "test/"+session, "--reason", "again")
	if code != 1 || out != "" || strings.Count(errs, because) != 1 || strings.Contains(errs, "@") {
		t.Errorf("the retry of a finished order ended %d:\n%s%s", code, out, errs)
	}
	out, errs, code = s.Command("retry", "test/"+session, "--reason", "again", "--json")
	if code != 1 || !strings.Contains(out, `"outcome": "refused"`) || !strings.Contains(errs, because) {
		t.Errorf("the retry as JSON ended %d:\n%s%s", code, out, errs)
	}
	s.SettledOnce(session, 1)
}

func TestRetryOfEverythingThatAFaultInTheSettingsHeldBack(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	s.Fault(sandbox.Fault{Target: "resend.send", Mode: "refuse", Status: 403, Name: "invalid_api_key"})
	sessions := []string{s.Buy(nil), s.Buy(nil), s.Buy(nil)}
	for _, session := range sessions {
		s.Eventually("the email needs a person", func() bool { return s.Status(session).Email.State == order.EmailAttention })
		if got := s.Sandbox.Counts().Emails.ByKey[harness.EmailKey(session, 1)].Calls; got != 1 {
			t.Errorf("%d calls under a refused key, want 1", got)
		}
	}
	s.Sandbox.ClearFaults()
	s.Fault(sandbox.Fault{Target: "stripe.session", Mode: "refuse", Status: 401})
	unread := s.Buy(nil)
	s.AwaitState(unread, order.CustomerLooking)
	s.Sandbox.ClearFaults()

	out, errs, code := s.Command("retry", "--misconfigured", "--reason", "the keys are right again")
	if code != 0 || strings.Count(out, "worked on again") != 4 {
		t.Fatalf("retry --misconfigured ended %d:\n%s%s", code, out, errs)
	}
	for _, session := range append(sessions, unread) {
		s.SettledOnce(session, 1)
	}
	if out, _, code := s.Command("retry", "--misconfigured", "--reason", "again", "--json"); code != 0 || strings.TrimSpace(out) != "[]" {
		t.Errorf("with nothing held back it ended %d: %s", code, out)
	}
}

// A run that was terminated in the middle is started again by the operator's retry; what was finished stays finished.
func TestRetryStartsALostRunAgain(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	f := s.Fault(sandbox.Fault{Target: "resend.send", Mode: "refuse", Status: 500})
	session := s.Buy(nil)
	s.AwaitFault("fired", f, 1)
	if err := s.Temporal.TerminateWorkflow(t.Context(), harness.WorkflowID(session), "", "a test"); err != nil {
		t.Fatal(err)
	}
	s.Sandbox.ClearFaults()
	if out, errs, code := s.Command("retry", "test/"+session, "--reason", "terminated by mistake"); code != 0 {
		t.Fatalf("retry ended %d:\n%s%s", code, out, errs)
	}
	s.SettledOnce(session, 1)
}
