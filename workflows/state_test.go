package workflows

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"handover/activities"
	"handover/internal/flow"
	"handover/internal/order"
)

var (
	noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	key  = order.Key{Environment: "test", Session: "cs_test_a1"}
)

// stands is a state whose facts are these.
func stands(change func(*state)) *state {
	s := newState(flow.Input{Key: key})
	s.Snapshot = order.Snapshot{AsOf: 1, Payment: order.PaymentConfirmed, Access: order.AccessGranted, Email: order.EmailAccepted, Generation: 1}
	s.event, s.openFor = false, time.Hour
	change(s)
	return s
}

func TestNextStepFollowsFromTheFacts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*state)
		want   action
	}{
		"nothing known":                     {func(s *state) { s.Payment, s.event = order.PaymentPending, true }, confirmPayment},
		"known, not read yet":               {func(s *state) { s.refresh = true }, readLedger},
		"a request comes before the steps":  {func(s *state) { s.Access = order.AccessPending; s.requests = []*request{{}} }, decideRequest},
		"the ledger comes before a request": {func(s *state) { s.refresh, s.requests = true, []*request{{}} }, readLedger},
		"a mark comes before the steps":     {func(s *state) { s.Access = order.AccessPending; s.stops = []stop{{step: order.StepEmail}} }, stopStep},
		"paid":                              {func(s *state) { s.Access = order.AccessPending }, grantAccess},
		"paid, perhaps reversed":            {func(s *state) { s.Access, s.ReversalDue = order.AccessPending, true }, checkReversal},
		"granted":                           {func(s *state) { s.Email = order.EmailPending }, sendEmail},
		"granted, and access must change":   {func(s *state) { s.Email, s.AccessChangeDue = order.EmailPending, true }, changeAccess},
		"a reversal while an email is sent": {func(s *state) { s.Email, s.running, s.sending, s.ReversalDue = order.EmailPending, sendEmail, 1, true }, checkReversal},
		"a request while an email is sent": {func(s *state) {
			s.Email, s.running, s.sending, s.requests = order.EmailPending, sendEmail, 1, []*request{{}}
		}, decideRequest},
		"a newer generation": {func(s *state) { s.Email, s.Generation, s.running, s.sending = order.EmailPending, 2, sendEmail, 1 }, cancelEmail},
		"held while an email is sent": {func(s *state) {
			s.Email, s.Access, s.running, s.sending = order.EmailPending, order.AccessHeld, sendEmail, 1
		}, cancelEmail},
		"an email is sent":                   {func(s *state) { s.Email, s.running, s.sending = order.EmailPending, sendEmail, 1 }, wait},
		"an email is not wanted":             {func(s *state) { s.Email, s.EmailSuspended = order.EmailPending, true }, wait},
		"delivered":                          {func(*state) {}, wait},
		"delivered, its time is over":        {func(s *state) { s.closesAt = noon }, finish},
		"delivered, and the history is long": {func(s *state) { s.suggested = true }, continueAsNew},
		"long, and an email is sent":         {func(s *state) { s.Email, s.running, s.sending, s.suggested = order.EmailPending, sendEmail, 1, true }, wait},
		"not paid for":                       {func(s *state) { s.Payment = order.PaymentFailed }, finish},
		"not ours":                           {func(s *state) { s.Payment = order.PaymentIgnored }, finish},
		"not ours, and an event":             {func(s *state) { s.Payment, s.event = order.PaymentIgnored, true }, confirmPayment},
		"a person has to decide":             {func(s *state) { s.Reason = order.ReasonItemsUnknown }, notifyOwner},
		"the owner knows":                    {func(s *state) { s.Reason, s.notified = order.ReasonItemsUnknown, order.ReasonItemsUnknown }, wait},
		"given up": {func(s *state) {
			s.Email = order.EmailPending
			s.gaveUp[order.StepEmail] = order.ReasonEmailExhausted
			s.notified = order.ReasonEmailExhausted
		}, wait},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := stands(c.change).next(noon); got.do != c.want {
				t.Errorf("next is %b, want %b", got.do, c.want)
			}
		})
	}
}

func TestOlderSnapshotIsLeft(t *testing.T) {
	t.Parallel()
	s := stands(func(*state) {})
	s.see(order.Snapshot{AsOf: 9, Payment: order.PaymentConfirmed, Access: order.AccessRevoked, Email: order.EmailAccepted, Generation: 1})
	want := s.Snapshot
	for _, old := range []int64{0, 8} {
		s.see(order.Snapshot{AsOf: old, Payment: order.PaymentPending})
		if diff := cmp.Diff(want, s.Snapshot); diff != "" {
			t.Errorf("after a snapshot of %d (-want +got):\n%s", old, diff)
		}
	}
}

