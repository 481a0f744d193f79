package order

import "time"

// SessionKind says what a checkout session is for.
type SessionKind string

// What a session is for. Only one-time payments are delivered.
const (
	SessionPayment SessionKind = "payment"
	SessionOther   SessionKind = "other" // subscription, setup, or one that does not say
)

// Sale is one finished session in a provider's list.
type Sale struct {
	Session string
	Ref     string // the payment reference, where the list has it
	Kind    SessionKind
	At      time.Time // creation
}
