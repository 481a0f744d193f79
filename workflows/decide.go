package workflows

import (
	"fmt"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"handover/activities"
	"handover/internal/flow"
	"handover/internal/order"
)

// request is one wish of an operator.
type request struct {
	flow.Request
	kind    string
	refusal order.Refusal
	result  activities.DecideRequestResult
	err     error
	done    bool
}

// wish reads a signal. One without an identity gets its place in the lineage of the workflow, which a reset repeats.
func (d *delivery) wish(raw converter.RawValue, kind string) {
	parsed, refusal := parseRequest(raw)
	if parsed.RequestID == "" {
		d.signals++
		parsed.RequestID = fmt.Sprintf("signal/%s/%d", d.origin, d.signals)
	}
	d.waiting = append(d.waiting, &request{Request: parsed, kind: kind, refusal: refusal})
}

// answer decides the requests that have come, one after the other.
func (d *delivery) answer(ctx workflow.Context) {
	for len(d.waiting) > 0 {
		r := d.waiting[0]
		d.waiting = d.waiting[1:]
		d.decide(ctx, r)
		r.done = true
	}
}

func (d *delivery) decide(ctx workflow.Context, r *request) {
	options := ledgerPolicy.options("Decide a request to " + r.kind)
	in := activities.DecideRequestInput{Order: d.in.Key, Kind: r.kind, RequestID: r.RequestID, Reason: r.Reason, Refusal: r.refusal}
	r.err = workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options), a.DecideRequest, in).Get(ctx, &r.result)
	if r.err != nil {
		d.note = "A request could not be decided: the database did not answer."
		workflow.GetLogger(ctx).Error("request not decided", "order", d.in.Key.String(), "request", r.RequestID)
		d.describe(ctx)
		return
	}
	switch r.result.Outcome {
	case order.OutcomeRefused:
		d.stale = d.stale || r.result.Refusal == order.RefusedNothingStopped
		d.note = "A " + r.kind + " was refused: " + r.result.Says + "."
		workflow.GetLogger(ctx).Warn("request refused", "kind", r.kind, "order", d.in.Key.String(), "request", r.RequestID, "refusal", string(r.result.Refusal))
	case order.OutcomeRetrying, order.OutcomeRevoking, order.OutcomeRestoring:
		d.note = ""
		d.catchUp(ctx)
		d.mark(ctx)
	default:
		d.note = ""
		d.nextGeneration(r.result)
		d.mark(ctx)
	}
	d.describe(ctx)
}

// nextGeneration takes up what was decided. A repetition brings only a generation that this run has not heard of, as
// after a reset; one that is finished already answers so when it is sent.
func (d *delivery) nextGeneration(r activities.DecideRequestResult) {
	if r.Generation < d.Generation || (r.Repeated && r.Generation == d.Generation) {
		return
	}
	// The decision saw the ledger, which can be ahead of a run that started from nothing.
	d.Payment, d.Access = order.PaymentConfirmed, order.AccessGranted
	if r.Generation > d.Generation || !d.emailDue {
		d.Generation, d.emailDue, d.Email = r.Generation, true, order.EmailPending
	}
	if d.Reason.Step() == "email" {
		d.Reason = r.Reason
	}
}

// updater answers an Update when the request is decided, not when the work is done: that can take hours.
func (d *delivery) updater(kind string) func(workflow.Context, converter.RawValue) (activities.DecideRequestResult, error) {
	return func(ctx workflow.Context, raw converter.RawValue) (activities.DecideRequestResult, error) {
		parsed, refusal := parseRequest(raw)
		parsed.RequestID = "update/" + workflow.GetCurrentUpdateInfo(ctx).ID
		r := &request{Request: parsed, kind: kind, refusal: refusal}
		d.updates.Send(ctx, r)
		if err := workflow.Await(ctx, func() bool { return r.done }); err != nil {
			return activities.DecideRequestResult{}, err
		}
		return r.result, r.err
	}
}

// validator rejects an Update before it becomes part of the history.
func (d *delivery) validator(kind string) func(workflow.Context, converter.RawValue) error {
	return func(_ workflow.Context, raw converter.RawValue) error {
		_, refusal := parseRequest(raw)
		switch {
		case refusal != order.RefusedNone:
		case kind != flow.KindResend: // the ledger decides
			return nil
		case d.Payment != order.PaymentConfirmed:
			refusal = order.RefusedUnpaid
		case d.Access != order.AccessGranted:
			refusal = order.RefusedNoAccess
		default:
			return nil
		}
		return temporal.NewNonRetryableApplicationError("refused: "+refusal.Message(), string(refusal), nil)
	}
}
