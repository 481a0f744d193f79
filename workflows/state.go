package workflows

import (
	"maps"
	"slices"
	"time"

	"handover/internal/flow"
	"handover/internal/order"
)

// action is what a step does. A set of actions is their sum.
type action uint16

const (
	readLedger action = 1 << iota
	decideRequest
	stopStep
	confirmPayment
	checkReversal
	changeAccess
	grantAccess
	sendEmail
	notifyOwner

	// These are carried out by the run itself, without an activity.
	cancelEmail
	wait
	finish
	continueAsNew
)

// ledgerActions are the actions after which the ledger can say something else. Nothing new starts while one of them is
// pending.
const ledgerActions = readLedger | decideRequest | stopStep

// rules are the steps in the order of their priority, each with what has to be over before it starts: it waits while one of
// those runs, or is pending in a row above. An email holds up nothing, because its next attempt can be hours away.
var rules = []struct{ do, after action }{
	{readLedger, readLedger},
	{decideRequest, readLedger | decideRequest},
	{stopStep, ledgerActions},
	{confirmPayment, ledgerActions | confirmPayment | checkReversal | changeAccess | grantAccess},
	{checkReversal, ledgerActions | confirmPayment | checkReversal | grantAccess},
	{changeAccess, ledgerActions | grantAccess | changeAccess},
	{grantAccess, ledgerActions | confirmPayment | checkReversal | changeAccess | grantAccess},
	{sendEmail, ledgerActions | confirmPayment | checkReversal | changeAccess | grantAccess | sendEmail},
	{notifyOwner, ledgerActions | notifyOwner},
}

// step is what comes next.
type step struct {
	do         action
	generation int          // of the email
	turn       int          // how often the provider has asked to wait before
	again      bool         // the payment may have been confirmed before
	request    *request     // to decide
	stop       stop         // to write down
	reason     order.Reason // to notify the owner of
	until      time.Time    // of a wait; zero until something arrives
	pending    action       // what goes on after a wait
	closing    bool         // the wait ends the run
}

// stop is a step whose automatic attempts have ended, for as long as the ledger does not know it.
type stop struct {
	step       order.Step
	generation int
	class      order.Class
	reason     order.Reason
	late       bool // writing it down has failed at least once
}

// request is what an operator asks for.
type request struct {
	flow.Request
	kind    string
	refusal order.Refusal // set where the request could not be understood
	answer  flow.Answer
	err     error
	decided bool
}

// state is one run of an order: the facts as the ledger had them last, and what is pending besides.
type state struct {
	order.Snapshot
	// Set by messages and outages, cleared when the step that answers them begins.
	unread bool // the ledger knows the order and this run has not read it yet

	refresh   bool // the ledger may know more than the snapshot
	requests  []*request
	stops     []stop
	event     bool // the provider may know something new about the payment
	reversal  bool // the provider may know something new about refunds and disputes
	checked   bool // an earlier step may have confirmed the payment
	notified  order.Reason
	note      string                      // what became of the last request
	waits     map[order.Step]flow.Wait    // steps that go on later
	gaveUp    map[order.Step]order.Reason // steps that a person, or an event, has to start again
	outages   int                         // failures of our own database in a row
	readAfter time.Time                   // the ledger is not read before
	running   action                      // what is under way
	sending   int                         // the generation of the email that is under way; 0 for none
	openFor   time.Duration               // how long the run listens after the delivery; 0 until a step says it
	closesAt  time.Time                   // when listening ends; zero until it has begun
	steps     int                         // how many have begun
	suggested bool                        // Temporal suggests to continue as new
}

// polls are the waits between two checks of a payment that is on its way, the last one repeated. The provider's events
// end most of these waits; polling is for the events that never come.
var polls = []time.Duration{time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}

const (
	longestOutageWait = time.Minute // between two attempts while our own database is away
	mostSteps         = 400         // of one run, so that its history stays short
)

// newState is what a run starts from: nothing, or what the run before it has carried over.
func newState(in flow.Input) *state {
	s := &state{
		Snapshot: order.Snapshot{Payment: order.PaymentPending, Access: order.AccessPending, Email: order.EmailPending, Generation: 1},
		unread:   in.Known, refresh: in.Known, event: true, checked: in.Known,
		waits: map[order.Step]flow.Wait{}, gaveUp: map[order.Step]order.Reason{},
	}
	if c := in.Continued; c != nil {
		s.event, s.notified, s.note, s.closesAt = c.Event, c.Notified, c.Note, c.ClosesAt
		maps.Copy(s.waits, c.Waits)
		maps.Copy(s.gaveUp, c.GaveUp)
	}
	return s
}

// carried is what the next run of the same order needs besides the ledger.
func (s *state) carried() flow.Continued {
	return flow.Continued{Event: s.event, Notified: s.notified, Note: s.note, ClosesAt: s.closesAt, Waits: s.waits, GaveUp: s.gaveUp}
}

