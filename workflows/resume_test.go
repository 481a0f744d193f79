package workflows_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/activities"
	"handover/internal/flow"
	"handover/internal/order"
)

// resumed is a run that was started for an order that had been worked on before.
func resumed(t *testing.T) *scenario {
	s := newScenario(t)
	s.input.Known, s.input.Event = true, ""
	return s
}

func TestResumedRunDoesOnlyWhatIsMissing(t *testing.T) {
	t.Parallel()
	const left = "timer 240h0m0s" // ten of the thirty days
	for name, c := range map[string]struct {
		known known
		want  []string
		open  bool
	}{
		"nothing known": {
			known: known{Payment: order.PaymentPending, Access: order.AccessPending, Email: order.EmailPending, Generation: 1},
			want:  []string{"ReadOrder", "ConfirmPayment", "GrantAccess", "SendAccessEmail 1", "timer 720h0m0s"},
		},
		"payment failed before": {
			known: known{Payment: order.PaymentFailed, Access: order.AccessPending, Email: order.EmailPending, Generation: 1},
			want:  []string{"ReadOrder", "ConfirmPayment", "GrantAccess", "SendAccessEmail 1", "timer 720h0m0s"},
		},
		"payment ignored before": {
			known: known{Payment: order.PaymentIgnored, Access: order.AccessPending, Email: order.EmailPending, Generation: 1},
			want:  []string{"ReadOrder", "ConfirmPayment", "GrantAccess", "SendAccessEmail 1", "timer 720h0m0s"},
		},
		"payment stopped": {
			known: known{Payment: order.PaymentAttention, Access: order.AccessPending, Email: order.EmailPending, Generation: 1,
				Reason: order.ReasonPaymentOverdue},
			want: []string{"ReadOrder", "state needs_attention", "ConfirmPayment", "state automatic", "GrantAccess", "SendAccessEmail 1", "timer 720h0m0s"},
		},
		"paid, nothing granted": {
			known: known{Payment: order.PaymentConfirmed, Access: order.AccessPending, Email: order.EmailPending, Generation: 1, OpenSeconds: 864000},
			want:  []string{"ReadOrder", "GrantAccess", "SendAccessEmail 1", left},
		},
		"granted, email missing": {
			known: known{Payment: order.PaymentConfirmed, Access: order.AccessGranted, Email: order.EmailPending, Generation: 1, OpenSeconds: 864000},
			want:  []string{"ReadOrder", "SendAccessEmail 1", left},
		},
		"a later email missing": {
			known: known{Payment: order.PaymentConfirmed, Access: order.AccessGranted, Email: order.EmailPending, Generation: 3, OpenSeconds: 864000},
			want:  []string{"ReadOrder", "SendAccessEmail 3", left},
		},
		"delivered": {
			known: known{Payment: order.PaymentConfirmed, Access: order.AccessGranted, Email: order.EmailAccepted, Generation: 2, OpenSeconds: 864000},
			want:  []string{"ReadOrder", left},
		},
		"delivered, its time is over": {
			known: known{Payment: order.PaymentConfirmed, Access: order.AccessGranted, Email: order.EmailAccepted, Generation: 2},
			want:  []string{"ReadOrder"},
		},
		"email missing, its time is over": {
			known: known{Payment: order.PaymentConfirmed, Access: order.AccessGranted, Email: order.EmailPending, Generation: 1},
			want:  []string{"ReadOrder", "SendAccessEmail 1"},
		},
		"access revoked": {
			known: known{Payment: order.PaymentConfirmed, Access: order.AccessRevoked, Email: order.EmailAccepted, Generation: 1, OpenSeconds: 864000},
			want:  []string{"ReadOrder", left},
		},
		"items unknown, and known since": {
			known: known{Payment: order.PaymentConfirmed, Access: order.AccessAttention, Email: order.EmailPending, Generation: 1,
				Reason: order.ReasonItemsUnknown, OpenSeconds: 864000},
			want: []string{"ReadOrder", "state needs_attention", "ConfirmPayment", "state automatic", "GrantAccess", "SendAccessEmail 1", left},
		},
		"email stopped": {
			known: known{Payment: order.PaymentConfirmed, Access: order.AccessGranted, Email: order.EmailAttention, Generation: 1,
				Reason: order.ReasonEmailRefused, OpenSeconds: 864000},
			want: []string{"ReadOrder", "state needs_attention"}, open: true,
		},
		"email uncertain, its time is over": {
			known: known{Payment: order.PaymentConfirmed, Access: order.AccessGranted, Email: order.EmailUncertain, Generation: 1,
				Reason: order.ReasonEmailUncertain},
			want: []string{"ReadOrder", "state needs_attention"}, open: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := resumed(t)
			s.world.read = func(int) (known, error) { return c.known, nil }
			s.world.payment, s.world.access, s.world.reason = c.known.Payment, c.known.Access, c.known.Reason
			switch c.known.Access {
			case order.AccessRevoked:
				s.world.access = order.AccessGranted
			case order.AccessAttention: // by the reason only
				s.world.access = order.AccessPending
			}
			s.world.emails = make([]generation, c.known.Generation)
			s.run()
			if diff := cmp.Diff(c.want, s.trace.all()); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
			if s.open() != c.open {
				t.Errorf("open = %v, want %v", s.open(), c.open)
			}
			if len(s.world.broken) > 0 {
				t.Errorf("broken: %v", s.world.broken)
			}
		})
	}
}

