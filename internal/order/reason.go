package order

import (
	"maps"
	"slices"
	"strings"
)

// Step is a step of an order: what an activity does, what stops, and what a retry gives a fresh budget.
type Step string

// The steps, in their sequence.
const (
	StepPayment      Step = "payment"
	StepReversal     Step = "reversal" // a refund or a dispute is retrieved and recorded
	StepAccess       Step = "access"
	StepAccessChange Step = "access_change" // access is revoked, held or restored
	StepEmail        Step = "email"
	StepProgress     Step = "progress" // no step of a run: whichever of them makes no progress
)

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
	ReasonEmailBounced    Reason = "email_bounced"
	ReasonEmailConfig     Reason = "email_misconfigured"
	ReasonPaymentConfig   Reason = "payment_misconfigured"
	ReasonEmailExhausted  Reason = "email_attempts_spent"
	ReasonEmailUncertain  Reason = "email_outcome_unknown"
	ReasonLinkSecret      Reason = "link_secret_missing"
	ReasonRefundUnclear   Reason = "refund_names_no_item"
	ReasonReversalUnread  Reason = "refund_not_retrievable"
	ReasonRevokeStopped   Reason = "access_not_changed"
	ReasonNotProgressing  Reason = "not_progressing"
	ReasonSaleLeft        Reason = "sale_not_deliverable"

	// These are about no single order.
	ReasonReconcileStopped Reason = "reconcile_stopped"
	ReasonSuccessURL       Reason = "success_url_encoded"
	ReasonListBehind       Reason = "missed_sales_not_searched"
	ReasonUnreached        Reason = "buyers_not_reached"
	ReasonStillWaiting     Reason = "orders_still_waiting"
)

