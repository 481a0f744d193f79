package order

import "strings"

// MostGenerations bounds the deliberate resends of one order.
const MostGenerations = 20

// Outcome is the answer to an operator's or buyer's request.
type Outcome string

// The answers to a request.
const (
	OutcomeSending Outcome = "sending" // a new generation is on its way
	OutcomeJoined  Outcome = "joined"  // one to the same address is already under way
	OutcomeRefused Outcome = "refused"
	// OutcomeRelinked means that the links that went out are dead, and nothing was sent.
	OutcomeRelinked Outcome = "relinked"
	// OutcomeRetrying means that the stopped steps are worked on again.
	OutcomeRetrying Outcome = "retrying"
	// OutcomeRevoking and OutcomeRestoring mean that the access is being ended or given back.
	OutcomeRevoking  Outcome = "revoking"
	OutcomeRestoring Outcome = "restoring"
)

// Refusal is why a request was refused: a safe word.
type Refusal string

// The refusals.
const (
	RefusedNone       Refusal = ""
	RefusedUnpaid     Refusal = "payment_not_confirmed"
	RefusedNoAccess   Refusal = "access_not_granted"
	RefusedNoAddress  Refusal = "no_email_address"
	RefusedTooMany    Refusal = "too_many_resends"
	RefusedUnreadable Refusal = "payload_not_readable"
	RefusedAddress    Refusal = "address_in_payload"
	RefusedNoReason   Refusal = "reason_missing"

	RefusedPastWindow     Refusal = "email_past_its_window"
	RefusedNothingStopped Refusal = "nothing_has_stopped"

	RefusedNothingOwed Refusal = "no_access_is_owed"
	RefusedRevoked     Refusal = "access_is_revoked_already"
	RefusedGranted     Refusal = "access_is_granted_already"
)

// refusals say what each means, and the remedy where there is a command, with ORDER where the order's name goes.
var refusals = map[Refusal]struct{ message, remedy string }{
	RefusedUnpaid:         {message: "the payment is not confirmed"},
	RefusedNoAccess:       {message: "access is not granted"},
	RefusedNoAddress:      {message: "there is no address to send to", remedy: "starter resend ORDER --reason TEXT --to ADDRESS"},
	RefusedTooMany:        {message: "this order has had its 20 emails; answer the buyer by hand"},
	RefusedUnreadable:     {message: `the payload cannot be read: write {"reason":"…"}`},
	RefusedAddress:        {message: "an address would stay in the history", remedy: "use: starter resend ORDER --reason TEXT --to ADDRESS"},
	RefusedPastWindow:     {message: "the email provider no longer knows the key of this email, so it could go out twice", remedy: "starter resend ORDER --reason TEXT"},
	RefusedNothingStopped: {message: "nothing has stopped"},
	RefusedNothingOwed:    {message: "no access is owed on this order"},
	RefusedRevoked:        {message: "access has ended already"},
	RefusedGranted:        {message: "access is granted already"},
	RefusedNoReason:       {message: `a reason is needed: write {"reason":"…"}`},
}

// Message is the refusal in a person's words, with ORDER in its remedy.
func (r Refusal) Message() string { return r.Explain("ORDER") }

// Explain is the refusal in a person's words, with the remedy for the order of that name.
func (r Refusal) Explain(order string) string {
	row := refusals[r]
	if row.remedy == "" {
		return row.message
	}
	return row.message + ": " + strings.ReplaceAll(row.remedy, "ORDER", order)
}

// ResendFacts are what a resend is decided on.
type ResendFacts struct {
	Payment    PaymentState
	Access     AccessState
	Address    string // to whom the new message would go
	Generation int    // the newest; 0 when there is none
	Open       bool   // the newest is claimed, or waits for an automatic attempt
	Recipient  string // to whom the newest is frozen; empty when it is not
	Answered   bool   // the newest was accepted after this was asked for: it is what was asked for
}

// DecideResend is the rule of the deliberate resend: refused before there is anything to tell the buyer, joined to one
// to the same address that is under way or has gone since it was asked for, and otherwise a new generation.
func DecideResend(f ResendFacts) (Outcome, Refusal) {
	switch {
	case f.Payment != PaymentConfirmed:
		return OutcomeRefused, RefusedUnpaid
	case f.Access != AccessGranted:
		return OutcomeRefused, RefusedNoAccess
	case f.Address == "":
		return OutcomeRefused, RefusedNoAddress
	case (f.Open || f.Answered) && (f.Recipient == "" || f.Recipient == f.Address):
		return OutcomeJoined, RefusedNone
	case f.Generation >= MostGenerations:
		return OutcomeRefused, RefusedTooMany
	}
	return OutcomeSending, RefusedNone
}
