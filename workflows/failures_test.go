package workflows_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"handover/activities"
	"handover/internal/flow"
	"handover/internal/order"
)

// failing makes one step fail with the error on every attempt up to the last one given.
func (s *scenario) failing(step string, upTo int, err error) {
	switch step {
	case "ConfirmPayment":
		s.world.confirm = func(n int, _ activities.ConfirmPaymentInput) (checked, error) {
			if n <= upTo {
				return checked{}, err
			}
			return checked{Payment: order.PaymentConfirmed}, nil
		}
	case "GrantAccess":
		s.world.grant = func(n int) error {
			if n <= upTo {
				return err
			}
			return nil
		}
	case "SendAccessEmail":
		s.world.send = func(n, _ int) (sent, error) {
			if n <= upTo {
				return sent{}, err
			}
			return sent{Email: order.EmailAccepted}, nil
		}
	}
}

const always = 1 << 30

func TestStepThatEndsForGoodIsMarkedForAPerson(t *testing.T) {
	t.Parallel()
	dead := temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_START_TO_CLOSE, nil)
	failures := []struct {
		name     string
		err      error
		attempts int
		class    order.Class
	}{
		{"permanent", failure(order.ClassPermanent), 1, order.ClassPermanent},
		{"misconfigured", failure(order.ClassMisconfigured), 1, order.ClassMisconfigured},
		{"spent", failure(order.ClassExhausted), 1, order.ClassExhausted},
		{"past window", failure(order.ClassPastWindow), 1, order.ClassPastWindow},
		{"uncertain", failure(order.ClassUncertain), 1, order.ClassUncertain},
		{"retry", failure(order.ClassRetry), 3, order.ClassExhausted},
		{"unknown outcome", failure(order.ClassUnknown), 3, order.ClassUnknown},
		{"no answer", dead, 3, order.ClassUnknown},
		{"panic", temporal.NewApplicationError("runtime error", "PanicError"), 3, order.ClassExhausted},
		{"cancelled", temporal.NewCanceledError(), 1, order.ClassExhausted},
	}
	steps := []struct {
		activity, step string
		before         []string
		state          flow.State
	}{
		{"ConfirmPayment", "payment", []string{"ConfirmPayment"}, flow.State{
			Payment: order.PaymentAttention, Access: order.AccessPending, Email: order.EmailPending, Generation: 1, Reason: order.ReasonPaymentStopped}},
		{"GrantAccess", "access", []string{"ConfirmPayment", "GrantAccess"}, flow.State{
			Payment: order.PaymentConfirmed, Access: order.AccessAttention, Email: order.EmailPending, Generation: 1, Reason: order.ReasonAccessStopped}},
		{"SendAccessEmail", "email", []string{"ConfirmPayment", "GrantAccess", "SendAccessEmail 1"}, flow.State{
			Payment: order.PaymentConfirmed, Access: order.AccessGranted, Email: order.EmailAttention, Generation: 1, Reason: order.ReasonEmailExhausted}},
	}
	for _, step := range steps {
		for _, f := range failures {
			t.Run(step.step+"/"+f.name, func(t *testing.T) {
				t.Parallel()
				s := newScenario(t)
				s.failing(step.activity, always, f.err)
				s.run()
				if !s.open() {
					t.Error("it closed, with nobody having decided")
				}
				want := append(slices.Clone(step.before), "StopStep "+step.step+" "+string(f.class), "state needs_attention")
				if diff := cmp.Diff(want, s.trace.all()); diff != "" {
					t.Errorf("commands (-want +got):\n%s", diff)
				}
				if n := s.world.count(step.activity); n != f.attempts {
					t.Errorf("%d attempts, want %d", n, f.attempts)
				}
				state := step.state
				state.Reason = order.ReasonFor(order.Step(step.step), f.class)
				if step.step == "email" && (f.class == order.ClassUnknown || f.class == order.ClassUncertain || f.class == order.ClassPastWindow) {
					state.Email = order.EmailUncertain
				}
				if diff := cmp.Diff(state, s.state()); diff != "" {
					t.Errorf("state (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestPassingFaultChangesNothing(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"ConfirmPayment", "GrantAccess", "SendAccessEmail"} {
		for _, class := range []order.Class{order.ClassRetry, order.ClassUnknown} {
			t.Run(step+"/"+string(class), func(t *testing.T) {
				t.Parallel()
				s := newScenario(t)
				s.failing(step, 2, failure(class))
				s.run()
				want := []string{"ConfirmPayment", "GrantAccess", "SendAccessEmail 1", "timer 720h0m0s"}
				if diff := cmp.Diff(want, s.trace.all()); diff != "" {
					t.Errorf("commands (-want +got):\n%s", diff)
				}
				if n := s.world.count(step); n != 3 {
					t.Errorf("%d attempts, want 3", n)
				}
			})
		}
	}
}

func TestNamespaceWithoutOurAttributesIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.input.Attributes = false
	s.failing("SendAccessEmail", 1, failure(order.ClassPermanent))
	s.at(day, func() { s.resend(`{"reason":"mended","request_id":"req_1"}`) })
	s.run()
	want := []string{
		"ConfirmPayment", "GrantAccess", "SendAccessEmail 1", "StopStep email permanent", "DecideRequest req_1", "SendAccessEmail 2", "timer 720h0m0s",
	}
	if diff := cmp.Diff(want, s.trace.all()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

func TestDetailsSayWhatAPersonCanDoAndForgetItAfterwards(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.failing("SendAccessEmail", 1, failure(order.ClassPermanent))
	var stopped string
	s.at(day, func() {
		stopped = s.details()
		s.resend(`{"reason":"mended"}`)
	})
	s.run()
	if want := needsAttention("The email provider refused the message", order.ReasonEmailRefused); !strings.Contains(stopped, want) {
		t.Errorf("details while stopped lack %q:\n%s", want, stopped)
	}
	if got := s.details(); strings.Contains(got, "Needs attention") || !strings.Contains(got, "| email | accepted (generation 2) |") {
		t.Errorf("details afterwards:\n%s", got)
	}
}

func TestResendTakesTheOrderOffTheListWhileItIsUnderWay(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.world.send = func(n, _ int) (sent, error) {
		switch n {
		case 1:
			return sent{}, failure(order.ClassPermanent)
		case 2:
			return sent{Email: order.EmailPending, WaitSeconds: 3600}, nil
		}
		return sent{Email: order.EmailAccepted}, nil
	}
	s.at(day, func() { s.resend(`{"reason":"mended","request_id":"req_1"}`) })
	var underWay flow.State
	s.at(day+30*time.Minute, func() { underWay = s.state() })
	s.run()
	want := flow.State{Payment: order.PaymentConfirmed, Access: order.AccessGranted, Email: order.EmailPending, Generation: 2}
	if diff := cmp.Diff(want, underWay); diff != "" {
		t.Errorf("state under way (-want +got):\n%s", diff)
	}
	commands := []string{
		"ConfirmPayment", "GrantAccess", "SendAccessEmail 1", "StopStep email permanent", "state needs_attention",
		"DecideRequest req_1", "state automatic", "SendAccessEmail 2", "timer 1h0m0s", "SendAccessEmail 2", "timer 720h0m0s",
	}
	if diff := cmp.Diff(commands, s.trace.all()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

func TestPaymentThatCouldNotBeLookedUpRecoversWithAnEvent(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.failing("ConfirmPayment", 1, failure(order.ClassMisconfigured))
	s.at(3*day, func() { s.SignalWorkflow(flow.SignalPaymentEvent, nil) })
	s.run()
	want := []string{
		"ConfirmPayment", "StopStep payment misconfigured", "state needs_attention",
		"ConfirmPayment", "state automatic", "GrantAccess", "SendAccessEmail 1", "timer 720h0m0s",
	}
	if diff := cmp.Diff(want, s.trace.all()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if s.open() {
		t.Error("it did not close after it was delivered")
	}
}

// A mark that cannot be written is shown in Temporal at once, and written when the database is back.
func TestMarkIsWrittenWhenTheDatabaseIsBack(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.failing("GrantAccess", always, failure(order.ClassPermanent))
	s.world.stop = func(int) error {
		if s.Now().Sub(s.began) < 3*day {
			return failure(order.ClassLedger)
		}
		return nil
	}
	s.world.read = s.awayFor(3 * day)
	var during flow.State
	s.at(day, func() { during = s.state() })
	s.limit = 5 * day
	s.run()
	if during.Reason != order.ReasonAccessStopped {
		t.Errorf("while the database is away: %+v, want the reason shown", during)
	}
	if s.world.reason != order.ReasonAccessStopped || s.state().Access != order.AccessAttention {
		t.Errorf("the ledger knows %q, the run %+v", s.world.reason, s.state())
	}
	want := []string{"ConfirmPayment", "GrantAccess", "StopStep access permanent", "state needs_attention"}
	if diff := cmp.Diff(want, s.trace.all()[:4]); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

// A limit that lasts makes a history long: the run continues as new, and the order is delivered under the same identities.
func TestLastingLimitContinuesAsNew(t *testing.T) {
	t.Parallel()
	first := newScenario(t)
	limited := func(int, int) (sent, error) { return sent{WaitSeconds: 60}, nil }
	first.world.send = limited
	first.at(time.Hour, func() { first.resend(`{"reason":"where is it"}`) })
	first.at(2*time.Hour, func() { first.SetContinueAsNewSuggested(true) })
	first.run()
	var again *workflow.ContinueAsNewError
	if err := first.GetWorkflowError(); !errors.As(err, &again) {
		t.Fatalf("the run ended with %v", err)
	}
	var in flow.Input
	must(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, &in))
	if in.Continued == nil || in.Continued.Origin != "first-run" || in.Continued.Signals != 1 || in.Continued.Waits[order.StepEmail].Turn < 100 || !in.Known {
		t.Fatalf("it continues with %+v", in.Continued)
	}

	second := newScenarioIn(t, first.world.again())
	second.input, second.world.openSeconds = in, 864000
	second.SetStartTime(first.Now())
	second.world.send = func(n, generation int) (sent, error) {
		if n == 1 {
			return limited(n, generation)
		}
		return sent{}, nil
	}
	second.at(day, func() { second.resend(`{"reason":"once more"}`) })
	second.run()
	got := second.trace.all()
	if got[0] != "ReadOrder" || !slices.Contains(got, "DecideRequest signal/first-run/2") || second.open() || second.state().Email != order.EmailAccepted {
		t.Errorf("open %v, %+v, commands %v", second.open(), second.state(), got)
	}
}

func TestWaitsThatTheEmailProviderAsksForSpendNothing(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.world.send = func(n, _ int) (sent, error) {
		if n <= 10 {
			return sent{Email: order.EmailPending, WaitSeconds: 3600}, nil
		}
		return sent{Email: order.EmailAccepted}, nil
	}
	s.run()
	want := []string{"ConfirmPayment", "GrantAccess", "SendAccessEmail 1"}
	for range 10 {
		want = append(want, "timer 1h0m0s", "SendAccessEmail 1")
	}
	if diff := cmp.Diff(append(want, "timer 720h0m0s"), s.trace.all()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

func TestWaitsThatTheEmailProviderAsksForAreBounded(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.world.send = func(int, int) (sent, error) {
		return sent{Email: order.EmailPending, WaitSeconds: 3600}, nil
	}
	var after flow.State
	s.at(13*time.Hour, func() { after = s.state() })
	s.run()
	if after.Email != order.EmailAttention || after.Reason != order.ReasonEmailExhausted {
		t.Errorf("state after 13 hours %+v, want the email stopped", after)
	}
	if got := s.trace.all(); got[len(got)-2] != "StopStep email attempts_spent" || got[len(got)-1] != "state needs_attention" {
		t.Errorf("it ended with %v", got[len(got)-2:])
	}
	if n := s.world.count("SendAccessEmail"); n < 12 || n > 13 {
		t.Errorf("%d calls, want one an hour for 12 hours", n)
	}
}

// A run is asked to cancel by hand, in the Temporal UI. What was paid for is delivered all the same.
func TestCancellationDoesNotStopADelivery(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.world.confirm = pendingUntil(2)
	s.at(30*time.Second, s.CancelWorkflow)
	s.run()
	want := []string{"ConfirmPayment", "timer 1m0s", "ConfirmPayment", "GrantAccess", "SendAccessEmail 1", "timer 720h0m0s"}
	if diff := cmp.Diff(want, s.trace.all()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

func TestTheOwnerIsToldOfEveryReasonOnceAfterEverythingElseIsDone(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.failing("SendAccessEmail", 1, failure(order.ClassPermanent))
	s.at(day, func() { s.resend(`{"reason":"mended"}`) })
	s.run()
	if diff := cmp.Diff([]order.Reason{order.ReasonEmailRefused}, s.trace.alerts); diff != "" {
		t.Errorf("the owner was notified (-want +got):\n%s", diff)
	}
}

func TestTheStraightPathTellsTheOwnerNothing(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.run()
	if len(s.trace.alerts) != 0 {
		t.Errorf("the owner was notified %v", s.trace.alerts)
	}
}