// reasons has one row for each reason. The remedy is what a person can do about it; where there is a command it stands
// at the end, after a colon, with ORDER where the order's name goes.
var reasons = map[Reason]struct {
	step     Step   // the step that stopped; empty when no single order is meant
	settings bool   // the shop's own settings are at fault, and so not this order alone
	title    string // what happened: a short sentence without its full stop
	remedy   string
}{
	ReasonItemsUnknown: {
		step: StepAccess, title: "Some items are not in the catalogue",
		remedy: "Add the missing price to sold_as in the catalogue (access = [] where somebody else delivers it), restart the worker and type starter replay ORDER; or refund the buyer at the provider. To give what is known and leave the rest: starter restore ORDER --reason TEXT",
	},
	ReasonModeContradicts: {
		step: StepPayment, title: "The session's mode contradicts its environment",
		remedy: "A session of the other mode reached this environment: check the environment's api_key and mode, and restart the worker. Then: starter retry ORDER --reason TEXT",
	},
	ReasonNoAddress: {
		step: StepEmail, title: "The buyer has no email address",
		remedy: "Ask the buyer for an address, then: starter resend ORDER --reason TEXT --to ADDRESS",
	},
	ReasonPaymentOverdue: {
		step: StepPayment, title: "The payment is still unpaid",
		remedy: "Check the payment in the provider's dashboard; the buyer finished checkout but the money never came. If it has: starter retry ORDER --reason TEXT",
	},
	ReasonPaymentStopped: {
		step: StepPayment, title: "The payment could not be retrieved",
		remedy: "Find the session in the provider's dashboard; the provider does not know it or keeps failing. To retrieve it again: starter retry ORDER --reason TEXT",
	},
	ReasonAccessStopped: {
		step: StepAccess, title: "Access could not be granted",
		remedy: "The worker's log for this order names the cause. When that is fixed: starter retry ORDER --reason TEXT",
	},
	ReasonEmailRefused: {
		step: StepEmail, title: "The email provider refused the message",
		remedy: "Check the address. Then: starter resend ORDER --reason TEXT --to ADDRESS",
	},
	ReasonEmailBounced: {
		step: StepEmail, title: "The email came back",
		remedy: "The buyer's mailbox did not take it; the order page is open to the buyer. Ask for another address, then: starter resend ORDER --reason TEXT --to ADDRESS",
	},
	ReasonEmailConfig: {
		step: StepEmail, settings: true, title: "The email provider refuses the settings",
		remedy: "Fix the key or the domain in the [email] settings and restart the worker. Then: starter retry --misconfigured --reason TEXT",
	},
	ReasonPaymentConfig: {
		step: StepPayment, settings: true, title: "The payment provider refuses the settings",
		remedy: "Fix the environment's api_key, or what it may read, and restart the worker. Then: starter retry --misconfigured --reason TEXT",
	},
	ReasonEmailExhausted: {
		step: StepEmail, title: "The email's attempts are exhausted",
		remedy: "The email provider kept failing. When it works again: starter retry ORDER --reason TEXT",
	},
	ReasonEmailUncertain: {
		step: StepEmail, title: "The email may have been sent or not",
		remedy: "The message may have been sent: ask the buyer or check the provider's list. To send another: starter resend ORDER --reason TEXT",
	},
	ReasonLinkSecret: {
		step: StepEmail, settings: true, title: "A link secret is missing",
		remedy: "A pending email was rendered with a secret that is no longer in link_secrets: put it back behind the first and restart the worker. Then: starter retry --misconfigured --reason TEXT",
	},
	ReasonRefundUnclear: {
		step: StepReversal, title: "A refund or a dispute names no item",
		remedy: "A part of the payment was refunded or disputed, and Handover does not decide what that ends; access is as it was. End it with starter revoke ORDER --reason TEXT, or leave it so: starter restore ORDER --reason TEXT",
	},
	ReasonReversalUnread: {
		step: StepReversal, title: "A refund or dispute could not be retrieved",
		remedy: "There was a refund or a dispute, and the provider does not say how it stands; access is as it was. To ask again: starter retry ORDER --reason TEXT",
	},
	ReasonRevokeStopped: {
		step: StepAccessChange, title: "Access could not be changed",
		remedy: "A refund, a dispute or a person ended or restored access: the worker's log for this order names the cause. When that is fixed: starter retry ORDER --reason TEXT",
	},
	ReasonNotProgressing: {
		step: StepProgress, title: "The order makes no progress",
		remedy: "Handover keeps trying by itself. Are Temporal and a worker running, with the right TASK_QUEUE, and does starter check find nothing? To try at once: starter reconcile",
	},
	ReasonSaleLeft: {
		title:  "A missed sale could not be delivered",
		remedy: "Find out which one, and why: starter reconcile --since 72h",
	},
	ReasonReconcileStopped: {
		title:  "The reconciliation has stopped",
		remedy: "Is a worker running? Is Temporal's schedule there and not paused? A worker creates it when it starts. Unfinished orders: starter list --pending",
	},
	ReasonSuccessURL: {
		title:  "Buyers come back without their order",
		remedy: "The checkout's success_url holds {CHECKOUT_SESSION_ID} in an encoded form, so Stripe does not fill it in: write it as it stands, and test with a purchase. Emails go out all the same: starter list",
	},
	ReasonListBehind: {
		title:  "Lost webhooks are not found",
		remedy: "A payment provider's list of sales, or of refunds and disputes, has not been read for an hour: is its api_key right, and may it read them? The worker's log says why. To try now: starter reconcile",
	},
	ReasonUnreached: {
		title:  "Nothing shows that buyers have what they paid for",
		remedy: "Their email came back, or was neither delivered nor opened, and no file was asked for: write to them another way, or send it again. List them: starter list --unreached",
	},
	ReasonStillWaiting: {
		title:  "Orders still need attention",
		remedy: "List them all, with what to do: starter list --attention",
	},
}

// Reasons lists every reason.
func Reasons() []Reason { return slices.Sorted(maps.Keys(reasons)) }

// Step is the step that stopped; empty for what is about no single order.
func (r Reason) Step() Step { return reasons[r].step }

// Settings says that the shop's own settings are at fault, and so not this order alone.
func (r Reason) Settings() bool { return reasons[r].settings }

// Title is what happened, as a short sentence without its full stop.
func (r Reason) Title() string { return reasons[r].title }

// Remedy is what a person can do about it, for the order of that name.
func (r Reason) Remedy(order string) string {
	return strings.ReplaceAll(reasons[r].remedy, "ORDER", order)
}
