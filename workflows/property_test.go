package workflows_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"handover/activities"
	"handover/internal/flow"
	"handover/internal/order"
)

// What an attempt at a step may come to. The last one is what every further attempt comes to.
type look struct {
	result checked
	class  order.Class
}

var looks = []look{
	{result: checked{Payment: order.PaymentPending}},
	{result: checked{Payment: order.PaymentPending, WaitSeconds: 600}},
	{result: checked{Payment: order.PaymentFailed}},
	{result: checked{Payment: order.PaymentIgnored}},
	{result: checked{Payment: order.PaymentAttention, Reason: order.ReasonModeContradicts}},
	{result: checked{Payment: order.PaymentConfirmed, Reason: order.ReasonItemsUnknown}},
	{result: checked{Payment: order.PaymentConfirmed, Reason: order.ReasonNoAddress}},
	{class: order.ClassRetry},
	{class: order.ClassPermanent},
	{class: order.ClassMisconfigured},
	{result: checked{Payment: order.PaymentConfirmed}},
}

type sending struct {
	wait  int
	class order.Class
}

var sendings = []sending{
	{wait: 30}, {wait: 7200}, {class: order.ClassRetry}, {class: order.ClassUnknown}, {class: order.ClassPermanent},
	{class: order.ClassUncertain}, {class: order.ClassPastWindow}, {class: order.ClassMisconfigured}, {},
}

// A script is what happens to one order. Scripts are drawn whole, before the run: a run must not draw.
type script struct {
	looks    []look
	grants   []order.Class
	sendings []sending
	stops    []order.Class
	reviews  []sending // an attempt at asking about refunds: a wait, or a failure
	changes  []order.Class
	messages []message
}

type message struct {
	after time.Duration
	kind  string
	id    string
}

func drawScript(t *rapid.T) script {
	classes := rapid.SliceOfN(rapid.SampledFrom([]order.Class{"", "", order.ClassRetry, order.ClassPermanent}), 0, 4)
	s := script{
		looks:    rapid.SliceOfN(rapid.SampledFrom(looks), 0, 5).Draw(t, "looks"),
		grants:   classes.Draw(t, "grants"),
		sendings: rapid.SliceOfN(rapid.SampledFrom(sendings), 0, 8).Draw(t, "sendings"),
		stops:    classes.Draw(t, "stops"),
		reviews:  rapid.SliceOfN(rapid.SampledFrom([]sending{{}, {wait: 600}, {class: order.ClassRetry}, {class: order.ClassPermanent}}), 0, 4).Draw(t, "reviews"),
		changes:  classes.Draw(t, "changes"),
	}
	for range rapid.IntRange(0, 12).Draw(t, "messages") {
		s.messages = append(s.messages, message{
			after: time.Duration(rapid.SampledFrom([]int{0, 1, 30, 61, 700, 3600, 7300, 86400, 30 * 86400, 60 * 86400}).Draw(t, "seconds")) * time.Second,
			kind: rapid.SampledFrom([]string{"event", "resend", "repeated", "unreadable", "update", "readdress",
				"refund", "dispute", "won", "part", "revoke", "restore"}).Draw(t, "kind"),
			id: rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "id"),
		})
	}
	return s
}

