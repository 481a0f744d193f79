// Package payment is what Handover asks of a payment provider: verify and read a webhook, and prove what a checkout
// session is. Each provider is a folder of its own beside this file; none knows another.
package payment

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"handover/internal/order"
)

var (
	// ErrSignature means that no configured secret made the signature, or that its time is stale. Which of them it was is
	// for our log only.
	ErrSignature = errors.New("webhook signature missing, wrong or stale")
	// ErrMalformed means that the body is well signed but is not what the provider sends.
	ErrMalformed = errors.New("webhook body is not what the provider sends")
)

// EventKind says what an event is about, as far as Handover cares.
type EventKind string

// The kinds of events.
const (
	EventCheckout EventKind = "checkout" // a checkout session: there may be something to deliver
	EventRefund   EventKind = "refund"
	EventDispute  EventKind = "dispute"
	EventOther    EventKind = "other" // anything else on the account
)

// Hint is what a checkout event claims. A claim of success is never believed, it only makes Handover look; a claim of
// failure matters where the provider's session cannot say it.
type Hint string

// The claims of a checkout event.
const (
	HintNone    Hint = ""
	HintFailed  Hint = "failed" // a delayed payment did not go through
	HintExpired Hint = "expired"
)

// Event is the little that is read from a webhook's body.
type Event struct {
	ID         string
	Type       string
	Kind       EventKind
	Hint       Hint
	Mode       order.Mode // empty when the event does not say
	Session    string     // the session's id; of refunds and disputes only where the event names it
	PaymentRef string     // what joins refunds and disputes to a session, when the event has it: Reader knows what it means
	Account    string     // the connected account the event belongs to, when it names one
}

// SessionStatus is what the provider proves about the money.
type SessionStatus string

// The states of a session. Free is a complete session with nothing to pay.
const (
	StatusOpen       SessionStatus = "open"
	StatusProcessing SessionStatus = "processing" // complete, the money is on its way
	StatusToPay      SessionStatus = "to_pay"     // complete with a voucher or a transfer, which the buyer has still to pay
	StatusPaid       SessionStatus = "paid"
	StatusFree       SessionStatus = "free"
	StatusFailed     SessionStatus = "failed"
	StatusExpired    SessionStatus = "expired"
)

// Facts are what a provider proves about one session.
type Facts struct {
	Session    string
	Created    time.Time // zero when the provider does not say
	PaidAt     time.Time // when the money was taken; zero when there was none, or the provider does not say
	Mode       order.Mode
	Kind       order.SessionKind
	Status     SessionStatus
	PaymentRef string // empty for a session with nothing to pay
	Total      order.Money
	Email      string // as the buyer typed it, outer spaces trimmed; empty when the provider has none
	Name       string
	Items      []order.Item
	Parts      []int64 // shipping, tax and discounts in Total, in minor units; those that are not zero
	Reversed   bool    // there was a refund or a dispute: nothing is given before Reversals has said how it stands
}

// Provider is one payment provider, configured for one environment.
type Provider interface {
	Reader
	// Signed checks the signature's header as far as it can be checked without the body: it is there, whole and not stale.
	// Errors wrap ErrSignature.
	Signed(header http.Header, now time.Time) error
	// Verify checks the signature over the raw body against every configured secret. Errors wrap ErrSignature.
	Verify(header http.Header, body []byte, now time.Time) error
	// Translate reads a verified body. Errors wrap ErrMalformed.
	Translate(body []byte) (Event, error)
	// ValidSession says whether id can be a session of this provider in this environment's mode.
	ValidSession(id string) bool
	// Session retrieves what the provider proves about a session, with all its line items. Errors that come from the
	// provider's answer, or from the lack of one, are *APIError.
	Session(ctx context.Context, id string) (Facts, error)
}

// Owner is a provider that several accounts share. An event that names an account is the environment's own where that is
// the account of its key.
type Owner interface {
	// OwnAccount is the account of the key; empty where the provider does not say. Its errors are *APIError: ask again.
	OwnAccount(ctx context.Context) (string, error)
}

// APIError is a failed call to a provider's API. It holds nothing of the provider's text.
type APIError struct {
	Status     int           // HTTP status; 0 when there was no answer
	Code       string        // the provider's documented error code; empty when it gave none
	RetryAfter time.Duration // how long the provider asks to wait; 0 when it does not say
}

func (e *APIError) Error() string {
	if e.Status == 0 {
		return "payment provider: no answer"
	}
	return fmt.Sprintf("payment provider: HTTP %d", e.Status)
}

// Failure is what the error says about the call, for order.Classify. Every call is a read, which is safe to repeat.
func (e *APIError) Failure() order.Failure {
	return order.Failure{Status: e.Status, RetryAfter: e.RetryAfter}
}