// A day without the database: the run waits at most a minute between two attempts, gives nothing up, and still has the
// step to do.
func TestOutageHasNoEnd(t *testing.T) {
	t.Parallel()
	for _, pending := range []func(*state){
		func(s *state) { s.Payment, s.event = order.PaymentPending, true },
		func(s *state) { s.reversal = true },
		func(s *state) { s.Access = order.AccessPending },
		func(s *state) { s.AccessChangeDue = true },
		func(s *state) { s.Email = order.EmailPending },
		func(s *state) { s.requests = []*request{{}} },
		func(s *state) { s.stops = []stop{{step: order.StepAccess}} },
	} {
		s := stands(pending)
		first, now := s.next(noon), noon
		for range 2000 {
			st := s.next(now)
			if st.do == wait {
				if pause := st.until.Sub(now); pause <= 0 || pause > longestOutageWait {
					t.Fatalf("it waits %s for the database", pause)
				}
				now = st.until
				continue
			}
			s.begin(st)
			s.apply(st, result{class: order.ClassLedger}, now)
		}
		if s.reason() != "" || len(s.gaveUp) > 0 {
			t.Errorf("step %b: reason %q, given up %v", first.do, s.reason(), s.gaveUp)
		}
		read := step{do: readLedger}
		s.begin(read)
		s.apply(read, result{Progress: activities.Progress{Snapshot: s.Snapshot}}, now)
		if got := s.next(now); got.do != first.do {
			t.Errorf("when the database is back, next is %b, want %b", got.do, first.do)
		}
	}
}

// Whatever happens in whatever order: a step starts only when what it depends on is over, none starts twice at once, every
// wait that is not for a person has an end, and nothing runs in a circle without time passing.
func TestNextKeepsItsRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s, now, asOf := newState(flow.Input{Key: key, Known: rapid.Bool().Draw(rt, "known")}), noon, int64(1)
		running := map[action]step{}
		for range rapid.IntRange(1, 60).Draw(rt, "moves") {
			for started := 0; ; started++ {
				if started > 20 {
					rt.Fatal("it starts steps in a circle")
				}
				st := s.next(now)
				if st.do == wait && len(running) == 0 && st.until.IsZero() && !s.waitsForPerson() {
					rt.Fatalf("it waits for ever and for nobody: %+v", s)
				}
				if st.do == finish || st.do == continueAsNew {
					break
				}
				s.begin(st)
				if st.do == wait {
					break
				}
				if st.do == cancelEmail {
					cancelled := running[sendEmail]
					delete(running, sendEmail)
					s.apply(cancelled, result{class: order.ClassExhausted}, now)
					continue
				}
				allowed(rt, s, st, running)
				running[st.do] = st
			}
			switch rapid.SampledFrom([]string{"result", "result", "result", "event", "reversal", "request", "time"}).Draw(rt, "move") {
			case "event":
				s.noticed("")
			case "reversal":
				s.noticed(flow.AboutReversal)
			case "request":
				s.asked(&request{kind: flow.KindResend})
			case "time":
				now = now.Add(time.Duration(rapid.IntRange(1, 100_000).Draw(rt, "seconds")) * time.Second)
			case "result":
				for _, rule := range rules {
					st, found := running[rule.do]
					if !found {
						continue
					}
					delete(running, rule.do)
					now, asOf = now.Add(time.Second), asOf+1
					r := drawResult(rt, s, asOf)
					s.apply(st, r, now)
					if st.do == decideRequest && r.class != order.ClassLedger {
						s.answered(st.request, flow.Answer{Outcome: order.OutcomeSending}, nil)
					}
					break
				}
			}
		}
	})
}

func allowed(t *rapid.T, s *state, st step, running map[action]step) {
	if _, twice := running[st.do]; twice {
		t.Fatalf("step %b starts while it is under way", st.do)
	}
	confirmed := s.Payment == order.PaymentConfirmed
	switch st.do {
	case grantAccess:
		if !confirmed || s.ReversalDue || running[checkReversal].do != 0 || running[changeAccess].do != 0 {
			t.Fatalf("access is granted with %+v", s.Snapshot)
		}
	case sendEmail:
		if !confirmed || s.Access != order.AccessGranted || s.EmailSuspended || st.generation != s.Generation || running[checkReversal].do != 0 {
			t.Fatalf("generation %d is sent with %+v", st.generation, s.Snapshot)
		}
	case checkReversal, changeAccess:
		if !confirmed {
			t.Fatalf("access is changed with %+v", s.Snapshot)
		}
	}
}

func drawResult(t *rapid.T, s *state, asOf int64) result {
	class := rapid.SampledFrom([]order.Class{"", "", "", order.ClassLedger, order.ClassPermanent, order.ClassExhausted}).Draw(t, "class")
	if class != "" {
		return result{class: class}
	}
	now := order.Snapshot{
		AsOf:            asOf,
		Payment:         rapid.SampledFrom([]order.PaymentState{order.PaymentPending, order.PaymentConfirmed, order.PaymentConfirmed, order.PaymentFailed}).Draw(t, "payment"),
		Access:          rapid.SampledFrom([]order.AccessState{order.AccessPending, order.AccessGranted, order.AccessHeld, order.AccessRevoked}).Draw(t, "access"),
		Email:           rapid.SampledFrom([]order.EmailState{order.EmailPending, order.EmailAccepted, order.EmailUncertain}).Draw(t, "email"),
		Generation:      s.Generation + rapid.IntRange(0, 1).Draw(t, "newer"),
		ReversalDue:     rapid.Bool().Draw(t, "reversal"),
		AccessChangeDue: rapid.Bool().Draw(t, "change"),
	}
	if s.Payment == order.PaymentConfirmed {
		now.Payment = order.PaymentConfirmed // it is final
	}
	return result{Progress: activities.Progress{Snapshot: now, WaitSeconds: rapid.SampledFrom([]int{0, 0, 0, 60}).Draw(t, "wait"), GiveUpSeconds: 3600}}
}
