package crash_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/lab/crash"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

// The provider accepted each of these emails, the answer was lost, and the worker died. By the time that another one runs
// the first attempt is so old: what is inside the window goes again under the same key, and is recognised; what is not
// is never sent again, by nobody. The window is 24 hours less a margin of one.
func TestNoSendStartsPastTheWindowAndEvidenceSettlesWhatIsUncertain(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{Config: brisk, Failpoints: true})
	s.Fault(mayOnlySend) // what the provider's list proves is another test's
	ages := []struct {
		age    time.Duration
		inside bool
	}{
		{time.Hour, true}, {22 * time.Hour, true}, {22*time.Hour + 58*time.Minute, true},
		{23 * time.Hour, false}, {23*time.Hour + time.Second, false}, {24 * time.Hour, false}, {40 * 24 * time.Hour, false},
	}
	sessions := make([]string, len(ages))
	s.Arm("email.answered", len(ages))
	for i := range ages {
		sessions[i] = s.Buy(twoUnits)
		s.At("email.answered")
	}
	s.Worker.Kill()
	for i, a := range ages {
		s.Exec(`UPDATE obligations SET first_attempt_at = clock_timestamp() - $2::interval, claim_expires_at = clock_timestamp()
WHERE session = $1 AND kind = 'email'`, sessions[i], a.age)
	}
	s.StartWorker()
	for i, a := range ages {
		t.Run(a.age.String(), func(t *testing.T) {
			if a.inside {
				want := delivered(1, 2)
				s.AwaitOutcome(sessions[i], want)
				if diff := cmp.Diff(want, s.Outcome(sessions[i])); diff != "" {
					t.Errorf("in the end (-want +got):\n%s", diff)
				}
				return
			}
			pastTheWindow(t, s, sessions[i])
		})
	}
}

// pastTheWindow holds that an email is uncertain and stays unsent whatever is tried, until its provider reports it.
func pastTheWindow(t *testing.T, s *crash.Shop, session string) {
	t.Helper()
	want := delivered(1, 1)
	want.Email, want.Buyer = order.EmailUncertain, order.CustomerEmailPending
	want.Stopped, want.Attention = 1, order.ReasonEmailUncertain
	s.AwaitOutcome(session, want)
	if diff := cmp.Diff(want, s.Outcome(session)); diff != "" {
		t.Errorf("past the window (-want +got):\n%s", diff)
	}
	out, errs, code := s.Command("retry", "test/"+session, "--reason", "let us see")
	if code != 1 || !strings.Contains(out+errs, "resend") {
		t.Errorf("a retry past the window ended %d and should name resend:\n%s%s", code, out, errs)
	}
	s.Report(session, harness.Completed, "") // an event that brings nothing new
	if diff := cmp.Diff(want, s.Outcome(session)); diff != "" {
		t.Errorf("after all that was tried (-want +got):\n%s", diff)
	}
	d, err := s.Sandbox.DeliverEmailEvent(t.Context(), s.Message(session).ID, sandbox.EmailEventRequest{Type: "email.sent"})
	if err != nil || d.Statuses[0] != 200 {
		t.Fatalf("the event was answered %v, %v", d.Statuses, err)
	}
	s.AwaitOutcome(session, delivered(1, 1))
	if diff := cmp.Diff(delivered(1, 1), s.Outcome(session)); diff != "" {
		t.Errorf("with the provider's evidence (-want +got):\n%s", diff)
	}
}
