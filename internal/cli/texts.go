package cli

import (
	"cmp"
	"fmt"
	"strings"

	"handover/internal/order"
	"handover/internal/recovery/missed"
)

const (
	textIgnored = "\n  It has no product of the catalogue. If it should: add its price to sold_as, restart the worker, then: starter replay %s\n"
	textErased  = "%s: the buyer's address and name, the emails, and what was written about the order are erased. What was bought, the licence keys " +
		"and the buyer's link stay. The payment and email providers keep records of their own.\n"
	textEraseUnderWay = "%s: an obligation is pending that needs the buyer. Let it finish, or end it with: starter revoke %s --reason TEXT"
)

// sentence is the answer as text.
func (a answer) sentence() string {
	check := ". Check with: starter status " + a.Order
	said := ""
	switch a.Outcome {
	case order.OutcomeRefused:
		said = "refused: " + a.Refusal.Explain(a.Order)
	case order.OutcomeRetrying:
		said = "what had stopped is worked on again" + check
	case order.OutcomeRevoking:
		said = "access is being ended, and outside access has not ended yet" + check
		if a.applied {
			said = "access has ended: downloads and links are refused. No email is sent; the order page says so. " +
				"To give it back: starter restore " + a.Order + " --reason TEXT"
		}
	case order.OutcomeRestoring:
		said = "access is being given back" + check
		if a.applied {
			said = "access is as it was bought, under the same links"
		}
	case order.OutcomeRelinked:
		said = "the links that went out open nothing any more, and no email is sent"
	case order.OutcomeSending, order.OutcomeJoined:
		said = a.emailSentence(check)
	case outcomeAdded:
		said = "added, and being given: " + strings.Join(a.Added, ", ")
	case outcomeDryRun:
		said = "nothing was changed"
		if len(a.Added) > 0 {
			said = "would be added: " + strings.Join(a.Added, ", ")
		}
	case outcomeChecked:
		said = a.replaySentence()
	default:
		said = "the request is with Temporal, and no worker has answered yet. It is carried out once a worker runs" + check
	}
	return a.Order + ": " + said
}

func (a answer) emailSentence(check string) string {
	generation := fmt.Sprintf("generation %d ", a.Generation)
	switch {
	case a.Email == order.EmailAccepted:
		return generation + "was accepted by the email provider. Accepted is not delivered."
	case a.Outcome == order.OutcomeJoined:
		return generation + "is already in progress to the same address: this request has joined it" + check
	case a.Email == order.EmailPending:
		return generation + "is in progress; the provider has not accepted it yet" + check
	}
	return generation + "needs attention" + check
}

func (a answer) replaySentence() string {
	switch {
	case a.Payment == order.PaymentIgnored:
		return "still has no product of the catalogue"
	case a.Reason != "":
		return fmt.Sprintf("payment %s, still needs attention: %s. %s", a.Payment, a.Reason.Title(), a.Reason.Remedy(a.Order))
	}
	return fmt.Sprintf("payment %s, what was bought is being delivered", a.Payment)
}

// failures say what the class of the last failure of an email means.
var failures = map[order.Class]string{
	order.ClassRetry:         "the last one failed and is retried",
	order.ClassRateLimited:   "the provider asked to wait",
	order.ClassUnknown:       "it is not known whether the last one arrived",
	order.ClassPermanent:     "the provider refused it for good",
	order.ClassMisconfigured: "the provider refused our settings",
	order.ClassExhausted:     "no attempts are left",
	order.ClassPastWindow:    "too late to retry safely, and it is not known whether it arrived",
	order.ClassUncertain:     "an earlier one arrived, and its result is not known",
}

// pageSays is what the order page shows, and the state's word in JSON.
func pageSays(v order.View) string {
	return fmt.Sprintf("%s (%s)", v.Headline(), v.Facts.CustomerState())
}

// leftSentences say why missed sales were left.
var leftSentences = map[string]string{
	missed.LeftNoSession:  "because the provider's list does not name their checkout: send checkout.completed again from its dashboard",
	missed.LeftUnread:     "because the provider did not show their session: run it again",
	missed.LeftNotStarted: "because Temporal did not respond: they are stored, and are started when it is back",
}

// problemSentence says why a provider's list could not be read to its end.
func problemSentence(c order.Class) string {
	return cmp.Or(map[order.Class]string{
		order.ClassMisconfigured: "the provider refuses our key: fix the environment's api_key",
		order.ClassRateLimited:   "the provider asks to wait for longer than a minute",
		order.ClassPermanent:     "the provider refuses to list its sessions",
	}[c], "the provider does not respond")
}
