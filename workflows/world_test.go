package workflows_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/temporal"

	"handover/activities"
	"handover/internal/flow"
	"handover/internal/order"
)

// world stands in for the activities, under their names, with a small ledger of its own. A step's script says how an
// attempt goes; without one it goes well. What must never happen is written down in broken.
type world struct {
	mu       sync.Mutex
	attempts map[string]int
	broken   []string

	payment order.PaymentState
	access  order.AccessState
	reason  order.Reason
	emails  []generation
	address string
	money   money
	decided map[string]flow.Answer

	confirm func(attempt int, in activities.ConfirmPaymentInput) (checked, error)
	grant   func(attempt int) error
	send    func(attempt, generation int) (sent, error)
	decide  func(attempt int) error
	stop    func(attempt int) error
	read    func(attempt int) (known, error)
	review  func(attempt int) (wait int, err error)
	change  func(attempt int) error

	steer       steering
	clock       int64 // of the ledger's snapshots
	openSeconds int   // of a known order
}

// steering is what the steps tell the run to steer by.
type steering struct{ openFor, awaitPayment, giveUp time.Duration }

type generation struct {
	recipient         string
	accepted, stopped bool
	class             order.Class // with which it stopped
}

func newWorld() *world {
	return &world{
		attempts: map[string]int{}, payment: order.PaymentPending, access: order.AccessPending, address: "first",
		decided: map[string]flow.Answer{}, money: money{wanted: order.AccessGranted, provider: order.AccessGranted},
		steer: steering{openFor: 30 * day, awaitPayment: 14 * day, giveUp: 12 * time.Hour},
	}
}

// again is the same world with its facts, for another run: an activity of the first one may still be under way in the old.
func (w *world) again() *world {
	w.mu.Lock()
	defer w.mu.Unlock()
	next := newWorld()
	next.payment, next.access, next.reason, next.address, next.money = w.payment, w.access, w.reason, w.address, w.money
	next.steer, next.clock = w.steer, w.clock
	next.emails, next.broken, next.decided = slices.Clone(w.emails), slices.Clone(w.broken), maps.Clone(w.decided)
	return next
}

// begin counts an attempt.
func (w *world) begin(step string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.attempts[step]++
	return w.attempts[step]
}

func (w *world) count(step string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.attempts[step]
}

func (w *world) breaks(format string, args ...any) {
	w.broken = append(w.broken, fmt.Sprintf(format, args...))
}

// checked, sent and known are what a script says of one attempt.
type checked struct {
	Payment     order.PaymentState
	Reason      order.Reason
	WaitSeconds int
}

type sent struct {
	Email       order.EmailState
	WaitSeconds int
}

type known struct {
	Payment     order.PaymentState
	Access      order.AccessState
	Email       order.EmailState
	Generation  int
	Reason      order.Reason
	OpenSeconds int
}

func (k known) progress(asOf int64) activities.Progress {
	return activities.Progress{OpenSeconds: k.OpenSeconds, Snapshot: order.Snapshot{AsOf: asOf, Payment: k.Payment, Access: k.Access,
		Email: k.Email, Generation: k.Generation, Reason: k.Reason, EmailSuspended: k.Access == order.AccessRevoked}}
}

// progress is how the order stands by the world's ledger, whose lock the caller holds.
func (w *world) progress() activities.Progress {
	w.clock++
	s := order.Snapshot{AsOf: w.clock, Payment: w.payment, Access: w.access, Email: order.EmailPending, Generation: max(1, len(w.emails)), Reason: w.reason,
		ReversalDue: w.money.reviewDue, AccessChangeDue: w.money.changeDue, EmailSuspended: w.money.wanted != order.AccessGranted}
	if w.payment == order.PaymentConfirmed && w.reason.Step() == order.StepAccess {
		s.Access = order.AccessAttention
	}
	if s.Access == order.AccessPending && w.money.wanted != order.AccessGranted {
		s.Access = w.money.wanted
	}
	if s.Reason == "" && w.money.unclear {
		s.Reason = order.ReasonRefundUnclear
	}
	if n := len(w.emails); n > 0 {
		switch newest := w.emails[n-1]; {
		case newest.accepted:
			s.Email = order.EmailAccepted
		case newest.stopped && newest.class == order.ClassUnknown, newest.stopped && newest.class == order.ClassUncertain, newest.stopped && newest.class == order.ClassPastWindow:
			s.Email = order.EmailUncertain
		case newest.stopped:
			s.Email = order.EmailAttention
		}
	}
	return activities.Progress{Snapshot: s}
}

