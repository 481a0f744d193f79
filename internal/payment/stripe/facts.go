package stripe

import (
	"cmp"
	"strings"
	"time"

	sdk "github.com/stripe/stripe-go/v85"

	"handover/internal/order"
	"handover/internal/payment"
)

// facts is what the session proves. Everything in it but the id may be missing, in old sessions and in those that were
// never finished.
func facts(cs *sdk.CheckoutSession, lines []*sdk.LineItem) payment.Facts {
	f := payment.Facts{
		Session: cs.ID,
		Mode:    order.Test,
		Kind:    sessionKind(cs),
		Status:  status(cs),
		Total:   order.Money{Minor: cs.AmountTotal, Currency: string(cs.Currency)},
		Email:   buyerEmail(cs),
		Items:   items(lines),
		Parts:   parts(cs.TotalDetails),
	}
	if cs.Created > 0 {
		f.Created = time.Unix(cs.Created, 0).UTC()
	}
	if cs.Livemode {
		f.Mode = order.Live
	}
	if cs.PaymentIntent != nil {
		f.PaymentRef = cs.PaymentIntent.ID
		f.Reversed = reversed(cs.PaymentIntent.LatestCharge)
		if ch := cs.PaymentIntent.LatestCharge; ch != nil && ch.Created > 0 {
			f.PaidAt = time.Unix(ch.Created, 0).UTC()
		}
	}
	if cs.CustomerDetails != nil {
		f.Name = clean(cs.CustomerDetails.Name)
	}
	return f
}

// reversed says that some of a charge was refunded or disputed, whatever became of that
// (https://docs.stripe.com/api/charges/object).
func reversed(ch *sdk.Charge) bool {
	return ch != nil && (ch.Refunded || ch.AmountRefunded > 0 || ch.Disputed)
}

// parts are https://docs.stripe.com/api/checkout/sessions/object#checkout_session_object-total_details.
func parts(d *sdk.CheckoutSessionTotalDetails) (list []int64) {
	if d == nil {
		return nil
	}
	for _, part := range []int64{d.AmountShipping, d.AmountTax, d.AmountDiscount} {
		if part > 0 {
			list = append(list, part)
		}
	}
	return list
}

func sessionKind(cs *sdk.CheckoutSession) order.SessionKind {
	if cs.Mode == sdk.CheckoutSessionModePayment {
		return order.SessionPayment
	}
	return order.SessionOther
}

// buyerEmail prefers what the buyer typed over what the shop filled in before, and that over the card's billing address
// (https://docs.stripe.com/api/checkout/sessions/object#checkout_session_object-customer_details-email).
func buyerEmail(cs *sdk.CheckoutSession) string {
	var typed, billing string
	if cs.CustomerDetails != nil {
		typed = clean(cs.CustomerDetails.Email)
	}
	if pi := cs.PaymentIntent; pi != nil && pi.LatestCharge != nil && pi.LatestCharge.BillingDetails != nil {
		billing = clean(pi.LatestCharge.BillingDetails.Email)
	}
	return cmp.Or(typed, clean(cs.CustomerEmail), billing)
}

func items(lines []*sdk.LineItem) []order.Item {
	list := make([]order.Item, 0, len(lines))
	for i, l := range lines {
		item := order.Item{Line: i + 1, Name: clean(l.Description), Quantity: quantity(l), Amount: l.AmountTotal}
		if l.Price != nil {
			item.Refs = appendID(item.Refs, l.Price.ID)
			if l.Price.Product != nil {
				item.Refs = appendID(item.Refs, l.Price.Product.ID)
			}
		}
		list = append(list, item)
	}
	return list
}

// quantity reads a field that may be null (https://docs.stripe.com/api/checkout/sessions/line_items): what is on the list
// was bought, and is one then.
func quantity(l *sdk.LineItem) int64 {
	if l.Quantity == 0 {
		return 1
	}
	return l.Quantity
}

func appendID(ids []string, id string) []string {
	if id == "" {
		return ids
	}
	return append(ids, id)
}

// clean trims outer spaces and drops NUL, which JSON allows and Postgres cannot store.
func clean(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\x00", "")) }

// status reads the two fields that say what became of a session: payment_status, and status for the session itself
// (https://docs.stripe.com/api/checkout/sessions/object#checkout_session_object-payment_status). Complete does not mean
// paid, and a value that is missing or unknown proves nothing: such a session counts as open.
func status(cs *sdk.CheckoutSession) payment.SessionStatus {
	switch cs.PaymentStatus {
	case sdk.CheckoutSessionPaymentStatusPaid:
		return payment.StatusPaid
	case sdk.CheckoutSessionPaymentStatusNoPaymentRequired:
		if isFree(cs) {
			return payment.StatusFree
		}
	case sdk.CheckoutSessionPaymentStatusUnpaid:
		if cs.Status == sdk.CheckoutSessionStatusComplete {
			return unpaid(cs.PaymentIntent)
		}
	case "": // sessions from before August 2020
	default:
		return payment.StatusOpen
	}
	if cs.Status == sdk.CheckoutSessionStatusExpired {
		return payment.StatusExpired
	}
	return payment.StatusOpen
}

// isFree says that the buyer has finished an order of nothing to pay
// (https://docs.stripe.com/payments/checkout/no-cost-orders). A setup session says no_payment_required too, and buys
// nothing.
func isFree(cs *sdk.CheckoutSession) bool {
	finished := cs.Status == sdk.CheckoutSessionStatusComplete || cs.Status == ""
	return finished && cs.Mode == sdk.CheckoutSessionModePayment
}

// unpaid tells a delayed payment on its way from one that did not go through: the session says unpaid in both cases
// (https://docs.stripe.com/payments/payment-intents/verifying-status). An intent that still waits for a payment method
// has failed only when an error is on record.
func unpaid(pi *sdk.PaymentIntent) payment.SessionStatus {
	if pi == nil {
		return payment.StatusProcessing
	}
	failed := pi.Status == sdk.PaymentIntentStatusCanceled ||
		pi.Status == sdk.PaymentIntentStatusRequiresPaymentMethod && pi.LastPaymentError != nil
	switch {
	case failed:
		return payment.StatusFailed
	case pi.Status == sdk.PaymentIntentStatusRequiresAction: // https://docs.stripe.com/payments/vouchers
		return payment.StatusToPay
	}
	return payment.StatusProcessing
}
