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

// Reversed is one payment whose money has gone back, or is disputed, in a provider's list.
type Reversed struct {
	Ref      string    // the payment reference; empty where the provider does not say
	At       time.Time // of the refund or the dispute; zero where the provider does not say
	Refunded int64     // in minor units, where there is no time to tell a new one by
	Disputed bool      // the same
}
