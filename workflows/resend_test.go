package workflows_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handover/internal/flow"
	"handover/internal/order"
)

var straight = []string{"ConfirmPayment", "GrantAccess", "SendAccessEmail 1", "timer 720h0m0s"}

// after is the straight path and what came then.
func after(more ...string) []string { return append(slices.Clone(straight), more...) }

func TestResendBySignalSendsANewGeneration(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.at(3*day, func() { s.resend(`{"reason":"the buyer asked","request_id":"req_1"}`) })
	s.run()
	if diff := cmp.Diff(after("DecideRequest req_1", "SendAccessEmail 2"), s.trace.all()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if got := s.state(); got.Generation != 2 || got.Email != order.EmailAccepted {
		t.Errorf("state %+v, want generation 2 accepted", got)
	}
	if open := s.Now().Sub(s.began); open > 30*day+time.Minute {
		t.Errorf("closed after %s, want 30 days: a resend does not prolong it", open)
	}
}

func TestResendByUpdateAnswersWhatWasDecided(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	var first, repeated, other *answer
	s.at(3*day, func() { first = s.update("one", `{"reason":"the buyer asked"}`) })
	s.at(4*day, func() { repeated = s.update("one", `{"reason":"the buyer asked"}`) })
	s.at(5*day, func() { other = s.update("two", `{"reason":"and again"}`) })
	s.run()
	sending := func(generation int) *answer {
		return &answer{accepted: true, result: flow.Answer{Outcome: order.OutcomeSending, Generation: generation}}
	}
	for _, c := range []struct {
		name      string
		got, want *answer
	}{{"first", first, sending(2)}, {"repeated", repeated, sending(2)}, {"other", other, sending(3)}} {
		if diff := cmp.Diff(c.want, c.got, cmp.AllowUnexported(answer{})); diff != "" {
			t.Errorf("%s answer (-want +got):\n%s", c.name, diff)
		}
	}
	want := after("DecideRequest update/one", "SendAccessEmail 2", "DecideRequest update/two", "SendAccessEmail 3")
	if diff := cmp.Diff(want, s.trace.all()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

func TestSignalsWithOneRequestIDAreOneRequest(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	for i := range 3 {
		s.at(3*day+time.Duration(i)*time.Hour, func() { s.resend(`{"reason":"the buyer asked","request_id":"req_1"}`) })
	}
	s.run()
	if n := len(s.world.emails); n != 2 {
		t.Errorf("%d generations, want 2", n)
	}
	if n := s.world.count("DecideRequest"); n != 3 {
		t.Errorf("decided %d times, want each time: the ledger knows that it is a repetition", n)
	}
	if n := s.world.count("SendAccessEmail"); n != 2 {
		t.Errorf("%d emails, want one for each generation", n)
	}
}

func TestRepeatedRequestDoesNotHideThatItsEmailWasStopped(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.world.send = func(_, generation int) (sent, error) {
		if generation == 2 {
			return sent{}, failure(order.ClassPermanent)
		}
		return sent{Email: order.EmailAccepted}, nil
	}
	for i := range 2 {
		s.at(time.Duration(i+1)*day, func() { s.resend(`{"reason":"the buyer asked","request_id":"req_1"}`) })
	}
	s.run()
	if got := s.state(); got.Reason.Step() != "email" || !s.open() {
		t.Errorf("state %+v, open %v; want it waiting for a person", got, s.open())
	}
}

func TestSignalsWithoutIdentityGetTheirPlaceInTheLineage(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.at(1*day, func() { s.resend(`{"reason":"one"}`) })
	s.at(2*day, func() { s.resend(`{"reason":"named","request_id":"req_1"}`) })
	s.at(3*day, func() { s.resend(`not readable`) })
	s.at(4*day, func() { s.resend(`{"reason":"two"}`) })
	s.run()
	want := after("DecideRequest signal/first-run/1", "SendAccessEmail 2", "DecideRequest req_1", "SendAccessEmail 3",
		"DecideRequest signal/first-run/2", "DecideRequest signal/first-run/3", "SendAccessEmail 4")
	if diff := cmp.Diff(want, s.trace.all()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

func TestResendJoinsOneUnderWay(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.world.send = func(n, _ int) (sent, error) {
		if n == 1 {
			return sent{Email: order.EmailPending, WaitSeconds: 3600}, nil
		}
		return sent{Email: order.EmailAccepted}, nil
	}
	var updated *answer
	s.at(10*time.Minute, func() { s.resend(`{"reason":"where is it","request_id":"req_1"}`) })
	s.at(20*time.Minute, func() { updated = s.update("two", `{"reason":"still not here"}`) })
	s.run()
	want := []string{
		"ConfirmPayment", "GrantAccess", "SendAccessEmail 1", "timer 1h0m0s", "DecideRequest req_1", "DecideRequest update/two",
		"SendAccessEmail 1", "timer 720h0m0s",
	}
	if diff := cmp.Diff(want, s.trace.all()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if updated.result.Outcome != order.OutcomeJoined || updated.result.Generation != 1 {
		t.Errorf("update answered %+v, want it joined to generation 1", updated.result)
	}
}

func TestResendToAnotherAddressEndsAWait(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	var second time.Duration
	s.world.send = func(_, generation int) (sent, error) {
		if generation == 1 {
			return sent{Email: order.EmailPending, WaitSeconds: 3600}, nil
		}
		second = s.Now().Sub(s.began)
		return sent{Email: order.EmailAccepted}, nil
	}
	s.at(10*time.Minute, func() {
		s.world.address = "second"
		s.resend(`{"reason":"mistyped","request_id":"req_1"}`)
	})
	s.run()
	want := []string{
		"ConfirmPayment", "GrantAccess", "SendAccessEmail 1", "timer 1h0m0s", "DecideRequest req_1", "SendAccessEmail 2", "timer 720h0m0s",
	}
	if diff := cmp.Diff(want, s.trace.all()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if second < 10*time.Minute || second > 11*time.Minute {
		t.Errorf("the new generation went out after %s, want at once", second)
	}
}

func TestResendToAnotherAddressOvertakesAnAttemptInFlight(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	overtaken, cancelled := make(chan struct{}), false
	s.SetOnActivityCanceledListener(onCancel(func(name string) { cancelled = cancelled || name == "SendAccessEmail" }))
	s.world.send = func(_, generation int) (sent, error) {
		if generation == 1 {
			s.world.mu.Lock()
			s.world.address = "second"
			s.world.mu.Unlock()
			s.resend(`{"reason":"mistyped","request_id":"req_1"}`)
			<-overtaken
			return sent{}, failure(order.ClassUnknown)
		}
		close(overtaken)
		return sent{Email: order.EmailAccepted}, nil
	}
	s.run()
	want := []string{"ConfirmPayment", "GrantAccess", "SendAccessEmail 1", "DecideRequest req_1", "SendAccessEmail 2", "timer 720h0m0s"}
	if diff := cmp.Diff(want, s.trace.all()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	if !cancelled {
		t.Error("the attempt in flight was not cancelled")
	}
	if s.open() {
		t.Error("the order did not close")
	}
}

func TestFloodOfRequestsIsBounded(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.at(day, func() {
		for i := range 50 {
			s.resend(fmt.Sprintf(`{"reason":"number %d"}`, i))
		}
	})
	s.at(2*day, func() {
		for i := range 50 {
			s.update(fmt.Sprint(i), `{"reason":"again"}`)
		}
	})
	for i := range 30 {
		s.at(3*day+time.Duration(i)*time.Hour, func() { s.resend(`{"reason":"one by one"}`) })
	}
	s.run()
	if s.open() {
		t.Error("the order did not close")
	}
	if n := s.world.count("DecideRequest"); n != 130 {
		t.Errorf("decided %d requests, want all 130", n)
	}
	if n := len(s.world.emails); n != order.MostGenerations {
		t.Errorf("%d generations, want no more than %d", n, order.MostGenerations)
	}
	if n := s.world.count("SendAccessEmail"); n > order.MostGenerations {
		t.Errorf("%d emails, want no more than %d", n, order.MostGenerations)
	}
}

func TestRequestThatCannotBeDecidedIsSaidSo(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.world.decide = func(int) error { return failure(order.ClassPermanent) }
	var updated *answer
	s.at(day, func() { updated = s.update("one", `{"reason":"please"}`) })
	s.run()
	if updated.err == nil {
		t.Errorf("update answered %+v, want an error", updated)
	}
	if !strings.Contains(s.details(), "A request could not be decided: the worker's log says why.") {
		t.Errorf("details do not say so:\n%s", s.details())
	}
	if s.open() {
		t.Error("the order did not close")
	}
}

// A request waits for the database, and is decided once.
func TestRequestIsDecidedWhenTheDatabaseIsBack(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.world.decide = func(n int) error {
		if n == 1 {
			return failure(order.ClassLedger)
		}
		return nil
	}
	var updated *answer
	s.at(day, func() {
		s.world.read = s.awayFor(2 * day)
		updated = s.update("one", `{"reason":"please"}`)
	})
	s.run()
	if updated.result.Outcome != order.OutcomeSending || s.state().Generation != 2 || len(s.world.emails) != 2 {
		t.Errorf("update answered %+v, state %+v", updated, s.state())
	}
}

// A request is decided while an email waits hours for its next attempt, and does not start it again.
func TestRequestIsDecidedWhileAnEmailIsUnderWay(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.cfg.Email.FirstWait, s.cfg.Email.LongestWait = 6*time.Hour, 6*time.Hour
	s.failing("SendAccessEmail", 1, failure(order.ClassUnknown))
	var updated *answer
	var after time.Duration
	s.at(time.Hour, func() { updated = s.update("one", `{"reason":"where is it"}`) })
	s.at(time.Hour+time.Minute, func() {
		if updated.result.Outcome == order.OutcomeJoined {
			after = s.Now().Sub(s.began)
		}
	})
	s.run()
	if after == 0 {
		t.Errorf("update answered %+v, want it joined within a minute", updated)
	}
	want := []string{"ConfirmPayment", "GrantAccess", "SendAccessEmail 1", "DecideRequest update/one", "timer 720h0m0s"}
	if diff := cmp.Diff(want, s.trace.all()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

// A request that comes in the very task in which the order closes is taken all the same.
func TestRequestAtTheVeryEndIsNotLost(t *testing.T) {
	t.Parallel()
	request := `{"reason":"at the last moment","request_id":"req_1"}`
	t.Run("with the closing timer", func(t *testing.T) {
		t.Parallel()
		s := newScenario(t)
		s.SetOnTimerScheduledListener(func(_ string, d time.Duration) {
			if d == 30*day {
				s.at(d-1, func() { s.SignalWorkflowSkippingWorkflowTask(flow.KindResend, raw(request)) })
			}
		})
		s.run()
		if diff := cmp.Diff(after("DecideRequest req_1", "SendAccessEmail 2"), s.trace.all()); diff != "" {
			t.Errorf("commands (-want +got):\n%s", diff)
		}
	})
	t.Run("with the last step", func(t *testing.T) {
		t.Parallel()
		s := newScenario(t)
		s.world.steer.openFor = 0
		s.world.send = func(_, generation int) (sent, error) {
			if generation == 1 {
				s.SignalWorkflowSkippingWorkflowTask(flow.KindResend, raw(request))
			}
			return sent{Email: order.EmailAccepted}, nil
		}
		s.run()
		want := []string{"ConfirmPayment", "GrantAccess", "SendAccessEmail 1", "DecideRequest req_1", "SendAccessEmail 2"}
		if diff := cmp.Diff(want, s.trace.all()); diff != "" {
			t.Errorf("commands (-want +got):\n%s", diff)
		}
	})
	t.Run("update while the last request is decided", func(t *testing.T) {
		t.Parallel()
		s := newScenario(t)
		s.world.steer.openFor = 0
		var updated *answer
		s.world.send = func(_, generation int) (sent, error) {
			if generation == 1 {
				s.SignalWorkflowSkippingWorkflowTask(flow.KindResend, raw(`unreadable`))
			}
			return sent{Email: order.EmailAccepted}, nil
		}
		s.world.decide = func(n int) error {
			if n == 1 {
				updated = s.update("late", `{"reason":"at the last moment"}`)
			}
			return nil
		}
		s.run()
		if updated.result.Outcome != order.OutcomeSending || s.state().Generation != 2 {
			t.Errorf("update answered %+v, state %+v; want generation 2", updated, s.state())
		}
	})
}
