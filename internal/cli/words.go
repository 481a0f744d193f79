package cli

import (
	"strings"

	"handover/internal/order"
)

// failure says what the class of the last failure means, to somebody who does not know our words.
func failure(c order.Class) string {
	switch c {
	case order.ClassRetry:
		return "the last one failed in passing and is repeated"
	case order.ClassRateLimited:
		return "the provider asked to wait"
	case order.ClassUnknown:
		return "nobody knows whether the last one arrived"
	case order.ClassPermanent:
		return "the provider refused it for good"
	case order.ClassMisconfigured:
		return "the provider refused our settings"
	case order.ClassExhausted:
		return "no attempts are left"
	case order.ClassPastWindow:
		return "too late to repeat it safely, and nobody knows whether it arrived"
	case order.ClassUncertain:
		return "an earlier one has arrived, and nobody knows what came of it"
	}
	return words(string(c))
}

// pageSays is what the order page shows, and the state's word in JSON.
func pageSays(v order.View) string {
	s := v.Facts.CustomerState()
	said := map[order.CustomerState]string{
		order.CustomerWaiting:      "Waiting for payment confirmation",
		order.CustomerProcessing:   "Waiting for payment confirmation: it can take days, do not pay again",
		order.CustomerFailed:       "The payment did not go through",
		order.CustomerPreparing:    "Preparing your download",
		order.CustomerEmailPending: "Ready, with the button; nothing certain of the email",
		order.CustomerReady:        "Ready, with the button; email sent",
		order.CustomerBounced:      "Ready, with the button; the email came back, contact the shop",
		order.CustomerOnHold:       "On hold while the payment is being disputed",
		order.CustomerEnded:        "Access has ended",
		order.CustomerLooking:      "We are looking into it; you need not pay again",
		order.CustomerNotOurs:      "This order is not delivered here",
	}[s]
	if s == order.CustomerEnded && v.FullyRefunded() {
		said = "Refunded: access has ended"
	}
	return strings.TrimSpace(said + " (" + string(s) + ")")
}
