package workflows

import (
	"encoding/json"
	"fmt"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"handover/internal/flow"
	"handover/internal/order"
)

// inbox is everything that can reach a running order from outside. Only the run's own loop receives signals, and only
// what is in the buffer: a receiver that is blocked takes a message away even in the task in which the run closes.
type inbox struct {
	events  workflow.ReceiveChannel
	signals int    // signals that came without an identity of their own, over all runs of the lineage
	origin  string // the run in which the workflow was first started, before any reset or continuation
	asked   []workflow.ReceiveChannel
}

// kinds are what an operator can ask for, each as a signal and as an update of that name.
var kinds = []struct{ name, description string }{
	{flow.KindResend, `Send the email again, as a new generation. Payload: {"reason":"why"}. No addresses: use starter resend --to.`},
	{flow.KindRetry, `Try again what has stopped, under the same keys. Payload: {"reason":"why"}`},
	{flow.KindRelink, `Send a new link in a new email; the links that were sent before no longer work. Payload: {"reason":"why"}`},
	{flow.KindRevoke, `End the access. It stays ended until a person restores it. Payload: {"reason":"why"}`},
	{flow.KindRestore, `Restore the access, or leave it as it is after a refund that names no item. Payload: {"reason":"why"}`},
}

// open makes the signals, the updates and the query known.
func (d *delivery) open(ctx workflow.Context) error {
	d.events = workflow.GetSignalChannelWithOptions(ctx, flow.SignalPaymentEvent, workflow.SignalChannelOptions{
		Description: "The payment provider has reported something about this session: retrieve it again. Sent by the starter."})
	for _, kind := range kinds {
		d.asked = append(d.asked, workflow.GetSignalChannelWithOptions(ctx, kind.name, workflow.SignalChannelOptions{Description: kind.description}))
		err := workflow.SetUpdateHandlerWithOptions(ctx, kind.name, d.update(kind.name), workflow.UpdateHandlerOptions{
			Validator:   d.validate(kind.name),
			Description: kind.description + " Returns what was decided.",
		})
		if err != nil {
			return err
		}
	}
	return workflow.SetQueryHandlerWithOptions(ctx, flow.QueryState, func() (flow.State, error) { return d.state.summary(), nil },
		workflow.QueryHandlerOptions{Description: "The three facts as this run knows them"})
}

// arrived says that something waits to be received or decided.
func (d *delivery) arrived() bool {
	for _, c := range d.asked {
		if c.Len() > 0 {
			return true
		}
	}
	return d.events.Len() > 0 || d.state.undecided()
}

// receive takes every signal that has come.
func (d *delivery) receive() {
	var raw converter.RawValue
	for d.events.ReceiveAsync(&raw) {
		var event flow.PaymentEvent
		_ = json.Unmarshal(raw.Payload().GetData(), &event) // one that cannot be read is a reason to ask all the same
		d.state.noticed(event.About)
	}
	for i, c := range d.asked {
		for c.ReceiveAsync(&raw) {
			d.state.asked(d.request(raw, kinds[i].name))
		}
	}
}

// request reads a signal, which is received raw because Temporal drops a payload of the wrong type. One without an
// identity gets its place in the workflow's lineage, which a reset repeats.
func (d *delivery) request(raw converter.RawValue, kind string) *request {
	parsed, refusal := parseRequest(raw)
	if parsed.RequestID == "" {
		d.signals++
		parsed.RequestID = fmt.Sprintf("signal/%s/%d", d.origin, d.signals)
	}
	return &request{Request: parsed, kind: kind, refusal: refusal}
}

// update responds when the request is decided, and not when the work is done, because that can take hours.
func (d *delivery) update(kind string) func(workflow.Context, converter.RawValue) (flow.Answer, error) {
	return func(ctx workflow.Context, raw converter.RawValue) (flow.Answer, error) {
		parsed, refusal := parseRequest(raw)
		parsed.RequestID = "update/" + workflow.GetCurrentUpdateInfo(ctx).ID
		r := &request{Request: parsed, kind: kind, refusal: refusal}
		d.state.asked(r)
		if err := workflow.Await(ctx, func() bool { return r.decided }); err != nil {
			return flow.Answer{}, err
		}
		return r.answer, r.err
	}
}

// validate rejects an update before it becomes part of the history.
func (d *delivery) validate(kind string) func(workflow.Context, converter.RawValue) error {
	return func(_ workflow.Context, raw converter.RawValue) error {
		_, refusal := parseRequest(raw)
		if refusal == order.RefusedNone {
			refusal = d.state.refusal(kind)
		}
		if refusal == order.RefusedNone {
			return nil
		}
		return temporal.NewNonRetryableApplicationError("refused: "+refusal.Message(), string(refusal), nil)
	}
}

// drained waits until every update has its response, and says that nothing else has come: what arrives with the last
// workflow task must not be lost.
func (d *delivery) drained(ctx workflow.Context) bool {
	_ = workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) || d.arrived() })
	return !d.arrived()
}
