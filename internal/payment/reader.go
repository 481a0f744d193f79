package payment

import (
	"context"
	"time"

	"handover/internal/order"
)

// Reader are what a provider proves about its sales beside the one session that an event names: whose payment a reference
// is, what became of its money afterwards, and what else was sold. Errors that come from the provider's answer, or from
// the lack of one, are *APIError.
type Reader interface {
	// SessionOf finds the checkout session that a payment reference belongs to; empty when the provider knows none.
	SessionOf(ctx context.Context, ref string) (session string, err error)
	// Reversals retrieves the refunds and disputes of a payment as they stand now.
	Reversals(ctx context.Context, ref string) (Reversals, error)
	// PaidSessions lists one page of the sessions that buyers have finished since a time, whatever came of their money. An
	// empty cursor asks for the first page, and an empty next says that there is no other. A provider that can only list
	// by the time of creation reaches back as far as a session can stay open, so that none is missed.
	PaidSessions(ctx context.Context, since time.Time, cursor string) (page []order.Sale, next string, err error)
	// ReversalsSince lists one page of the payments of which something was refunded or disputed since a time, in pages like
	// PaidSessions. A provider that does not say when that was lists those of the payments of the last 60 days.
	ReversalsSince(ctx context.Context, since time.Time, cursor string) (page []order.Reversed, next string, err error)
}

// RefundStatus is how far a refund has come.
type RefundStatus string

// The states of a refund. Only one that succeeded takes anything away.
const (
	RefundPending   RefundStatus = "pending" // also one that waits for the buyer
	RefundSucceeded RefundStatus = "succeeded"
	RefundFailed    RefundStatus = "failed" // also a cancelled one
)

// Refund is one refund of a payment.
type Refund struct {
	ID     string
	Amount int64 // minor units
	Status RefundStatus
}

// Reversals are what a provider proves about the money of one payment after it was made.
type Reversals struct {
	Paid    order.Money // what the buyer paid; its amount is 0 when the provider does not say
	Refunds []Refund
	Dispute order.Dispute
	// Disputed is what the disputes in that state are about, in minor units of Paid's currency; 0 when all of it is, or the
	// provider does not say.
	Disputed int64
}

// Refunded adds up the refunds of one status, in minor units.
func (r Reversals) Refunded(status RefundStatus) (total int64) {
	for _, refund := range r.Refunds {
		if refund.Status == status {
			total += refund.Amount
		}
	}
	return total
}
