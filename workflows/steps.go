package workflows

import (
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"handover/activities"
	"handover/internal/order"
)

// a serves for method references only; the worker registers the real one.
var a *activities.Activities

// do carries out one step: one activity, and what it came to.
func (d *delivery) do(ctx workflow.Context, s step) {
	switch s.do {
	case readLedger:
		d.readLedger(ctx, s)
	case decideRequest:
		d.decideRequest(ctx, s)
	case stopStep:
		d.stopStep(ctx, s)
	case confirmPayment:
		d.confirmPayment(ctx, s)
	case checkReversal:
		d.checkReversal(ctx, s)
	case changeAccess:
		d.changeAccess(ctx, s)
	case grantAccess:
		d.grantAccess(ctx, s)
	case sendEmail:
		d.sendEmail(ctx, s)
	case notifyOwner:
		d.notifyOwner(ctx, s)
	}
}

// confirmPayment asks the provider once whether the session is paid.
func (d *delivery) confirmPayment(ctx workflow.Context, s step) {
	in := activities.ConfirmPaymentInput{
		Key: d.in.Key, Event: d.in.Event, Origin: d.origin, Again: s.again, Turn: s.turn,
	}
	var found activities.ConfirmPaymentResult
	err := d.execute(ctx, d.cfg.Payment, "Ask the payment provider whether it is paid", a.ConfirmPayment, in, &found)
	d.apply(ctx, s, found.Progress, err)
}

// checkReversal asks the provider how the money of a confirmed payment stands.
func (d *delivery) checkReversal(ctx workflow.Context, s step) {
	in := activities.CheckReversalInput{Key: d.in.Key, Turn: s.turn}
	var found activities.CheckReversalResult
	err := d.execute(ctx, d.cfg.Payment, "Ask the payment provider about refunds and disputes", a.CheckReversal, in, &found)
	d.apply(ctx, s, found.Progress, err)
}

// grantAccess issues everything that the buyer paid for.
func (d *delivery) grantAccess(ctx workflow.Context, s step) {
	var granted activities.GrantAccessResult
	in := activities.GrantAccessInput{Key: d.in.Key}
	err := d.execute(ctx, d.cfg.Access, "Grant the downloads and licence keys", a.GrantAccess, in, &granted)
	d.apply(ctx, s, granted.Progress, err)
}

// changeAccess revokes, holds or restores access as the ledger says.
func (d *delivery) changeAccess(ctx workflow.Context, s step) {
	var changed activities.ChangeAccessResult
	in := activities.ChangeAccessInput{Key: d.in.Key}
	err := d.execute(ctx, d.cfg.Revoke, "Revoke, hold or restore the access", a.ChangeAccess, in, &changed)
	d.apply(ctx, s, changed.Progress, err)
}

// sendEmail has the email provider accept one generation. It runs on a queue of its own, where the provider's rate limit
// is kept over all workers.
func (d *delivery) sendEmail(ctx workflow.Context, s step) {
	ctx, d.cancelEmail = workflow.WithCancel(ctx)
	options := d.cfg.Email.options(fmt.Sprintf("Send the access email, generation %d", s.generation))
	options.TaskQueue = d.cfg.EmailQueue
	in := activities.SendAccessEmailInput{Key: d.in.Key, Generation: s.generation, Turn: s.turn}
	var sent activities.SendAccessEmailResult
	err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options), a.SendAccessEmail, in).Get(ctx, &sent)
	d.apply(ctx, s, sent.Progress, err)
}

// readLedger reads how the order stands.
func (d *delivery) readLedger(ctx workflow.Context, s step) {
	var known activities.ReadOrderResult
	err := d.execute(ctx, ledgerPolicy, "Read what is done already", a.ReadOrder, activities.ReadOrderInput{Key: d.in.Key}, &known)
	d.apply(ctx, s, known.Progress, err)
}

// decideRequest decides what an operator asks for. The ledger does, because it knows what was decided before.
func (d *delivery) decideRequest(ctx workflow.Context, s step) {
	r := s.request
	in := activities.DecideRequestInput{Key: d.in.Key, Kind: r.kind, RequestID: r.RequestID, Reason: r.Reason, Refusal: r.refusal}
	var decided activities.DecideRequestResult
	err := d.execute(ctx, ledgerPolicy, "Decide a request to "+r.kind, a.DecideRequest, in, &decided)
	d.apply(ctx, s, decided.Progress, err)
	if class, _ := classOf(err); class != order.ClassLedger { // else it is decided when the database is back
		d.state.answered(r, decided.Answer, err)
		workflow.GetLogger(ctx).Info("request decided", "kind", r.kind, "order", d.in.String(), "request", r.RequestID,
			"outcome", string(decided.Outcome), "refusal", string(decided.Refusal), "error", err)
	}
}

// stopStep marks the order for a person, because the automatic attempts of a step have ended.
func (d *delivery) stopStep(ctx workflow.Context, s step) {
	in := activities.StopStepInput{Key: d.in.Key, Step: s.stop.step, Generation: s.stop.generation, Event: d.in.Event,
		Class: s.stop.class, Reason: s.stop.reason}
	var stopped activities.StopStepResult
	err := d.execute(ctx, ledgerPolicy, "Mark the order for a person", a.StopStep, in, &stopped)
	d.apply(ctx, s, stopped.Progress, err)
}

// notifyOwner tells the owner why a person has to decide. What becomes of that is written down and changes nothing here.
func (d *delivery) notifyOwner(ctx workflow.Context, s step) {
	in := activities.AlertOwnerInput{Key: d.in.Key, Reason: s.reason}
	err := d.execute(ctx, alertPolicy, "Notify the shop's owner", a.AlertOwner, in, new(activities.AlertOwnerResult))
	d.apply(ctx, s, activities.Progress{}, err)
}

func (d *delivery) execute(ctx workflow.Context, p Policy, summary string, activity, in, out any) error {
	return workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, p.options(summary)), activity, in).Get(ctx, out)
}

func (d *delivery) apply(ctx workflow.Context, s step, p activities.Progress, err error) {
	class, reason := classOf(err)
	d.state.apply(s, result{Progress: p, class: class, reason: reason}, workflow.Now(ctx))
}

// classOf reads the class and the reason that an activity's error carries. Attempts that ran out under a passing fault are
// exhausted; where the last one died without a response, whether its call arrived is unknown. A step that no worker took
// up in all its time was never tried, as after a long outage of Temporal: it begins again.
func classOf(err error) (order.Class, order.Reason) {
	if err == nil {
		return "", ""
	}
	var failed *temporal.ApplicationError
	if errors.As(err, &failed) {
		class := order.Class(failed.Type())
		var reason order.Reason
		if failed.HasDetails() {
			_ = failed.Details(&reason)
		}
		if class.Final() || class == order.ClassUnknown || class == order.ClassLedger {
			return class, reason
		}
		return order.ClassExhausted, ""
	}
	var late *temporal.TimeoutError
	if errors.As(err, &late) {
		if late.TimeoutType() != enumspb.TIMEOUT_TYPE_START_TO_CLOSE && late.Unwrap() == nil {
			return order.ClassLedger, ""
		}
		return order.ClassUnknown, ""
	}
	return order.ClassExhausted, ""
}
