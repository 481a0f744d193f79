package sandbox

import (
	"strings"
	"time"
)

// stripeRefund is https://docs.stripe.com/api/refunds/object. It has no livemode.
func stripeRefund(sess Session, r Refund) object {
	o := object{
		"id": r.ID, "object": "refund", "amount": r.Amount, "balance_transaction": nil, "charge": chargeID(sess),
		"created": r.Created.Unix(), "currency": sess.Currency, "metadata": object{},
		"destination_details": object{"card": object{"type": "refund"}, "type": "card"},
		"payment_intent":      sess.PaymentIntent.ID, "reason": nil, "receipt_number": nil,
		"source_transfer_reversal": nil, "status": r.Status, "transfer_reversal": nil,
	}
	if r.Status == "failed" {
		o["failure_reason"], o["failure_balance_transaction"] = "expired_or_canceled_card", nil
	}
	return o
}

// stripeDispute is https://docs.stripe.com/api/disputes/object. An inquiry has moved no money.
func stripeDispute(sess Session, d Dispute) object {
	inquiry := strings.HasPrefix(d.Status, "warning_")
	kind := "chargeback"
	if inquiry {
		kind = "inquiry"
	}
	return object{
		"id": d.ID, "object": "dispute", "amount": d.Amount, "balance_transactions": []any{}, "charge": chargeID(sess),
		"created": d.Created.Unix(), "currency": sess.Currency, "enhanced_eligibility_types": []any{},
		"evidence": object{}, "evidence_details": object{
			"due_by": d.Created.Add(7 * 24 * time.Hour).Unix(), "enhanced_eligibility": object{}, "has_evidence": false,
			"past_due": false, "submission_count": 0,
		},
		"is_charge_refundable": inquiry, "livemode": sess.Live, "metadata": object{}, "network_reason_code": nil,
		"payment_intent": sess.PaymentIntent.ID, "payment_method_details": object{
			"card": object{"brand": "visa", "case_type": kind, "network_reason_code": "10.4"}, "type": "card",
		},
		"reason": d.Reason, "status": d.Status,
	}
}
