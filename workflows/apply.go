package workflows

import (
	"cmp"
	"time"

	"handover/activities"
	"handover/internal/flow"
	"handover/internal/order"
)

// begin notes that a step has started, or that a wait has.
func (s *state) begin(st step) {
	switch st.do {
	case cancelEmail:
		s.sending = 0
		return
	case wait:
		if st.closing {
			s.closesAt = st.until
		}
		return
	case readLedger:
		s.refresh = false
	case confirmPayment:
		s.event, s.checked = false, true
	case checkReversal:
		s.reversal = false
	case sendEmail:
		s.sending = st.generation
	case notifyOwner:
		s.notified = st.reason
	}
	s.running |= st.do
	s.steps++
}

// result is what a step came to: how the order stands, or the class of the failure.
type result struct {
	activities.Progress
	class  order.Class
	reason order.Reason
}

// apply applies the result of a step.
func (s *state) apply(st step, r result, now time.Time) {
	s.running &^= st.do
	if st.do == sendEmail {
		s.sending = 0
	}
	switch {
	case r.class == "":
		s.succeeded(st, r.Progress, now)
	case st.do == notifyOwner, st.do == sendEmail && s.obsolete(st.generation):
		// What the attempt came to changes nothing any more.
	case st.do == decideRequest && r.class != order.ClassLedger:
		s.requests = s.requests[1:] // it fails for a reason of its own, and must not hold up the order
	case r.class == order.ClassLedger, st.do&ledgerActions != 0:
		s.outage(st, now)
	default:
		s.giveUp(st, r.class, r.reason)
	}
}

func (s *state) succeeded(st step, p activities.Progress, now time.Time) {
	s.outages = 0
	s.openFor = cmp.Or(s.openFor, seconds(p.OpenSeconds))
	switch st.do {
	case readLedger:
		s.unread = false
	case decideRequest:
		s.requests = s.requests[1:]
	case stopStep:
		s.stops = s.stops[1:]
	}
	s.see(p.Snapshot)

	if st.do.step() == "" {
		return
	}
	if p.WaitSeconds > 0 || st.do == confirmPayment && s.Payment == order.PaymentPending {
		s.postpone(st, p, now)
		return
	}
	delete(s.waits, st.do.step())
	if s.unchanged(st) {
		s.postpone(st, activities.Progress{WaitSeconds: 1 << min(st.turn, 6)}, now)
	}
}

// unchanged says that a step is pending again right after it succeeded, without anything new: it must not run in a circle.
func (s *state) unchanged(st step) bool {
	return s.pending(st.do) && !s.event && !s.reversal && (st.do != sendEmail || st.generation == s.Generation)
}

// see applies the facts. A snapshot that was overtaken on its way by a newer one is dropped.
func (s *state) see(now order.Snapshot) {
	if now.AsOf == 0 || now.AsOf < s.AsOf {
		return
	}
	if now.Generation != s.Generation {
		delete(s.waits, order.StepEmail)
		delete(s.gaveUp, order.StepEmail)
	}
	s.Snapshot = now
	s.event = s.event && !s.settled()
	if s.reason() == "" {
		s.notified = ""
	}
}

// postpone has a step wait for as long as it says. All its waits together are bounded: then a person has to decide.
func (s *state) postpone(st step, p activities.Progress, now time.Time) {
	w := s.waits[st.do.step()]
	w.Turn = max(w.Turn, st.turn)
	pause := seconds(p.WaitSeconds)
	if pause == 0 {
		pause = polls[min(w.Turn, len(polls)-1)]
	}
	if w.Since.IsZero() {
		w.Since = now
	}
	w.Turn, w.Until = w.Turn+1, now.Add(pause)
	if p.GiveUpSeconds > 0 && w.Until.Sub(w.Since) > seconds(p.GiveUpSeconds) {
		reason := order.ReasonFor(st.do.step(), order.ClassExhausted)
		if st.do == confirmPayment {
			reason = order.ReasonPaymentOverdue
		}
		s.giveUp(st, order.ClassExhausted, reason)
		return
	}
	s.waits[st.do.step()] = w
}

// giveUp ends the automatic attempts of a step, and has that written down. A payment that is confirmed stays confirmed,
// and waits for the same person as before.
func (s *state) giveUp(st step, class order.Class, reason order.Reason) {
	name := st.do.step()
	delete(s.waits, name)
	reason = cmp.Or(reason, order.ReasonFor(name, class))
	s.gaveUp[name] = reason
	if st.do != confirmPayment || s.Payment != order.PaymentConfirmed {
		s.stops = append(s.stops, stop{step: name, generation: st.generation, class: class, reason: reason})
	}
}

// outage has the run wait until the ledger can be read again; the step is still pending then. This has no bound, spends
// nothing, and never needs a person, because no provider is to blame and the facts are where they were.
func (s *state) outage(st step, now time.Time) {
	s.outages++
	s.refresh, s.readAfter = true, now.Add(min(time.Second<<min(s.outages, 10), longestOutageWait))
	switch st.do {
	case confirmPayment:
		s.event = true
	case checkReversal:
		s.reversal = true
	case stopStep:
		s.stops[0].late = true
	}
}

// noticed applies an event of the payment provider. None is believed: each makes the run ask, the provider where the
// payment is open, and else the ledger.
func (s *state) noticed(about string) {
	clear(s.gaveUp)
	switch {
	case about == flow.AboutReversal:
		s.reversal = true
	case s.settled():
		s.refresh = true
	default:
		s.event = true
	}
}

// asked applies a request.
func (s *state) asked(r *request) { s.requests = append(s.requests, r) }

// answered applies what became of a request. What a person has decided starts everything again that had given up.
func (s *state) answered(r *request, answer flow.Answer, err error) {
	r.answer, r.err, r.decided = answer, err, true
	switch {
	case err != nil:
		s.note = "A request could not be decided: the worker's log says why."
	case answer.Outcome == order.OutcomeRefused:
		s.note = "A " + r.kind + " was refused: " + answer.Says + "."
	default:
		s.note = ""
		clear(s.gaveUp)
		s.event = s.event || answer.Outcome == order.OutcomeRetrying && !s.settled()
	}
}

// seconds reads what an activity's result says in seconds.
func seconds(n int) time.Duration { return time.Duration(n) * time.Second }
