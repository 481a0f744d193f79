package crash_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"handover/internal/email/resend"
	"handover/internal/lab/crash"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

// mayOnlySend is what a key with sending access gets when it asks what was sent.
var mayOnlySend = sandbox.Fault{Target: "resend.list", Mode: "refuse", Status: 401, Name: "restricted_api_key"}

// providerID is what the ledger has as the provider's id of a generation of the email.
func providerID(t *testing.T, s *crash.Shop, session, generation string) string {
	t.Helper()
	var id string
	err := s.Database().QueryRow(t.Context(), `
SELECT coalesce(provider_id, '') FROM obligations WHERE session = $1 AND kind = 'email' AND subject = $2`, session, generation).Scan(&id)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Every answer was lost, no event comes, and the attempts are exhausted: the provider's list has the message. Other orders of
// the same buyer, whose messages look the same, are no doubt where their ids are known.
func TestTheProvidersListSettlesAnEmailWhoseAnswersWereAllLost(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Config: "[steps.email]\nattempts = 2\nfirst_wait = \"100ms\"\n"})
	earlier := s.Buy(nil)
	s.SettledOnce(earlier, 1)
	f := s.Fault(sandbox.Fault{Target: "resend.send", Mode: "drop"})
	session := s.Buy(nil)
	s.AwaitFault("fired", f, 2)
	s.SettledOnce(session, 1)
	s.Sandbox.ClearFaults()
	later := s.Buy(nil)
	s.SettledOnce(later, 1)
	for _, order := range []string{earlier, session, later} {
		if got, want := providerID(t, s, order, "1"), s.Message(order).ID; got != want {
			t.Errorf("the id of the message of %s is %q, want %q", order, got, want)
		}
	}
	out, _, _ := s.Command("status", "test/"+session)
	if strings.Contains(out, "NEEDS ATTENTION") || !strings.Contains(out, "list of sent mail") {
		t.Errorf("the status does not say how it is known:\n%s", out)
	}
	s.Eventually("the workflow knows of it too", func() bool {
		state, err := s.Temporal.QueryWorkflow(t.Context(), harness.WorkflowID(session), "", "state")
		var facts struct{ Email, Reason string }
		return err == nil && state.Get(&facts) == nil && facts.Email == "accepted" && facts.Reason == ""
	})
	text := s.HistoryText(session) + s.Log("worker")
	for _, secret := range []string{crash.BuyerEmail, s.Message(session).Subject} {
		if strings.Contains(strings.ToLower(text), strings.ToLower(secret)) {
			t.Errorf("a history or a log holds %q", secret)
		}
	}
}

// A worker that was away until it is too late to repeat the call finds the message in the list when it comes back.
func TestPastTheWindowTheListIsAskedAndNothingIsSent(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Config: "[steps.email]\nfirst_wait = \"1s\"\n"})
	s.Fault(sandbox.Fault{Target: "resend.send", Mode: "drop"})
	session := s.Buy(nil)
	s.AwaitAccepted(session, 1)
	s.Worker.Kill()
	calls := s.Sandbox.Counts().Emails.ByKey[harness.EmailKey(session, 1)].Calls
	s.Sandbox.ClearFaults()
	if _, err := s.Database().Exec(t.Context(), `
UPDATE obligations SET first_attempt_at = first_attempt_at - interval '24 hours', claim_expires_at = now() WHERE session = $1 AND kind = 'email'`, session); err != nil {
		t.Fatal(err)
	}
	s.StartWorker()
	s.AwaitState(session, order.CustomerReady)
	if got := s.Sandbox.Counts().Emails.ByKey[harness.EmailKey(session, 1)].Calls; got != calls {
		t.Errorf("it was sent again past the window: %d calls, there were %d", got, calls)
	}
	if got, want := providerID(t, s, session, "1"), s.Message(session).ID; got != want {
		t.Errorf("the message's id is %q, want %q", got, want)
	}
}

// Somebody else has sent a message that looks the same: nobody can say which of the two is ours, so neither is.
func TestTwoMessagesThatCanBeItAreNoEvidence(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Config: "[steps.email]\nattempts = 2\nfirst_wait = \"2s\"\n"})
	s.Fault(sandbox.Fault{Target: "resend.send", Mode: "drop", Match: "/email/"})
	session := s.Buy(nil)
	s.AwaitAccepted(session, 1)
	m := s.Message(session)
	provider := httptest.NewServer(s.Sandbox.Handler())
	t.Cleanup(provider.Close)
	other, err := resend.New(resend.Config{APIKey: "re_another", APIURL: provider.URL + "/resend"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Send(t.Context(), "another/program", order.Message{From: m.From, To: m.To[0], Subject: m.Subject, Text: "Hello"}); err != nil {
		t.Fatal(err)
	}
	s.Eventually("the email is uncertain", func() bool { return s.Status(session).Email.State == order.EmailUncertain })
	if id := providerID(t, s, session, "1"); id != "" {
		t.Errorf("the id is %q", id)
	}
	if out, _, _ := s.Command("list", "--attention"); !strings.Contains(out, session) {
		t.Errorf("nobody is asked:\n%s", out)
	}
	if !strings.Contains(s.Log("worker"), `"candidates":2`) {
		t.Error("the log does not say why the list was no help")
	}
}

// Two orders of one buyer lose all their answers at the same time. Each message is one of the two: nobody can say which.
func TestTwoOrdersOfOneBuyerWithoutAnswersAreBothUncertain(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Config: "[steps.email]\nattempts = 2\nfirst_wait = \"2s\"\n"})
	s.Fault(sandbox.Fault{Target: "resend.send", Mode: "drop"})
	first, second := s.Buy(nil), s.Buy(nil)
	for _, session := range []string{first, second} {
		s.Eventually("the email is uncertain", func() bool { return s.Status(session).Email.State == order.EmailUncertain })
		if id := providerID(t, s, session, "1"); id != "" {
			t.Errorf("the id is %q", id)
		}
	}
}