// A signal starts the run that carries it out: both are there before the ledger has been read.
func TestRequestThatStartedTheRunIsCarriedOut(t *testing.T) {
	t.Parallel()
	for name, openSeconds := range map[string]int{"still open": 864000, "its time is over": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := resumed(t)
			s.world.deliver()
			before := known{Payment: order.PaymentConfirmed, Access: order.AccessGranted, Email: order.EmailAccepted, Generation: 1, OpenSeconds: openSeconds}
			// The ledger is read at the same time as the request is decided, and may know nothing of it.
			s.world.read = func(int) (known, error) { return before, nil }
			s.at(0, func() {
				s.SignalWorkflowSkippingWorkflowTask(flow.KindResend, raw(`{"reason":"the buyer asked","request_id":"req_1"}`))
			})
			s.run()
			want := []string{"ReadOrder", "DecideRequest req_1", "SendAccessEmail 2"}
			if openSeconds > 0 {
				want = append(want, "timer 240h0m0s")
			}
			if diff := cmp.Diff(want, s.trace.all()); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
			if state := s.state(); state.Generation != 2 || state.Email != order.EmailAccepted {
				t.Errorf("state %+v, want generation 2 accepted", state)
			}
		})
	}
}

// A reset begins from nothing with the earlier signals again: the decision about the first is where the run learns that
// everything is done, and for how long it still listens.
func TestResetRunThatLearnsOfItsStateFromADecisionStillListens(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.world.deliver()
	s.world.openSeconds = 864000
	s.world.decided["req_1"] = flow.Answer{Outcome: order.OutcomeSending, Generation: 1}
	s.at(0, func() {
		s.SignalWorkflowSkippingWorkflowTask(flow.KindResend, raw(`{"reason":"the buyer asked","request_id":"req_1"}`))
	})
	s.run()
	got := s.trace.all()
	if last := got[len(got)-1]; last != "timer 240h0m0s" || s.world.count("SendAccessEmail") != 0 || s.open() {
		t.Errorf("open %v, commands %v", s.open(), got)
	}
}

func TestEventThatStartedTheRunIsLookedAt(t *testing.T) {
	t.Parallel()
	s := resumed(t)
	s.world.payment = order.PaymentIgnored
	s.at(0, func() { s.SignalWorkflowSkippingWorkflowTask(flow.SignalPaymentEvent, nil) })
	s.run()
	want := []string{"ReadOrder", "ConfirmPayment", "GrantAccess", "SendAccessEmail 1", "timer 720h0m0s"}
	if diff := cmp.Diff(want, s.trace.all()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

func TestResumedRunWaitsForTheLedger(t *testing.T) {
	t.Parallel()
	s := resumed(t)
	s.world.read = s.awayFor(2 * day)
	var asked activities.ConfirmPaymentInput
	s.world.confirm = func(_ int, in activities.ConfirmPaymentInput) (checked, error) {
		asked = in
		return checked{Payment: order.PaymentConfirmed}, nil
	}
	s.run()
	got := slices.Compact(slices.DeleteFunc(s.trace.all(), func(line string) bool { return line == "timer 2s" || line == "timer 4s" }))
	want := []string{"ReadOrder", "ConfirmPayment", "GrantAccess", "SendAccessEmail 1", "timer 720h0m0s"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if !asked.Again {
		t.Error("the step does not know that the payment may have been confirmed before")
	}
	if s.Now().Sub(s.began) < 30*day+time.Hour {
		t.Error("it did not listen for thirty days after the outage")
	}
}
