package order

// Class says what to do about a failure. The list is closed: a provider's own words never become one.
type Class string

// The classes of failures.
const (
	ClassRetry         Class = "retry"           // a passing fault: try again, nothing was done
	ClassRateLimited   Class = "rate_limited"    // wait as long as the provider says; spends no attempt
	ClassUnknown       Class = "unknown_outcome" // it may have happened: try again under the same key
	ClassPermanent     Class = "permanent"       // repeating is useless
	ClassMisconfigured Class = "misconfigured"   // the shop's settings are at fault: stop at once, for every order
	ClassSpent         Class = "attempts_spent"  // the budget of attempts is used up
	ClassPastWindow    Class = "past_window"     // too late to repeat safely under the same key
	ClassUncertain     Class = "uncertain"       // an earlier call arrived and its outcome cannot be proved
)

// Final says that no automatic attempt follows.
func (c Class) Final() bool {
	switch c {
	case ClassPermanent, ClassMisconfigured, ClassSpent, ClassPastWindow, ClassUncertain:
		return true
	}
	return false
}

// Reason is why an order needs attention. Like Class, the list is closed, so that it may stand in logs, histories,
// metrics and search attributes.
type Reason string

// The reasons for attention.
const (
	ReasonItemsUnknown    Reason = "some_items_not_in_catalogue"
	ReasonModeContradicts Reason = "mode_contradicts_environment"
	ReasonNoAddress       Reason = "buyer_has_no_email_address"
	ReasonPaymentOverdue  Reason = "payment_still_unpaid"
	ReasonPaymentStopped  Reason = "payment_not_retrievable"
	ReasonAccessStopped   Reason = "access_not_granted"
	ReasonEmailRefused    Reason = "email_refused"
	ReasonEmailConfig     Reason = "email_misconfigured"
	ReasonPaymentConfig   Reason = "payment_misconfigured"
	ReasonEmailSpent      Reason = "email_attempts_spent"
	ReasonEmailUncertain  Reason = "email_outcome_unknown"
	ReasonLinkSecret      Reason = "link_secret_missing"
	ReasonRefundUnclear   Reason = "refund_names_no_item"
	ReasonReversalUnread  Reason = "refund_not_retrievable"
	ReasonRevokeStopped   Reason = "access_not_changed"
	ReasonSaleLeft        Reason = "sale_not_deliverable"

	// These two are about no single order.
	ReasonReconcileStopped Reason = "reconcile_stopped"
	ReasonStillWaiting     Reason = "orders_still_waiting"
)

// Next is what a person can do about it. Where there is a command it stands at the end, after a colon.
func (r Reason) Next() string {
	switch r {
	case ReasonItemsUnknown:
		return "Add the missing price to sold_as in the catalogue and restart the worker, or refund the buyer at the provider. Then: starter replay ORDER"
	case ReasonModeContradicts:
		return "A session of the other mode reached this environment: check the environment's api_key and mode, and restart the worker. Then: starter retry ORDER --reason TEXT"
	case ReasonNoAddress:
		return "Ask the buyer for an address, then: starter resend ORDER --reason TEXT --to ADDRESS"
	case ReasonPaymentOverdue:
		return "Look at the payment in the provider's dashboard; the buyer finished checkout but the money never came. If it has: starter retry ORDER --reason TEXT"
	case ReasonPaymentStopped:
		return "Look for the session in the provider's dashboard; the provider does not know it or keeps failing. To look again: starter retry ORDER --reason TEXT"
	case ReasonPaymentConfig:
		return "The payment provider refuses our key: mend the environment's api_key and restart the worker. Then: starter retry --misconfigured --reason TEXT"
	case ReasonAccessStopped:
		return "Access could not be granted: the worker's log for this order says why. When that is mended: starter retry ORDER --reason TEXT"
	case ReasonEmailRefused:
		return "The email provider refuses this message; is the address right? Then: starter resend ORDER --reason TEXT --to ADDRESS"
	case ReasonEmailConfig:
		return "The email provider refuses our key or domain: mend the [email] settings and restart the worker. Then: starter retry --misconfigured --reason TEXT"
	case ReasonLinkSecret:
		return "An email that waits was made with a link secret that has left link_secrets: put it back behind the first and restart the worker. Then: starter retry --misconfigured --reason TEXT"
	case ReasonRefundUnclear:
		return "A part of the payment was refunded, and Handover does not decide what that ends; access is as it was. End it with starter revoke ORDER --reason TEXT, or leave it so: starter restore ORDER --reason TEXT"
	case ReasonSaleLeft:
		return "The payment provider lists a sale that nobody told of, and it could not be delivered by itself. Which one, and why: starter reconcile --since 72h"
	case ReasonReversalUnread:
		return "There was a refund or a dispute, and the provider does not say how it stands; access is as it was. To ask again: starter retry ORDER --reason TEXT"
	case ReasonRevokeStopped:
		return "A refund, a dispute or a person ended or restored access, and that could not be carried out: the worker's log for this order says why. When that is mended: starter retry ORDER --reason TEXT"
	case ReasonEmailSpent:
		return "The email provider kept failing. When it is well again: starter retry ORDER --reason TEXT"
	case ReasonReconcileStopped:
		return "Nothing looks for orders that were left behind: is a worker running, and is Temporal's schedule there and not paused? A worker's start makes it anew. What is not finished: starter list --pending"
	case ReasonStillWaiting:
		return "Orders wait for you. All of them, with what to do: starter list --attention"
	case ReasonEmailUncertain:
		return "The message may have been sent: ask the buyer or look in the provider's list. To send another: starter resend ORDER --reason TEXT"
	}
	return ""
}

// Step names the step that stopped: payment, or the kind of the obligation.
func (r Reason) Step() string {
	switch r {
	case ReasonModeContradicts, ReasonPaymentOverdue, ReasonPaymentStopped, ReasonPaymentConfig:
		return "payment"
	case ReasonItemsUnknown, ReasonAccessStopped:
		return "access"
	case ReasonRefundUnclear, ReasonReversalUnread:
		return "refund"
	case ReasonRevokeStopped:
		return "revoke"
	case ReasonNoAddress, ReasonEmailRefused, ReasonEmailConfig, ReasonEmailSpent, ReasonEmailUncertain, ReasonLinkSecret:
		return "email"
	}
	return ""
}

// Settings says that the shop's own settings are at fault, and so not this order alone.
func (r Reason) Settings() bool {
	return r == ReasonEmailConfig || r == ReasonPaymentConfig || r == ReasonLinkSecret
}
