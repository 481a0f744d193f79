package workflows

import (
	"encoding/json"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"handover/activities"
	"handover/internal/flow"
	"handover/internal/order"
)

// reversal is what a run knows of a refund or a dispute that is still to be dealt with.
type reversal struct {
	reviewDue bool // there may be something new about the money
	changeDue bool // access is not as the ledger says it has to be
	unread    bool // how the money stands could not be found out: nothing is given before it is
	reversing bool // one of the two is under way
	stepping  bool // so is a step before the email, whose outcome comes first
}

// paymentEvent takes a signal of the starter. Neither kind of event is believed: each makes the run look.
func (d *delivery) paymentEvent(raw converter.RawValue) {
	var told struct {
		About string `json:"about"`
	}
	if json.Unmarshal(raw.Payload().GetData(), &told) == nil && told.About == flow.AboutReversal {
		d.reviewDue = true
		return
	}
	d.look, d.stale = true, true
}

// reverse deals with a refund or a dispute in the middle of a wait. While the payment is looked at, or access is still to
// be granted, it is left to the story itself, so that the grant and the change come one after the other.
func (d *delivery) reverse(ctx workflow.Context) {
	if d.reversing || d.stepping || d.stopping || d.Access == order.AccessPending || !d.reversalDue() {
		return
	}
	d.reversing = true
	d.reviewPayment(ctx)
	d.changeAccess(ctx)
	d.reversing = false
	d.mark(ctx)
	d.describe(ctx)
}

func (d *delivery) reversalDue() bool {
	return d.Payment == order.PaymentConfirmed && (d.reviewDue || d.changeDue)
}

// reviewPayment asks how the money of a confirmed payment stands, and takes up what that makes of the order: from the
// ledger, since requests were decided meanwhile. Waits that the provider asks for spend no attempt, and are bounded all
// the same.
func (d *delivery) reviewPayment(ctx workflow.Context) {
	began := workflow.Now(ctx)
	for d.reviewDue && d.Payment == order.PaymentConfirmed {
		d.reviewDue = false
		var found activities.CheckReversalResult
		in := activities.CheckReversalInput{Order: d.in.Key}
		if err := d.run(ctx, d.cfg.Payment, "Ask the payment provider about refunds and disputes", a.CheckReversal, in, &found); err != nil {
			d.unread = true
			d.stop(ctx, "review", classOf(err), "")
			return
		}
		if found.WaitSeconds == 0 {
			d.unread = false
			d.catchUp(ctx)
			continue
		}
		wait := inSeconds(found.WaitSeconds)
		if workflow.Now(ctx).Add(wait).Sub(began) > inSeconds(found.GiveUpSeconds) {
			d.unread = true
			d.stop(ctx, "review", order.ClassExhausted, "")
			return
		}
		d.reviewDue = true
		d.sleep(ctx, wait, "The payment provider asks to wait", func() bool { return false })
	}
}

// changeAccess ends, holds or gives back what the ledger says.
func (d *delivery) changeAccess(ctx workflow.Context) {
	if !d.changeDue || d.Payment != order.PaymentConfirmed {
		return
	}
	d.changeDue = false
	var now activities.ChangeAccessResult
	in := activities.ChangeAccessInput{Order: d.in.Key}
	if err := d.run(ctx, d.cfg.Revoke, "End, hold or give back the access", a.ChangeAccess, in, &now); err != nil {
		d.stop(ctx, "revoke", classOf(err), "")
		return
	}
	d.Access = now.Access // for as long as the database does not answer
	d.catchUp(ctx)
}

// takeUp makes what the ledger knows this run's own.
func (d *delivery) takeUp(known activities.ReadOrderResult) {
	d.State = flow.State{Payment: known.Payment, Access: known.Access, Email: known.Email, Generation: known.Generation, Reason: known.Reason}
	d.emailDue = known.Payment == order.PaymentConfirmed && known.Email == order.EmailPending && !known.EmailSuspended
	d.reviewDue = d.reviewDue || known.ReversalDue
	d.changeDue = known.AccessChangeDue
}
