// Package email is what Handover asks of an email provider: take one rendered message under an idempotency key, and report
// what became of it. Each provider is a folder of its own beside this file.
package email

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"handover/internal/order"
)

var (
	// ErrSignature means that no configured secret made the signature, or that its time is stale.
	ErrSignature = errors.New("webhook signature missing, wrong or stale")
	// ErrMalformed means that the body is well signed but is not what the provider sends.
	ErrMalformed = errors.New("webhook body is not what the provider sends")
)

// Sender hands a message to the email provider.
type Sender interface {
	// Send makes at most one request, under the given idempotency key, and returns the provider's id of the message.
	// Errors that come from the provider's answer, or from the lack of one, are *SendError.
	Send(ctx context.Context, key string, m order.Message) (id string, err error)
}

// ErrNoList means that a provider's list of sent mail cannot be searched, and that trying again changes nothing:
// the key may only send, or the list is too long.
var ErrNoList = errors.New("the list of sent mail cannot be searched")

// Finder searches what the provider has accepted. It is offered by a Sender whose provider lists its sent mail.
type Finder interface {
	// Find returns the ids of all messages in the list that can be the wanted one. Errors wrap ErrNoList, or come from a
	// response, or the lack of one, and are *SendError: the next search may succeed.
	Find(ctx context.Context, l Lookup) (ids []string, err error)
}

// SendError is a failed call to an email provider's API. It holds nothing of the provider's text.
type SendError struct {
	Status     int           // HTTP status; 0 when there was no answer
	Name       string        // the provider's documented error name; empty when it gave none
	RetryAfter time.Duration // how long the provider asks to wait; 0 when it does not say
	Unreadable bool          // a success whose body could not be read: the message may have been accepted
}

func (e *SendError) Error() string {
	switch {
	case e.Status == 0:
		return "email provider: no answer"
	case e.Unreadable:
		return fmt.Sprintf("email provider: HTTP %d without a usable body", e.Status)
	}
	return fmt.Sprintf("email provider: HTTP %d", e.Status)
}

// Failure is what the error says about the call, for order.Classify.
func (e *SendError) Failure() order.Failure {
	return order.Failure{Status: e.Status, Name: e.Name, Unreadable: e.Unreadable, Write: true, RetryAfter: e.RetryAfter}
}

// Webhook reads the email provider's events.
type Webhook interface {
	// Signed checks the signature's headers as far as they can be checked without the body: they are there, whole and not
	// stale. Errors wrap ErrSignature.
	Signed(header http.Header, now time.Time) error
	// Verify checks the signature over the raw body against every configured secret and returns the event's id. Errors
	// wrap ErrSignature.
	Verify(header http.Header, body []byte, now time.Time) (id string, err error)
	// Translate reads a verified body. Errors wrap ErrMalformed.
	Translate(id string, body []byte) (order.EmailEvent, error)
}
