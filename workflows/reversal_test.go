package workflows_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/flow"
	"handover/internal/order"
)

// refund lets the provider tell of a refund or a dispute that makes this of the access.
func (s *scenario) refund(state order.AccessState) {
	s.world.reverse(state, false)
	s.money()
}

// money is the starter's signal about refunds and disputes.
func (s *scenario) money() {
	s.SignalWorkflow(flow.SignalPaymentEvent, map[string]string{"event": "evt_2", "about": flow.AboutReversal})
}

func TestRefundAfterDeliveryEndsTheAccessAndSendsNothing(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.at(3*day, func() { s.refund(order.AccessRevoked) })
	s.at(3*day+time.Hour, s.money) // the second event of the same refund
	s.run()
	if diff := cmp.Diff(after("CheckReversal", "ChangeAccess", "CheckReversal"), s.trace.all()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	want := flow.State{Payment: order.PaymentConfirmed, Access: order.AccessRevoked, Email: order.EmailAccepted, Generation: 1}
	if diff := cmp.Diff(want, s.state()); diff != "" || s.open() {
		t.Errorf("open %v, state (-want +got):\n%s", s.open(), diff)
	}
}

func TestRefundThatCameFirstGivesNothing(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.world.reverse(order.AccessRevoked, false)
	s.run()
	if len(s.world.broken) > 0 || s.world.count("SendAccessEmail") != 0 || s.world.access == order.AccessGranted {
		t.Errorf("%d emails, access %s, %v", s.world.count("SendAccessEmail"), s.world.access, s.world.broken)
	}
	if got := s.state(); got.Access != order.AccessRevoked || got.Reason != "" {
		t.Errorf("%+v", got)
	}
}

func TestDisputeHoldsBackAnEmailThatWaitsAndItsEndSendsItOnce(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.world.send = func(n, _ int) (sent, error) {
		if n == 1 {
			return sent{Email: order.EmailPending, WaitSeconds: 7200}, nil
		}
		return sent{Email: order.EmailAccepted}, nil
	}
	s.at(time.Hour, func() { s.refund(order.AccessHeld) })
	sent := -1
	s.at(4*day, func() { sent = s.world.count("SendAccessEmail") })
	s.at(5*day, func() { s.refund(order.AccessGranted) })
	s.run()
	if sent != 1 {
		t.Errorf("%d sends while it was held, want only the one before", sent)
	}
	if n := s.world.count("SendAccessEmail"); n != 2 {
		t.Errorf("%d sends in all, want one more after the dispute was won", n)
	}
	if got := s.state(); got.Access != order.AccessGranted || got.Email != order.EmailAccepted {
		t.Errorf("%+v", got)
	}
}

func TestRefundIsNotHeldUpByAnEmailThatIsUnderWay(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.cfg.Email.FirstWait, s.cfg.Email.LongestWait, s.cfg.Email.Attempts = 6*time.Hour, 6*time.Hour, 8
	s.world.send = func(int, int) (sent, error) {
		return sent{}, failure(order.ClassUnknown)
	}
	s.at(time.Hour, func() { s.refund(order.AccessRevoked) })
	var state flow.State
	s.at(2*time.Hour, func() { state = s.state() })
	s.run()
	if state.Access != order.AccessRevoked {
		t.Errorf("an hour after the refund access is %s", state.Access)
	}
}

func TestPartialRefundAsksAPersonAndTellsTheOwner(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.at(3*day, func() { s.world.reverse(order.AccessGranted, true); s.money() })
	var details string
	s.at(4*day, func() { details = s.details() })
	s.at(100*day, func() {
		s.SignalWorkflow(flow.KindRestore, raw(`{"reason":"a goodwill refund","request_id":"r1"}`))
	})
	s.run()
	want := after("CheckReversal", "state needs_attention", "DecideRequest r1", "state automatic")
	if diff := cmp.Diff(want, s.trace.all()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if len(s.trace.alerts) != 1 || s.trace.alerts[0] != order.ReasonRefundUnclear {
		t.Errorf("the owner was notified %v", s.trace.alerts)
	}
	if !strings.Contains(details, "names no item") || !strings.Contains(details, "| access | granted |") || !strings.Contains(details, "starter revoke test/cs_test_a1") {
		t.Errorf("the details do not say it:\n%s", details)
	}
	if s.open() {
		t.Error("it is still open after a person has decided")
	}
}

func TestRevokeAndRestoreBySignalAndByUpdate(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.at(day, func() {
		s.SignalWorkflow(flow.KindRevoke, raw(`{"reason":"shared in public","request_id":"r1"}`))
	})
	var revoked flow.State
	s.at(day+time.Hour, func() { revoked = s.state() })
	s.at(2*day, func() { s.SignalWorkflow(flow.KindRevoke, raw(`revoke`)) }) // is refused and said so
	var details string
	s.at(2*day+time.Hour, func() { details = s.details() })
	s.at(3*day, func() { s.SignalWorkflow(flow.KindRestore, raw(`{"reason":"a mistake","request_id":"r2"}`)) })
	s.run()
	want := after("DecideRequest r1", "ChangeAccess", "DecideRequest signal/first-run/1", "DecideRequest r2", "ChangeAccess")
	if diff := cmp.Diff(want, s.trace.all()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if revoked.Access != order.AccessRevoked || s.state().Access != order.AccessGranted {
		t.Errorf("revoked: %s, restored: %s", revoked.Access, s.state().Access)
	}
	if !strings.Contains(details, "A revoke was refused: the payload cannot be read") {
		t.Errorf("the details do not say that a signal could not be read:\n%s", details)
	}
}

func TestProviderThatAsksToWaitIsAskedAgainAboutARefund(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.world.review = func(n int) (int, error) { return max(0, 3-n) * 60, nil }
	s.at(day, func() { s.refund(order.AccessRevoked) })
	s.run()
	want := after("CheckReversal", "timer 2m0s", "CheckReversal", "timer 1m0s", "CheckReversal", "ChangeAccess")
	if diff := cmp.Diff(want, s.trace.all()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

func TestRefundThatCannotBeReadNeedsAPersonAndKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.world.review = func(n int) (int, error) {
		if n <= 3 {
			return 0, failure(order.ClassRetry)
		}
		return 0, nil
	}
	s.at(day, func() { s.refund(order.AccessRevoked) })
	var stopped flow.State
	s.at(60*day, func() { stopped = s.state() })
	s.at(61*day, s.money)
	s.run()
	want := flow.State{Payment: order.PaymentConfirmed, Access: order.AccessGranted, Email: order.EmailAccepted, Generation: 1, Reason: order.ReasonReversalUnread}
	if diff := cmp.Diff(want, stopped); diff != "" {
		t.Errorf("after three failures (-want +got):\n%s", diff)
	}
	if got := s.state(); got.Access != order.AccessRevoked || got.Reason != "" || s.open() {
		t.Errorf("after another event: open %v, %+v", s.open(), got)
	}
}

func TestNothingIsGivenWhileARefundThatCameFirstCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, class := range []order.Class{order.ClassMisconfigured, order.ClassPermanent, order.ClassRetry} {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			s := newScenario(t)
			s.world.reverse(order.AccessRevoked, false)
			s.world.review = func(int) (int, error) { return 0, failure(class) }
			s.run()
			if n := s.world.count("GrantAccess") + s.world.count("SendAccessEmail"); n != 0 || !s.open() || s.state().Reason == "" {
				t.Errorf("%d steps, open %v, %+v", n, s.open(), s.state())
			}
		})
	}
}

func TestRunThatTakesUpAnOrderFinishesTheRefund(t *testing.T) {
	t.Parallel()
	for name, owed := range map[string]money{
		"the review is owed": {provider: order.AccessRevoked, wanted: order.AccessGranted, reviewDue: true},
		"the change is owed": {provider: order.AccessRevoked, wanted: order.AccessRevoked, changeDue: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScenario(t)
			s.world.deliver()
			s.world.money = owed
			s.input.Known = true
			s.run()
			if got := s.state(); got.Access != order.AccessRevoked || s.world.access != order.AccessRevoked || len(s.world.broken) > 0 {
				t.Errorf("%+v, %v", got, s.world.broken)
			}
		})
	}
}