// play sets the scenario up so that the script happens to it.
func (c script) play(s *scenario) {
	s.world.confirm = func(n int, _ activities.ConfirmPaymentInput) (checked, error) {
		if n > len(c.looks) {
			return checked{Payment: order.PaymentConfirmed}, nil
		}
		return c.looks[n-1].result, failed(c.looks[n-1].class)
	}
	s.world.grant = func(n int) error { return scripted(c.grants, n) }
	s.world.stop = func(n int) error { return scripted(c.stops, n) }
	s.world.send = func(n, _ int) (sent, error) {
		if n > len(c.sendings) {
			return sent{Email: order.EmailAccepted}, nil
		}
		if wait := c.sendings[n-1].wait; wait > 0 {
			return sent{Email: order.EmailPending, WaitSeconds: wait}, nil
		}
		return sent{Email: order.EmailAccepted}, failed(c.sendings[n-1].class)
	}
	s.world.review = func(n int) (int, error) {
		if n > len(c.reviews) {
			return 0, nil
		}
		return c.reviews[n-1].wait, failed(c.reviews[n-1].class)
	}
	s.world.change = func(n int) error { return scripted(c.changes, n) }
	for i, m := range c.messages {
		s.at(m.after, func() {
			switch m.kind {
			case "event":
				s.SignalWorkflow(flow.SignalPaymentEvent, nil)
			case "resend":
				s.resend(`{"reason":"asked"}`)
			case "repeated":
				s.resend(fmt.Sprintf(`{"reason":"asked","request_id":%q}`, m.id))
			case "unreadable":
				s.resend(`asked`)
			case "update":
				s.update(m.id, `{"reason":"asked"}`)
			case "refund":
				s.refund(order.AccessRevoked)
			case "dispute":
				s.refund(order.AccessHeld)
			case "won":
				s.refund(order.AccessGranted)
			case "part":
				s.world.reverse(order.AccessGranted, true)
				s.money()
			case "revoke", "restore":
				s.SignalWorkflow(m.kind, raw(fmt.Sprintf(`{"reason":"asked","request_id":%q}`, m.kind+m.id)))
			case "readdress":
				s.world.mu.Lock()
				s.world.address = fmt.Sprint("address ", i)
				s.world.mu.Unlock()
				s.resend(`{"reason":"mistyped"}`)
			}
		})
	}
}

func scripted(classes []order.Class, n int) error {
	if n > len(classes) {
		return nil
	}
	return failed(classes[n-1])
}

func failed(class order.Class) error {
	if class == "" {
		return nil
	}
	return failure(class)
}

// Whatever happens to an order: nothing is done before what it depends on or twice, and it ends delivered, not ours,
// unpaid, or on a person's list.
func TestNoSequenceOfEventsBreaksTheOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := newScenario(t)
		drawScript(rt).play(s)
		s.run()
		s.hasEndedWell(rt)
	})
}

// The same where the first run was ended from outside, at any moment, and another takes up the order.
func TestNoSequenceOfEventsBreaksAResumedOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		first := newScenario(t)
		drawScript(rt).play(first)
		first.limit = time.Duration(rapid.SampledFrom([]int{1, 61, 3600, 86400, 31 * 86400}).Draw(rt, "ended")) * time.Second
		first.run()
		second := newScenarioIn(t, first.world.again())
		second.input.Known = true
		drawScript(rt).play(second)
		second.run()
		second.hasEndedWell(rt)
		if rt.Failed() {
			rt.Logf("commands of the first run: %s", strings.Join(first.trace.all(), ", "))
		}
	})
}

func (s *scenario) hasEndedWell(t *rapid.T) {
	open, state := s.open(), s.state()
	for _, broken := range s.world.broken {
		t.Errorf("%s", broken)
	}
	switch {
	case open && state.Reason == "":
		t.Errorf("it waits for ever and nobody is notified: %+v", state)
	case open, state.Payment == order.PaymentFailed, state.Payment == order.PaymentIgnored:
	case state.Access == order.AccessRevoked || state.Access == order.AccessHeld:
		if s.world.access == order.AccessGranted {
			t.Errorf("it closed as %s and the buyer can open what was bought", state.Access)
		}
	case state.Payment != order.PaymentConfirmed || state.Access != order.AccessGranted || state.Email != order.EmailAccepted || state.Reason != "":
		t.Errorf("it closed and is not delivered: %+v", state)
	}
	if n := len(s.world.emails); n > 0 {
		if !open && !s.world.emails[n-1].accepted && state.Access == order.AccessGranted {
			t.Errorf("it closed and generation %d was not sent", n)
		}
		if state.Generation != n {
			t.Errorf("it knows of generation %d, there are %d", state.Generation, n)
		}
	}
	shown := flow.StateAutomatic
	for _, line := range s.trace.all() {
		if value, found := strings.CutPrefix(line, "state "); found {
			if value == shown {
				t.Errorf("the search attribute was set to %s again", value)
			}
			shown = value
		}
	}
	if (shown == flow.StateAttention) != (state.Reason != "") {
		t.Errorf("the search attribute says %s, the reason is %q", shown, state.Reason)
	}
	if t.Failed() {
		t.Logf("commands: %s", strings.Join(s.trace.all(), ", "))
	}
}
