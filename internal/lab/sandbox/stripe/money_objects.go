package stripe

import (
	"strings"
	"time"

	"handover/internal/lab/sandbox/core"
)

// refundObject is https://docs.stripe.com/api/refunds/object. It has no livemode.
func refundObject(sess Session, r Refund) core.Object {
	o := core.Object{
		"id": r.ID, "object": "refund", "amount": r.Amount, "balance_transaction": nil, "charge": chargeID(sess),
		"created": r.Created.Unix(), "currency": sess.Currency, "metadata": core.Object{},
		"destination_details": core.Object{"card": core.Object{"type": "refund"}, "type": "card"},
		"payment_intent":      sess.PaymentIntent.ID, "reason": nil, "receipt_number": nil,
		"source_transfer_reversal": nil, "status": r.Status, "transfer_reversal": nil,
	}
	if r.Status == "failed" {
		o["failure_reason"], o["failure_balance_transaction"] = "expired_or_canceled_card", nil
	}
	return o
}

// disputeObject is https://docs.stripe.com/api/disputes/object. An inquiry has moved no money.
func disputeObject(sess Session, d Dispute) core.Object {
	inquiry := strings.HasPrefix(d.Status, "warning_")
	kind := "chargeback"
	if inquiry {
		kind = "inquiry"
	}
	return core.Object{
		"id": d.ID, "object": "dispute", "amount": d.Amount, "balance_transactions": []any{}, "charge": chargeID(sess),
		"created": d.Created.Unix(), "currency": sess.Currency, "enhanced_eligibility_types": []any{},
		"evidence": core.Object{}, "evidence_details": core.Object{
			"due_by": d.Created.Add(7 * 24 * time.Hour).Unix(), "enhanced_eligibility": core.Object{}, "has_evidence": false,
			"past_due": false, "submission_count": 0,
		},
		"is_charge_refundable": inquiry, "livemode": sess.Live, "metadata": core.Object{}, "network_reason_code": nil,
		"payment_intent": sess.PaymentIntent.ID, "payment_method_details": core.Object{
			"card": core.Object{"brand": "visa", "case_type": kind, "network_reason_code": "10.4"}, "type": "card",
		},
		"reason": d.Reason, "status": d.Status,
	}
}