// next is the rule of the whole workflow: which step comes next, by the facts, by what is pending and by what is running.
func (s *state) next(now time.Time) step {
	if s.sending != 0 && s.obsolete(s.sending) {
		return step{do: cancelEmail}
	}
	ahead, asleep := s.running, step{do: wait}
	for _, rule := range rules {
		if !s.due(rule.do) {
			continue
		}
		if until := s.notBefore(rule.do); until.After(now) {
			if asleep.until.IsZero() || until.Before(asleep.until) {
				asleep.until, asleep.pending = until, rule.do
			}
		} else if ahead&rule.after == 0 {
			return s.step(rule.do)
		}
		ahead |= rule.do
	}
	if s.running != 0 {
		return asleep
	}
	return s.rest(now, asleep)
}

// rest is what a run does that has nothing to do now.
func (s *state) rest(now time.Time, asleep step) step {
	switch {
	case !asleep.until.IsZero():
	case s.Payment == order.PaymentFailed || s.Payment == order.PaymentIgnored:
		return step{do: finish} // a later event starts a new run
	case s.waitsForPerson():
	default:
		asleep.closing, asleep.until = true, s.closesAt
		if s.closesAt.IsZero() {
			asleep.until = now.Add(s.openFor)
		}
		if !asleep.until.After(now) {
			return step{do: finish}
		}
	}
	if s.suggested || s.steps >= mostSteps {
		return step{do: continueAsNew}
	}
	return asleep
}

// due says that an action is pending, whether or not it may start now.
func (s *state) due(a action) bool {
	_, gaveUp := s.gaveUp[a.step()]
	return s.pending(a) && !gaveUp
}

func (s *state) pending(a action) bool {
	confirmed := s.Payment == order.PaymentConfirmed
	_, waits := s.waits[a.step()]
	switch a {
	case readLedger:
		return s.refresh
	case decideRequest:
		return len(s.requests) > 0
	case stopStep:
		return len(s.stops) > 0
	case confirmPayment:
		return !s.settled() && (s.event || waits || s.Payment == order.PaymentPending)
	case checkReversal:
		return confirmed && (s.reversal || waits || s.ReversalDue)
	case changeAccess:
		return confirmed && s.AccessChangeDue
	case grantAccess: // nothing is given before it is known whether the money has gone back
		return confirmed && s.Access == order.AccessPending && !s.ReversalDue
	case sendEmail:
		return s.Email == order.EmailPending && !s.obsolete(s.Generation)
	case notifyOwner:
		reason := s.reason()
		return reason != "" && reason != s.notified
	}
	return false
}

// settled says that the provider can say nothing new about the payment: it is confirmed, and the catalogue knew all of it.
func (s *state) settled() bool {
	return s.Payment == order.PaymentConfirmed && s.Reason != order.ReasonItemsUnknown
}

// obsolete says that an email of that generation must not go out: a newer one has taken its place, or there is nothing to
// open.
func (s *state) obsolete(generation int) bool {
	return generation != s.Generation || s.Payment != order.PaymentConfirmed || s.Access != order.AccessGranted || s.EmailSuspended
}

// reason is why a person has to decide: the ledger's reason, or that of a step whose end is still to be written down.
func (s *state) reason() order.Reason {
	if s.Reason != "" {
		return s.Reason
	}
	for _, rule := range rules {
		name := rule.do.step()
		soon := slices.ContainsFunc(s.stops, func(w stop) bool { return w.step == name && !w.late })
		if reason, gaveUp := s.gaveUp[name]; gaveUp && s.pending(rule.do) && !soon {
			return reason
		}
	}
	return ""
}

// undecided says that a request waits, which nobody decides at this moment.
func (s *state) undecided() bool {
	return len(s.requests) > 0 && s.running&(readLedger|decideRequest) == 0 && !s.refresh
}

func (s *state) waitsForPerson() bool { return s.reason() != "" || s.Access == order.AccessAttention }

func (s *state) notBefore(a action) time.Time {
	switch {
	case a == readLedger:
		return s.readAfter
	case a == confirmPayment && s.event: // worth a check before its time
		return time.Time{}
	}
	return s.waits[a.step()].Until
}

// step adds to an action what it is about.
func (s *state) step(do action) step {
	next := step{do: do, turn: s.waits[do.step()].Turn}
	switch do {
	case confirmPayment:
		next.again = s.checked
	case decideRequest:
		next.request = s.requests[0]
	case stopStep:
		next.stop = s.stops[0]
	case sendEmail:
		next.generation = s.Generation
	case notifyOwner:
		next.reason = s.reason()
	}
	return next
}

// refusal says why a request would be refused, as far as this run knows; the ledger decides.
func (s *state) refusal(kind string) order.Refusal {
	switch {
	case kind != flow.KindResend || s.unread:
		return order.RefusedNone
	case s.Payment != order.PaymentConfirmed:
		return order.RefusedUnpaid
	case s.Access != order.AccessGranted:
		return order.RefusedNoAccess
	}
	return order.RefusedNone
}

// summary is the three facts, and why a person has to decide.
func (s *state) summary() flow.State {
	return flow.State{Payment: s.Payment, Access: s.Access, Email: s.Email, Generation: s.Generation, Reason: s.reason()}
}

// step is the name under which the ledger and the operator know an action; empty for the ones that are about no step.
func (a action) step() order.Step {
	switch a {
	case confirmPayment:
		return order.StepPayment
	case checkReversal:
		return order.StepReversal
	case changeAccess:
		return order.StepAccessChange
	case grantAccess:
		return order.StepAccess
	case sendEmail:
		return order.StepEmail
	}
	return ""
}
