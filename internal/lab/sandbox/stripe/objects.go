package stripe

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"handover/internal/lab/sandbox/core"
)

// apiVersion is the version whose shapes are given here.
const apiVersion = "2026-03-25.dahlia"

// sessionObject is https://docs.stripe.com/api/checkout/sessions/object with the given expansions. Everything that the
// sandbox has no use for is there as null, as it is at Stripe.
func sessionObject(sess Session, expand map[string]bool) core.Object {
	o := core.Object{
		"id": sess.ID, "object": "checkout.session", "livemode": sess.Live, "created": sess.Created.Unix(),
		"expires_at": sess.Created.Add(24 * time.Hour).Unix(), "mode": sess.Mode, "status": sess.Status,
		"payment_status": sess.PaymentStatus, "currency": sess.Currency, "metadata": core.OrEmpty(sess.Metadata),
		"amount_subtotal": sess.Amount, "amount_total": sess.Amount,
		"total_details":    core.Object{"amount_discount": 0, "amount_shipping": 0, "amount_tax": 0},
		"automatic_tax":    core.Object{"enabled": false, "liability": nil, "provider": nil, "status": nil},
		"customer_details": customerDetails(sess), "customer_email": core.OrNull(sess.CustomerEmail),
		"payment_intent": core.OrNull(sess.PaymentIntent.ID), "success_url": core.OrNull(sess.SuccessURL), "url": nil,
		"custom_text": core.Object{
			"after_submit": nil, "shipping_address": nil, "submit": nil, "terms_of_service_acceptance": nil,
		},
		"custom_fields": []any{}, "discounts": []any{}, "shipping_options": []any{},
		"payment_method_types": []string{"card"}, "payment_method_options": core.Object{},
		"payment_method_collection": "if_required", "phone_number_collection": core.Object{"enabled": false},
		"adaptive_pricing": core.Object{"enabled": false}, "customer_creation": "if_required", "ui_mode": "hosted",
		"collected_information": core.Object{
			"business_name": nil, "individual_name": nil, "shipping_details": nil,
		},
		"invoice_creation": core.Object{"enabled": false, "invoice_data": core.Object{
			"account_tax_ids": nil, "custom_fields": nil, "description": nil, "footer": nil, "issuer": nil,
			"metadata": core.Object{}, "rendering_options": nil,
		}},
	}
	for _, absent := range []string{
		"after_expiration", "allow_promotion_codes", "billing_address_collection", "cancel_url", "client_reference_id",
		"client_secret", "consent", "consent_collection", "currency_conversion", "customer", "customer_account",
		"invoice", "locale", "origin_context", "payment_link", "payment_method_configuration_details", "permissions",
		"recovered_from", "saved_payment_method_options", "setup_intent", "shipping_address_collection",
		"shipping_cost", "submit_type", "subscription", "wallet_options",
	} {
		o[absent] = nil
	}
	if sess.Mode == "setup" {
		o["amount_subtotal"], o["amount_total"], o["currency"] = nil, nil, nil
	}
	if sess.PaymentIntent.ID != "" && (expand["payment_intent"] || expand["payment_intent.latest_charge"]) {
		o["payment_intent"] = paymentIntent(sess, expand["payment_intent.latest_charge"])
	}
	if expand["line_items"] {
		items := lineItems(sess)
		first := items[:min(10, len(items))]
		o["line_items"] = listObject(lineItemsURL(sess.ID), first, len(items) > len(first))
	}
	return o
}

func customerDetails(sess Session) any {
	if sess.Status == "open" && sess.Email == "" {
		return nil
	}
	return core.Object{
		"email": core.OrNull(sess.Email), "name": core.OrNull(sess.Name), "phone": nil, "tax_exempt": "none",
		"tax_ids": []any{}, "address": emptyAddress(), "business_name": nil, "individual_name": core.OrNull(sess.Name),
	}
}

func emptyAddress() core.Object {
	return core.Object{"city": nil, "country": nil, "line1": nil, "line2": nil, "postal_code": nil, "state": nil}
}

