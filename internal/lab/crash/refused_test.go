package crash_test

import (
	"strings"
	"testing"
	"time"

	"handover/internal/lab/crash"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

func TestAFinalRefusalStopsAtOnceAndKeepsTheAccess(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault  sandbox.Fault
		reason order.Reason
	}{
		"the address is refused": {sandbox.Fault{Status: 422, Name: "validation_error"}, order.ReasonEmailRefused},
		"the key is refused":     {sandbox.Fault{Status: 401, Name: "missing_api_key"}, order.ReasonEmailConfig},
		"the domain is refused":  {sandbox.Fault{Status: 403, Name: "validation_error"}, order.ReasonEmailConfig},
		"the key was used":       {sandbox.Fault{Status: 409, Name: "invalid_idempotent_request"}, order.ReasonEmailUncertain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := crash.Open(t, crash.Options{})
			c.fault.Target, c.fault.Mode = "resend.send", "refuse"
			s.Fault(c.fault)
			session := s.Buy(nil)
			s.Eventually("the email needs a person", func() bool {
				state := s.Status(session).Email.State
				return state == order.EmailAttention || state == order.EmailUncertain
			})
			if got := s.Sandbox.Counts().Emails.ByKey[harness.EmailKey(session, 1)].Calls; got != 1 {
				t.Errorf("%d calls, want 1", got)
			}
			if got := s.Status(session).Access.State; got != order.AccessGranted {
				t.Errorf("access is %s: an email that failed must not undo it", got)
			}
			out, _, _ := s.Command("status", "test/"+session)
			if !strings.Contains(out, c.reason.Title()) || !strings.Contains(out, "NEEDS ATTENTION") {
				t.Errorf("the status does not say that it needs attention and why, %s:\n%s", c.reason, out)
			}
			s.Sandbox.ClearFaults()
			if _, errs, code := s.Command("resend", "test/"+session, "--reason", "fixed"); code != 0 {
				t.Fatalf("resend ended %d: %s", code, errs)
			}
			s.AwaitState(session, order.CustomerReady)
			if out, _, _ := s.Command("list", "--attention"); strings.Contains(out, session) {
				t.Error("a repaired order is still on the attention list")
			}
		})
	}
}

func TestARateLimitIsWaitedForAndSpendsNothing(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	f := s.Fault(sandbox.Fault{Target: "resend.send", Mode: "rate_limit", RetryAfter: 2, Times: 1})
	session := s.Checkout(nil)
	began := time.Now()
	s.Report(session, harness.Completed, "")
	s.AwaitFault("fired", f, 1)
	s.SettledOnce(session, 1)
	if took := time.Since(began); took < 2*time.Second {
		t.Errorf("sent again after %s, although the provider asked for 2 s", took)
	}
	var attempts int
	row := s.Database().QueryRow(t.Context(), `SELECT attempts FROM obligations WHERE session = $1 AND kind = 'email'`, session)
	if err := row.Scan(&attempts); err != nil || attempts != 1 {
		t.Errorf("%d attempts were counted, %v; a rate limit counts as none", attempts, err)
	}
}

func TestASessionTheProviderDoesNotKnowNeedsAPerson(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	s.Fault(sandbox.Fault{Target: "stripe.session", Mode: "refuse", Status: 404, Name: "resource_missing"})
	session := s.Buy(nil)
	s.AwaitState(session, order.CustomerLooking)
	if got := s.Sandbox.Counts().Stripe.Retrieves[session]; got != 1 {
		t.Errorf("%d reads, want 1: a session that is not there does not come with repeating", got)
	}
	// The next event has it read again.
	s.Sandbox.ClearFaults()
	s.Report(session, harness.Completed, "")
	s.SettledOnce(session, 1)
}

func TestADeliveryEventIsKeptBesideAccepted(t *testing.T) {
	t.Parallel()
	s := crash.Open(t, crash.Options{})
	session := s.Buy(nil)
	s.SettledOnce(session, 1)
	m := s.Message(session)
	for _, kind := range []string{"email.delivered", "email.sent", "email.bounced", "email.delivered"} {
		d, err := s.Sandbox.DeliverEmailEvent(t.Context(), m.ID, sandbox.EmailEventRequest{Type: kind})
		if err != nil || d.Statuses[0] != 200 {
			t.Fatalf("%s was answered %v (%v)", kind, d.Statuses, err)
		}
	}
	status := s.Status(session)
	if status.Email.State != order.EmailAccepted || status.Email.Delivery != order.DeliveryBounced || status.CustomerState != order.CustomerBounced {
		t.Errorf("email %s, %s; the buyer sees %s", status.Email.State, status.Email.Delivery, status.CustomerState)
	}
	if status.Access.State != order.AccessGranted {
		t.Errorf("a bounce changed the access to %s", status.Access.State)
	}
}
