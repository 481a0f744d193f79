package crash_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"handover/internal/lab/crash"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

// While nobody can answer, people ask again and again. What they get in the end is one email.
func TestWishesThatWaitedTogetherAreOneEmail(t *testing.T) {
	t.Parallel()
	server := privateTemporal(t)
	s := crash.Open(t, crash.Options{TemporalAddress: server.Address()})
	session := s.Buy(nil)
	s.SettledOnce(session, 1)
	server.Kill()
	for _, reason := range []string{"down", "still down", "hello?"} {
		out, errs, code := s.Command("resend", "test/"+session, "--reason", reason, "--json")
		var answer struct{ Outcome string }
		if err := json.Unmarshal([]byte(out), &answer); err != nil || code != 0 || answer.Outcome != "waiting" {
			t.Errorf("with Temporal away it ended %d: %s%s", code, out, errs)
		}
		if !strings.Contains(errs, "stored") {
			t.Errorf("it does not say what becomes of the request: %s", errs)
		}
	}
	if out, _, _ := s.Command("status", "test/"+session); strings.Count(out, "hello?") != 1 || !strings.Contains(out, "Waiting for a worker") {
		t.Errorf("the status does not show what waits:\n%s", out)
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Eventually("all three are decided", func() bool {
		out, _, _ := s.Command("status", "test/"+session)
		return !strings.Contains(out, "Waiting for a worker") && strings.Count(out, "resend: ") == 3
	})
	s.SettledOnce(session, 2)
}

func TestSixWishesAtOnceAreOneEmail(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session := s.Buy(nil)
	s.SettledOnce(session, 1)
	f := s.Fault(sandbox.Fault{Target: "resend.send", Mode: "late", DelayMS: 1000, Match: "/email/2"})
	var wishes sync.WaitGroup
	for range 6 {
		wishes.Go(func() {
			if _, errs, code := s.Command("resend", "test/"+session, "--reason", "all at once"); code != 0 {
				t.Errorf("resend ended %d: %s", code, errs)
			}
		})
	}
	s.AwaitFault("fired", f, 1)
	wishes.Wait()
	s.SettledOnce(session, 2)
}

// Every answer was lost, and the attempts are exhausted: the provider's own event settles it, without a second email.
func TestAnEventOfTheProviderSettlesAnUncertainEmail(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Config: "[steps.email]\nattempts = 2\nfirst_wait = \"100ms\"\n"})
	s.Fault(sandbox.Fault{Target: "resend.send", Mode: "drop"})
	s.Fault(mayOnlySend)
	session := s.Buy(nil)
	s.Eventually("the email is uncertain", func() bool { return s.Status(session).Email.State == order.EmailUncertain })
	out, _, _ := s.Command("status", "test/"+session)
	if !strings.Contains(out, "starter retry test/"+session) {
		t.Errorf("inside the window the advice should be to retry, under the same key:\n%s", out)
	}
	if d, err := s.Sandbox.DeliverEmailEvent(t.Context(), s.Message(session).ID, sandbox.EmailEventRequest{Type: "email.delivered"}); err != nil || d.Statuses[0] != 200 {
		t.Fatalf("the event was answered %v, %v", d.Statuses, err)
	}
	s.SettledOnce(session, 1)
	if out, _, _ := s.Command("list", "--attention"); strings.Contains(out, session) {
		t.Errorf("a settled order is still on the attention list:\n%s", out)
	}
	s.Eventually("the workflow knows of it too", func() bool {
		state, err := s.Temporal.QueryWorkflow(t.Context(), harness.WorkflowID(session), "", "state")
		var facts struct{ Email, Reason string }
		return err == nil && state.Get(&facts) == nil && facts.Email == "accepted" && facts.Reason == ""
	})
}

// The proof is there before the last attempt: nobody is asked, and nothing is called uncertain.
func TestAnEventThatCameBeforeTheLastAttemptIsProofEnough(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Config: "[steps.email]\nattempts = 3\nfirst_wait = \"1s\"\nfactor = 1\n"})
	f := s.Fault(sandbox.Fault{Target: "resend.send", Mode: "drop"})
	s.Fault(mayOnlySend)
	session := s.Buy(nil)
	s.AwaitAccepted(session, 1) // and the answer is dropped
	if d, err := s.Sandbox.DeliverEmailEvent(t.Context(), s.Message(session).ID, sandbox.EmailEventRequest{Type: "email.delivered"}); err != nil || d.Statuses[0] != 200 {
		t.Fatalf("the event was answered %v, %v", d.Statuses, err)
	}
	s.AwaitFault("fired", f, 3)
	s.SettledOnce(session, 1)
	if out, _, _ := s.Command("status", "test/"+session); strings.Contains(out, "NEEDS ATTENTION") {
		t.Errorf("the status after the proof:\n%s", out)
	}
}

func TestSignalsThatWaitedTogetherAreOneEmail(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session := s.Buy(nil)
	s.SettledOnce(session, 1)
	s.Worker.Stop()
	for range 4 {
		if err := s.Temporal.SignalWorkflow(t.Context(), harness.WorkflowID(session), "", "resend", map[string]string{"reason": "hello?"}); err != nil {
			t.Fatal(err)
		}
	}
	s.StartWorker()
	s.Eventually("all four are decided", func() bool {
		out, _, _ := s.Command("status", "test/"+session)
		return strings.Count(out, "resend: ") == 4
	})
	s.SettledOnce(session, 2)
}
