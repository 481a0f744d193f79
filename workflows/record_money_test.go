package workflows_test

import (
	enumspb "go.temporal.io/api/enums/v1"

	"handover/internal/flow"
	"handover/internal/lab/sandbox"
)

// recordReversals plays what refunds, disputes and an operator's override make of an order.
func recordReversals(r *recorder) {
	const done, timer, attribute = enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, enumspb.EVENT_TYPE_TIMER_STARTED,
		enumspb.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES
	told := map[string]string{"event": "evt_money", "about": flow.AboutReversal}
	asked := map[string]string{"reason": "the owner decided"}
	const reviewed, changed = 4, 5 // three steps of the delivery, a check of the reversal; a change

	refunded := r.order(r.queue, nil).start().until(timer, 1)
	refunded.refund(0)
	refunded.signal(flow.SignalPaymentEvent, told).until(done, changed).save("refunded_after_delivery")

	disputed := r.order(r.queue, nil).start().until(timer, 1)
	dispute, err := r.sandbox.Dispute(sandbox.Dispute{Session: disputed.key.Session})
	must(r.t, err)
	disputed.signal(flow.SignalPaymentEvent, told).until(done, changed).save("held_while_disputed")
	won := r.order(r.queue, nil).start().until(timer, 1)
	dispute, err = r.sandbox.Dispute(sandbox.Dispute{Session: won.key.Session})
	must(r.t, err)
	won.signal(flow.SignalPaymentEvent, told).until(done, changed)
	_, err = r.sandbox.ChangeDispute(dispute.ID, "won")
	must(r.t, err)
	won.signal(flow.SignalPaymentEvent, told).until(done, 2*changed-3).save("dispute_won")

	part := r.order(r.queue, nil).start().until(timer, 1)
	part.refund(500)
	part.signal(flow.SignalPaymentEvent, told).until(attribute, 1).until(done, reviewed).save("refund_names_no_item")
	settled := r.order(r.queue, nil).start().until(timer, 1)
	settled.refund(500)
	settled.signal(flow.SignalPaymentEvent, told).until(attribute, 1).signal(flow.KindRestore, asked).until(attribute, 2).save("refund_left_as_it_is")

	r.order(r.queue, nil).start().until(timer, 1).signal(flow.KindRevoke, asked).until(done, changed).
		signal(flow.KindRestore, asked).until(done, 2*changed-3).save("revoked_and_restored")
	r.order(r.queue, nil).start().until(timer, 1).signal(flow.KindRelink, asked).until(done, reviewed).save("relinked")

	first := r.order(r.queue, nil)
	first.refund(0)
	first.start().until(timer, 1).save("refunded_before_anything_was_given")
	late := r.order(r.brief, nil).start().closed()
	late.refund(0)
	late.resume(flow.SignalPaymentEvent, told).closed().save("resumed_for_a_refund")
}

// refund pays an amount back, in minor units; everything when 0.
func (r *recording) refund(amount int64) {
	r.t.Helper()
	_, err := r.sandbox.Refund(sandbox.Refund{Session: r.key.Session, Amount: amount})
	must(r.t, err)
}