func (w *world) ConfirmPayment(_ context.Context, in activities.ConfirmPaymentInput) (activities.ConfirmPaymentResult, error) {
	n := w.begin("ConfirmPayment")
	found := checked{Payment: order.PaymentConfirmed}
	var err error
	if w.confirm != nil {
		found, err = w.confirm(n, in)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.payment == order.PaymentConfirmed && w.reason != order.ReasonItemsUnknown {
		w.breaks("the payment was retrieved after it was confirmed")
	}
	switch {
	case err != nil:
		if final(err) && w.payment != order.PaymentConfirmed {
			w.payment, w.reason = order.PaymentAttention, order.ReasonPaymentStopped
		}
		return activities.ConfirmPaymentResult{}, err
	case found.WaitSeconds > 0:
		return activities.ConfirmPaymentResult{Progress: activities.Progress{WaitSeconds: found.WaitSeconds, GiveUpSeconds: int(w.steer.awaitPayment.Seconds())}}, nil
	case w.payment != order.PaymentConfirmed || found.Payment == order.PaymentConfirmed: // it is never taken back
		w.payment, w.reason = found.Payment, found.Reason
		if found.Payment == order.PaymentConfirmed && found.Reason.Step() != order.StepAccess {
			w.emails = []generation{{stopped: found.Reason.Step() == order.StepEmail}}
		}
	}
	p := w.progress()
	switch w.payment {
	case order.PaymentPending:
		p.GiveUpSeconds = int(w.steer.awaitPayment.Seconds())
	case order.PaymentConfirmed:
		p.OpenSeconds = int(w.steer.openFor.Seconds())
	}
	return activities.ConfirmPaymentResult{Progress: p}, nil
}

func (w *world) GrantAccess(context.Context, activities.GrantAccessInput) (activities.GrantAccessResult, error) {
	n := w.begin("GrantAccess")
	if w.grant != nil {
		if err := w.grant(n); err != nil {
			return activities.GrantAccessResult{}, err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.payment != order.PaymentConfirmed {
		w.breaks("access was granted while the payment was %s", w.payment)
	}
	if w.access == order.AccessGranted {
		w.breaks("access was granted again")
	}
	if w.money.wanted == order.AccessGranted {
		w.access = order.AccessGranted
	}
	return activities.GrantAccessResult{Progress: w.progress()}, nil
}

func (w *world) SendAccessEmail(_ context.Context, in activities.SendAccessEmailInput) (activities.SendAccessEmailResult, error) {
	n := w.begin("SendAccessEmail")
	w.mu.Lock()
	if w.money.wanted != order.AccessGranted {
		defer w.mu.Unlock()
		return activities.SendAccessEmailResult{Progress: w.progress()}, nil
	}
	if w.access != order.AccessGranted && !w.money.changeDue {
		w.breaks("an email was sent while access was %s", w.access)
	}
	if in.Generation < 1 || in.Generation > len(w.emails) {
		w.breaks("generation %d was sent and nobody had asked for it", in.Generation)
		w.mu.Unlock()
		return activities.SendAccessEmailResult{}, failure(order.ClassPermanent)
	}
	mail := &w.emails[in.Generation-1]
	accepted, stopped := mail.accepted, mail.stopped
	if mail.recipient == "" {
		mail.recipient = w.address
	}
	if accepted {
		w.breaks("generation %d was sent after it was accepted", in.Generation)
	}
	w.mu.Unlock()
	if stopped {
		return activities.SendAccessEmailResult{}, failure(order.ClassUncertain)
	}
	var attempt sent
	var err error
	if w.send != nil {
		attempt, err = w.send(n, in.Generation)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	mail = &w.emails[in.Generation-1]
	switch {
	case err != nil:
		if final(err) && !mail.stopped {
			mail.stopped, w.reason = true, order.ReasonEmailRefused
		}
		return activities.SendAccessEmailResult{}, err
	case attempt.WaitSeconds > 0:
		return activities.SendAccessEmailResult{Progress: activities.Progress{WaitSeconds: attempt.WaitSeconds, GiveUpSeconds: int(w.steer.giveUp.Seconds())}}, nil
	}
	mail.accepted = true
	return activities.SendAccessEmailResult{Progress: w.progress()}, nil
}

func (w *world) StopStep(_ context.Context, in activities.StopStepInput) (activities.StopStepResult, error) {
	n := w.begin("StopStep")
	if w.stop != nil {
		if err := w.stop(n); err != nil {
			return activities.StopStepResult{}, err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch in.Step {
	case order.StepReversal:
		if w.reason != "" && w.reason.Step() != order.StepReversal {
			return activities.StopStepResult{Progress: w.progress()}, nil
		}
	case order.StepAccessChange:
		w.money.changeDue, w.money.stopped = false, true
	case order.StepPayment:
		w.payment = order.PaymentAttention
	case order.StepAccess:
		w.access = order.AccessAttention
	case order.StepEmail:
		w.emails[in.Generation-1].stopped, w.emails[in.Generation-1].class = true, in.Class
	}
	w.reason = in.Reason
	return activities.StopStepResult{Progress: w.progress()}, nil
}

func (w *world) DecideRequest(_ context.Context, in activities.DecideRequestInput) (activities.DecideRequestResult, error) {
	n := w.begin("DecideRequest")
	if w.decide != nil {
		if err := w.decide(n); err != nil {
			return activities.DecideRequestResult{}, err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	d, found := w.decided[in.RequestID]
	switch {
	case found:
		d.Repeated = true
	case in.Refusal != "":
		d = flow.Answer{Outcome: order.OutcomeRefused, Refusal: in.Refusal, Says: in.Refusal.Message()}
	default:
		d = w.rule(in.Kind)
	}
	w.decided[in.RequestID] = d
	p := w.progress()
	p.OpenSeconds = w.openSeconds
	return activities.DecideRequestResult{Answer: d, Progress: p}, nil
}

// rule decides as the ledger does.
func (w *world) rule(kind string) flow.Answer {
	if kind == flow.KindRevoke || kind == flow.KindRestore {
		return w.override(kind)
	}
	access := w.access
	if w.money.wanted != order.AccessGranted {
		access = w.money.wanted
	}
	facts := order.ResendFacts{Payment: w.payment, Access: access, Address: w.address, Generation: len(w.emails)}
	if n := len(w.emails); n > 0 {
		newest := w.emails[n-1]
		facts.Open, facts.Recipient = !newest.accepted && !newest.stopped, newest.recipient
	}
	outcome, refusal := order.DecideResend(facts)
	d := flow.Answer{Outcome: outcome, Refusal: refusal, Says: refusal.Message(), Generation: len(w.emails)}
	if outcome == order.OutcomeSending {
		if facts.Open {
			w.emails[len(w.emails)-1].stopped = true
		}
		w.emails = append(w.emails, generation{})
		d.Generation = len(w.emails)
	}
	if outcome != order.OutcomeRefused && w.reason.Step() == "email" {
		w.reason = w.stopped()
	}
	d.Reason = w.reason
	return d
}

func (w *world) ReadOrder(context.Context, activities.ReadOrderInput) (activities.ReadOrderResult, error) {
	n := w.begin("ReadOrder")
	if w.read != nil {
		k, err := w.read(n)
		if err != nil {
			return activities.ReadOrderResult{}, err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.clock++
		return activities.ReadOrderResult{Progress: k.progress(w.clock)}, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.progress()
	if w.payment == order.PaymentConfirmed {
		p.OpenSeconds = w.openSeconds
	}
	return activities.ReadOrderResult{Progress: p}, nil
}

// deliver puts the world where an order is after its straight path.
func (w *world) deliver() {
	w.payment, w.access, w.emails = order.PaymentConfirmed, order.AccessGranted, []generation{{recipient: w.address, accepted: true}}
}

// failure is an error as the activities make them: a class, and nothing else.
func failure(class order.Class) error {
	if class.Final() || class == order.ClassLedger { // which the activity has tried again itself
		return temporal.NewNonRetryableApplicationError("step: "+string(class), string(class), nil)
	}
	return temporal.NewApplicationError("step: "+string(class), string(class))
}

func final(err error) bool {
	application, ok := err.(*temporal.ApplicationError)
	return ok && order.Class(application.Type()).Final()
}

func (w *world) AlertOwner(context.Context, activities.AlertOwnerInput) (activities.AlertOwnerResult, error) {
	return activities.AlertOwnerResult{Outcome: "told"}, nil
}
