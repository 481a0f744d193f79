package workflows_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/activities"
	"handover/internal/flow"
	"handover/internal/order"
)

func TestStraightPathOrdersThreeStepsAndOneTimer(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	var asked activities.ConfirmPaymentInput
	s.world.confirm = func(_ int, in activities.ConfirmPaymentInput) (checked, error) {
		asked = in
		return checked{Payment: order.PaymentConfirmed}, nil
	}
	s.run()
	if s.open() {
		t.Fatal("the order did not close")
	}
	want := []string{"ConfirmPayment", "GrantAccess", "SendAccessEmail 1", "timer 720h0m0s"}
	if diff := cmp.Diff(want, s.trace.all()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if open := s.Now().Sub(s.began); open < 30*day || open > 30*day+time.Minute {
		t.Errorf("closed after %s, want 30 days", open)
	}
	var result flow.State
	if err := s.GetWorkflowResult(&result); err != nil {
		t.Fatal(err)
	}
	delivered := flow.State{Payment: order.PaymentConfirmed, Access: order.AccessGranted, Email: order.EmailAccepted, Generation: 1}
	if diff := cmp.Diff(delivered, result); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(delivered, s.state()); diff != "" {
		t.Errorf("state query (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(activities.ConfirmPaymentInput{Key: key, Event: "evt_1", Origin: "first-run"}, asked); diff != "" {
		t.Errorf("asked for the payment with (-want +got):\n%s", diff)
	}
	for _, line := range []string{"| payment | confirmed |", "| access | granted |", "| email | accepted (generation 1) |"} {
		if !strings.Contains(s.details(), line) {
			t.Errorf("details lack %q:\n%s", line, s.details())
		}
	}
}

func TestInputThatIsNoOrderFails(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.input.Session = "no such/session"
	s.run()
	if err := s.GetWorkflowError(); err == nil || !strings.Contains(err.Error(), "order key") {
		t.Errorf("error = %v, want one that names the order key", err)
	}
	if len(s.trace.all()) != 0 {
		t.Errorf("it ordered %v", s.trace.all())
	}
}

// pendingUntil answers that the payment is pending until it is changed.
func pendingUntil(attempt int) func(int, activities.ConfirmPaymentInput) (checked, error) {
	return func(n int, _ activities.ConfirmPaymentInput) (checked, error) {
		if n < attempt {
			return checked{Payment: order.PaymentPending}, nil
		}
		return checked{Payment: order.PaymentConfirmed}, nil
	}
}

func TestPendingPaymentIsLookedAtOnAWideningTimer(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.world.confirm = pendingUntil(8)
	s.run()
	want := []string{
		"ConfirmPayment", "timer 1m0s", "ConfirmPayment", "timer 10m0s", "ConfirmPayment", "timer 1h0m0s", "ConfirmPayment", "timer 6h0m0s",
		"ConfirmPayment", "timer 24h0m0s", "ConfirmPayment", "timer 24h0m0s", "ConfirmPayment", "timer 24h0m0s", "ConfirmPayment",
		"GrantAccess", "SendAccessEmail 1", "timer 720h0m0s",
	}
	if diff := cmp.Diff(want, s.trace.all()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

func TestPaymentEventMakesItLookAtOnce(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	var looked []time.Duration
	s.world.confirm = func(n int, in activities.ConfirmPaymentInput) (checked, error) {
		looked = append(looked, s.Now().Sub(s.began))
		return pendingUntil(3)(n, in)
	}
	s.at(3*time.Minute, func() { s.SignalWorkflow(flow.SignalPaymentEvent, map[string]string{"event": "evt_2"}) })
	s.run()
	if len(looked) != 3 || looked[2] < 3*time.Minute || looked[2] > 3*time.Minute+30*time.Second {
		t.Errorf("looked at %v, want the third look with the event at 3 minutes", looked)
	}
}

func TestEventDuringALookMakesItLookAgain(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.world.confirm = func(n int, in activities.ConfirmPaymentInput) (checked, error) {
		if n == 1 {
			s.SignalWorkflow(flow.SignalPaymentEvent, nil)
		}
		return pendingUntil(2)(n, in)
	}
	s.run()
	if waited := s.Now().Sub(s.began) - 30*day; waited > 30*time.Second {
		t.Errorf("delivered after %s, want no wait for the timer", waited)
	}
	if n := s.world.count("ConfirmPayment"); n != 2 {
		t.Errorf("%d looks, want 2", n)
	}
}

func TestProviderThatAsksToWaitIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.world.confirm = func(n int, _ activities.ConfirmPaymentInput) (checked, error) {
		if n == 1 {
			return checked{Payment: order.PaymentPending, WaitSeconds: 7}, nil
		}
		return checked{Payment: order.PaymentConfirmed}, nil
	}
	s.run()
	want := []string{"ConfirmPayment", "timer 7s", "ConfirmPayment", "GrantAccess", "SendAccessEmail 1", "timer 720h0m0s"}
	if diff := cmp.Diff(want, s.trace.all()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

func TestPaymentThatNeverComesNeedsAttentionAndIsStillListenedFor(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.world.confirm = pendingUntil(1000)
	var overdue flow.State
	s.at(15*day, func() { overdue = s.state() })
	s.at(100*day, func() {
		s.world.confirm = pendingUntil(1)
		s.SignalWorkflow(flow.SignalPaymentEvent, nil)
	})
	s.run()
	if overdue.Payment != order.PaymentAttention || overdue.Reason != order.ReasonPaymentOverdue {
		t.Errorf("after 14 days: %+v, want attention because the payment is overdue", overdue)
	}
	if s.open() {
		t.Error("the order did not close after it was delivered")
	}
	got := s.trace.all()
	if looks := strings.Count(strings.Join(got, "\n"), "ConfirmPayment"); looks != 19 {
		t.Errorf("%d looks, want 18 in 14 days and one for the late event", looks)
	}
	want := []string{
		"StopStep payment attempts_spent", "state needs_attention", "ConfirmPayment", "state automatic", "GrantAccess", "SendAccessEmail 1", "timer 720h0m0s",
	}
	if diff := cmp.Diff(want, got[len(got)-len(want):]); diff != "" {
		t.Errorf("commands at the end (-want +got):\n%s", diff)
	}
}

func TestAttentionIsTakenBackWhileALatePaymentIsOnItsWay(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.world.confirm = func(n int, _ activities.ConfirmPaymentInput) (checked, error) {
		if n == 1 {
			return checked{}, failure(order.ClassPermanent)
		}
		return checked{Payment: order.PaymentPending}, nil
	}
	s.at(day, func() { s.SignalWorkflow(flow.SignalPaymentEvent, nil) })
	s.limit = 2 * day
	s.run()
	want := []string{
		"ConfirmPayment", "StopStep payment permanent", "state needs_attention", "ConfirmPayment", "state automatic",
		"timer 1m0s", "ConfirmPayment", "timer 10m0s", "ConfirmPayment", "timer 1h0m0s", "ConfirmPayment", "timer 6h0m0s", "ConfirmPayment", "timer 24h0m0s",
	}
	if diff := cmp.Diff(want, s.trace.all()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

func TestOrdersThatAreNotDeliveredEndAtOnce(t *testing.T) {
	t.Parallel()
	for _, payment := range []order.PaymentState{order.PaymentFailed, order.PaymentIgnored} {
		t.Run(string(payment), func(t *testing.T) {
			t.Parallel()
			s := newScenario(t)
			s.world.confirm = func(int, activities.ConfirmPaymentInput) (checked, error) {
				return checked{Payment: payment}, nil
			}
			s.run()
			if diff := cmp.Diff([]string{"ConfirmPayment"}, s.trace.all()); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
			if s.open() || s.state().Payment != payment {
				t.Errorf("open %v, state %+v; want it closed as %s", s.open(), s.state(), payment)
			}
		})
	}
}

// An event can arrive in the very task in which the run is about to end, by itself or behind another message.
func TestEventAtTheVeryEndIsLookedAt(t *testing.T) {
	t.Parallel()
	for name, before := range map[string][]string{"alone": nil, "behind a request": {"DecideRequest signal/first-run/1"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScenario(t)
			s.world.confirm = func(n int, _ activities.ConfirmPaymentInput) (checked, error) {
				if n > 1 {
					return checked{Payment: order.PaymentConfirmed}, nil
				}
				for range before {
					s.SignalWorkflowSkippingWorkflowTask(flow.KindResend, raw("unreadable"))
				}
				s.SignalWorkflowSkippingWorkflowTask(flow.SignalPaymentEvent, nil)
				return checked{Payment: order.PaymentIgnored}, nil
			}
			s.run()
			want := slices.Concat([]string{"ConfirmPayment"}, before, []string{"ConfirmPayment", "GrantAccess", "SendAccessEmail 1", "timer 720h0m0s"})
			if diff := cmp.Diff(want, s.trace.all()); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnknownItemsGrantNothingAndWaitForAPerson(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.world.confirm = func(int, activities.ConfirmPaymentInput) (checked, error) {
		return checked{Payment: order.PaymentConfirmed, Reason: order.ReasonItemsUnknown}, nil
	}
	s.run()
	if !s.open() {
		t.Error("it closed, with nobody having decided")
	}
	if diff := cmp.Diff([]string{"ConfirmPayment", "state needs_attention"}, s.trace.all()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	want := flow.State{
		Payment: order.PaymentConfirmed, Access: order.AccessAttention, Email: order.EmailPending, Generation: 1, Reason: order.ReasonItemsUnknown,
	}
	if diff := cmp.Diff(want, s.state()); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
	if !strings.Contains(s.details(), needsAttention("Some items are not in the catalogue", order.ReasonItemsUnknown)) {
		t.Errorf("details do not say what to do:\n%s", s.details())
	}
}

func TestUnknownItemsAreLookedAtAgainWhenToldTo(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.world.confirm = func(n int, _ activities.ConfirmPaymentInput) (checked, error) {
		switch n {
		case 1, 2:
			return checked{Payment: order.PaymentConfirmed, Reason: order.ReasonItemsUnknown}, nil
		case 3:
			return checked{}, failure(order.ClassPermanent)
		}
		return checked{Payment: order.PaymentConfirmed}, nil
	}
	for i := range 3 {
		s.at(time.Duration(i+1)*day, func() { s.SignalWorkflow(flow.SignalPaymentEvent, nil) })
	}
	s.run()
	want := []string{
		"ConfirmPayment", "state needs_attention", "ConfirmPayment", "ConfirmPayment", "ConfirmPayment",
		"state automatic", "GrantAccess", "SendAccessEmail 1", "timer 720h0m0s",
	}
	if diff := cmp.Diff(want, s.trace.all()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if s.open() {
		t.Error("it did not close after it was delivered")
	}
}

func TestBuyerWithoutAnAddressGetsAccessAndAResendFinishesIt(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.world.address = ""
	s.world.confirm = func(int, activities.ConfirmPaymentInput) (checked, error) {
		return checked{Payment: order.PaymentConfirmed, Reason: order.ReasonNoAddress}, nil
	}
	var waiting flow.State
	s.at(50*day, func() {
		waiting = s.state()
		s.world.address = "given by the operator"
		s.resend(`{"reason":"the buyer called","request_id":"req_1"}`)
	})
	s.run()
	wantWaiting := flow.State{
		Payment: order.PaymentConfirmed, Access: order.AccessGranted, Email: order.EmailAttention, Generation: 1, Reason: order.ReasonNoAddress,
	}
	if diff := cmp.Diff(wantWaiting, waiting); diff != "" {
		t.Errorf("state while waiting (-want +got):\n%s", diff)
	}
	want := []string{
		"ConfirmPayment", "state needs_attention", "GrantAccess", "DecideRequest req_1", "state automatic", "SendAccessEmail 2", "timer 720h0m0s",
	}
	if diff := cmp.Diff(want, s.trace.all()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if s.open() {
		t.Error("it did not close 30 days after it was delivered")
	}
}