// paymentIntent is https://docs.stripe.com/api/payment_intents/object. A payment whose money did not come is back at
// requires_payment_method, with the error beside it.
func paymentIntent(sess Session, expandCharge bool) core.Object {
	received, failure := int64(0), any(nil)
	switch sess.PaymentIntent.Status {
	case "succeeded":
		received = sess.Amount
	case IntentFailed:
		failure = core.Object{
			"type": "card_error", "code": "payment_intent_payment_attempt_failed",
			"message": "The payment failed.", "decline_code": nil,
		}
	}
	charge := any(chargeID(sess))
	if expandCharge {
		charge = chargeOf(sess)
	}
	return core.Object{
		"id": sess.PaymentIntent.ID, "object": "payment_intent", "amount": sess.Amount, "amount_received": received,
		"amount_capturable": 0, "currency": sess.Currency, "status": sess.PaymentIntent.Status,
		"livemode": sess.Live, "created": sess.Created.Unix(), "metadata": core.Object{}, "latest_charge": charge,
		"last_payment_error": failure, "canceled_at": nil, "cancellation_reason": nil, "capture_method": "automatic_async",
		"client_secret": nil, "confirmation_method": "automatic", "customer": nil, "description": nil, "invoice": nil,
		"next_action": nil, "payment_method": nil, "payment_method_types": []string{"card"}, "receipt_email": nil,
		"setup_future_usage": nil, "shipping": nil, "statement_descriptor": nil, "transfer_group": nil,
	}
}

func chargeID(sess Session) string { return "ch_" + strings.TrimPrefix(sess.PaymentIntent.ID, "pi_") }

// chargeOf is https://docs.stripe.com/api/charges/object.
func chargeOf(sess Session) core.Object {
	status, isPaid := "pending", false
	switch sess.PaymentIntent.Status {
	case "succeeded":
		status, isPaid = "succeeded", true
	case IntentFailed:
		status = "failed"
	}
	return core.Object{
		"id": chargeID(sess), "object": "charge", "amount": sess.Amount, "amount_captured": sess.Amount,
		"amount_refunded": sess.Refunded, "currency": sess.Currency, "status": status, "paid": isPaid, "captured": isPaid,
		"refunded": sess.Refunded > 0 && sess.Refunded >= sess.Amount, "disputed": sess.Disputed, "livemode": sess.Live, "created": sess.Created.Unix(),
		"payment_intent": sess.PaymentIntent.ID, "metadata": core.Object{}, "customer": nil, "invoice": nil,
		"description": nil, "failure_code": nil, "failure_message": nil, "receipt_email": nil, "receipt_url": nil,
		"billing_details": core.Object{
			"email": core.OrNull(cmp.Or(sess.ChargeEmail, sess.Email)), "name": core.OrNull(sess.Name), "phone": nil,
			"tax_id": nil, "address": emptyAddress(),
		},
	}
}

func lineItemsURL(session string) string { return "/v1/checkout/sessions/" + session + "/line_items" }

// lineItems are https://docs.stripe.com/api/checkout/sessions/line_items objects.
func lineItems(sess Session) []core.Object {
	items := make([]core.Object, len(sess.Items))
	for i, item := range sess.Items {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", sess.ID, i))
		amount := item.Amount * item.Quantity
		items[i] = core.Object{
			"id": "li_" + hex.EncodeToString(sum[:12]), "object": "item", "adjustable_quantity": nil,
			"amount_discount": item.Discount, "amount_subtotal": amount, "amount_tax": 0, "amount_total": amount - item.Discount,
			"currency": sess.Currency, "description": core.OrNull(item.Name), "metadata": core.Object{},
			"price": priceOf(sess, item), "quantity": item.Quantity,
		}
	}
	return items
}

func priceOf(sess Session, item Item) any {
	if item.Price == "" {
		return nil
	}
	return priceObject(Price{
		ID: item.Price, Product: item.Product, Amount: item.Amount, Currency: sess.Currency,
	}, sess.Live, sess.Created)
}
