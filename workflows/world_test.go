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
	decided map[string]activities.DecideRequestResult

	confirm func(attempt int, in activities.ConfirmPaymentInput) (activities.ConfirmPaymentResult, error)
	grant   func(attempt int) error
	send    func(attempt, generation int) (activities.SendAccessEmailResult, error)
	decide  func(attempt int) error
	stop    func(attempt int) error
	read    func() (activities.ReadOrderResult, error)
	review  func(attempt int) (wait int, err error)
	change  func(attempt int) error

	steer steering
}

// steering is what the steps tell the run to steer by.
type steering struct{ openFor, awaitPayment, giveUp time.Duration }

type generation struct {
	recipient         string
	accepted, stopped bool
}

func newWorld() *world {
	return &world{
		attempts: map[string]int{}, payment: order.PaymentPending, access: order.AccessPending, address: "first",
		decided: map[string]activities.DecideRequestResult{}, money: money{wanted: order.AccessGranted, provider: order.AccessGranted},
		steer: steering{openFor: 30 * day, awaitPayment: 14 * day, giveUp: 12 * time.Hour},
	}
}

// again is the same world with its facts, for another run: an activity of the first one may still be under way in the old.
func (w *world) again() *world {
	w.mu.Lock()
	defer w.mu.Unlock()
	next := newWorld()
	next.payment, next.access, next.reason, next.address, next.money = w.payment, w.access, w.reason, w.address, w.money
	next.steer = w.steer
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

func (w *world) ConfirmPayment(_ context.Context, in activities.ConfirmPaymentInput) (activities.ConfirmPaymentResult, error) {
	n := w.begin("ConfirmPayment")
	found := activities.ConfirmPaymentResult{Payment: order.PaymentConfirmed}
	var err error
	if w.confirm != nil {
		found, err = w.confirm(n, in)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	found.AwaitSeconds, found.OpenSeconds = int(w.steer.awaitPayment.Seconds()), int(w.steer.openFor.Seconds())
	if w.payment == order.PaymentConfirmed && w.reason != order.ReasonItemsUnknown {
		w.breaks("the payment was looked at after it was confirmed")
	}
	switch {
	case err != nil || found.WaitSeconds > 0:
		if final(err) && w.payment != order.PaymentConfirmed {
			w.payment, w.reason = order.PaymentAttention, order.ReasonPaymentStopped
		}
		return found, err
	case w.payment == order.PaymentConfirmed && found.Payment != order.PaymentConfirmed:
		found.Payment, found.Reason = w.payment, w.reason // it is never taken back
		return found, nil
	}
	w.payment, w.reason = found.Payment, found.Reason
	found.ReversalDue = found.ReversalDue || w.money.reviewDue
	if found.Payment == order.PaymentConfirmed && found.Reason.Step() != "access" {
		w.emails = []generation{{stopped: found.Reason.Step() == "email"}}
	}
	return found, err
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
	if w.money.wanted != order.AccessGranted {
		return activities.GrantAccessResult{Access: w.money.wanted}, nil
	}
	w.access = order.AccessGranted
	return activities.GrantAccessResult{Access: order.AccessGranted}, nil
}

func (w *world) SendAccessEmail(_ context.Context, in activities.SendAccessEmailInput) (activities.SendAccessEmailResult, error) {
	n := w.begin("SendAccessEmail")
	w.mu.Lock()
	if w.money.wanted != order.AccessGranted {
		w.mu.Unlock()
		return activities.SendAccessEmailResult{Email: order.EmailPending, Suspended: true}, nil
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
	switch {
	case accepted:
		return activities.SendAccessEmailResult{Email: order.EmailAccepted}, nil
	case stopped:
		return activities.SendAccessEmailResult{}, failure(order.ClassUncertain)
	}
	sent := activities.SendAccessEmailResult{Email: order.EmailAccepted}
	var err error
	if w.send != nil {
		sent, err = w.send(n, in.Generation)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	sent.GiveUpSeconds = int(w.steer.giveUp.Seconds())
	mail = &w.emails[in.Generation-1]
	switch {
	case final(err) && !mail.stopped:
		mail.stopped, w.reason = true, order.ReasonEmailRefused
	case err == nil && sent.WaitSeconds == 0:
		mail.accepted = true
	}
	return sent, err
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
	reason := map[string]order.Reason{
		"payment": order.ReasonPaymentStopped, "access": order.ReasonAccessStopped, "email": order.ReasonEmailExhausted,
		"review": order.ReasonReversalUnread, "revoke": order.ReasonRevokeStopped,
	}[in.Step]
	if in.Reason != "" {
		reason = in.Reason
	}
	switch in.Step {
	case "review":
		if w.reason != "" && w.reason.Step() != order.StepReversal {
			return activities.StopStepResult{Reason: w.reason}, nil
		}
	case "revoke":
		w.money.changeDue, w.money.stopped = false, true
	case "payment":
		w.payment = order.PaymentAttention
	case "access":
		w.access = order.AccessAttention
	case "email":
		w.emails[in.Generation-1].stopped = true
	}
	w.reason = reason
	return activities.StopStepResult{Reason: reason}, nil
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
	if d, found := w.decided[in.RequestID]; found {
		d.Repeated = true
		return d, nil
	}
	d := activities.DecideRequestResult{Outcome: order.OutcomeRefused, Refusal: in.Refusal, Says: in.Refusal.Message()}
	if in.Refusal == "" {
		d = w.rule(in.Kind)
	}
	w.decided[in.RequestID] = d
	return d, nil
}

// rule decides as the ledger does.
func (w *world) rule(kind string) activities.DecideRequestResult {
	if kind == flow.KindRevoke || kind == flow.KindRestore {
		return w.verdict(kind)
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
	d := activities.DecideRequestResult{Outcome: outcome, Refusal: refusal, Says: refusal.Message(), Generation: len(w.emails)}
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
	w.begin("ReadOrder")
	if w.read != nil {
		return w.read()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	r := activities.ReadOrderResult{Payment: w.payment, Access: w.access, Email: order.EmailPending, Generation: max(1, len(w.emails)), Reason: w.reason}
	if w.payment == order.PaymentConfirmed && w.reason.Step() == "access" {
		r.Access = order.AccessAttention
	}
	if w.access == order.AccessPending && w.money.wanted != order.AccessGranted && r.Access != order.AccessAttention {
		r.Access = w.money.wanted
	}
	r.ReversalDue, r.AccessChangeDue, r.EmailSuspended = w.money.reviewDue, w.money.changeDue, w.money.wanted != order.AccessGranted
	if r.Reason == "" && w.money.unclear {
		r.Reason = order.ReasonRefundUnclear
	}
	if n := len(w.emails); n > 0 && w.emails[n-1].accepted {
		r.Email = order.EmailAccepted
	} else if n > 0 && w.emails[n-1].stopped {
		r.Email = order.EmailAttention
	}
	return r, nil
}

// deliver puts the world where an order is after its straight path.
func (w *world) deliver() {
	w.payment, w.access, w.emails = order.PaymentConfirmed, order.AccessGranted, []generation{{recipient: w.address, accepted: true}}
}

// failure is an error as the activities make them: a class, and nothing else.
func failure(class order.Class) error {
	if class.Final() {
		return temporal.NewNonRetryableApplicationError("step: "+string(class), string(class), nil)
	}
	return temporal.NewApplicationError("step: "+string(class), string(class))
}

func final(err error) bool {
	application, ok := err.(*temporal.ApplicationError)
	return ok && application.NonRetryable()
}

func (w *world) AlertOwner(context.Context, activities.AlertOwnerInput) (activities.AlertOwnerResult, error) {
	return activities.AlertOwnerResult{Outcome: "told"}, nil
}
