package activities

import (
	"context"
	"errors"
	"time"

	"handover/internal/ledger"
	"handover/internal/order"
)

const stepRead = "read"

// ReadOrderInput asks what the ledger knows of an order.
type ReadOrderInput struct {
	Order order.Key `json:"order"`
}

// ReadOrderResult is what a new run of a known order starts from.
type ReadOrderResult struct {
	Payment    order.PaymentState `json:"payment"`
	Access     order.AccessState  `json:"access"`
	Email      order.EmailState   `json:"email"`
	Generation int                `json:"generation"`
	Reason     order.Reason       `json:"reason,omitempty"`
	// OpenSeconds is how long the workflow still listens after delivery; 0 when that time is over.
	OpenSeconds int `json:"open_seconds"`
	// ReversalDue says that there may be something new about the money; AccessChangeDue that access has to be changed.
	ReversalDue     bool `json:"review_due,omitempty"`
	AccessChangeDue bool `json:"change_due,omitempty"`
	// EmailSuspended says that the newest email is not wanted now, because access has ended or is held.
	EmailSuspended bool `json:"email_rests,omitempty"`
}

// ReadOrder tells a run that was started for a known order what is done already, so that it does only what is missing.
// It only reads.
func (a *Activities) ReadOrder(ctx context.Context, in ReadOrderInput) (ReadOrderResult, error) {
	v, err := a.Ledger.Order(ctx, in.Order)
	if errors.Is(err, ledger.ErrNotFound) {
		v, err = order.View{Facts: order.Pending()}, nil
	}
	if err != nil {
		return ReadOrderResult{}, a.failed(ctx, stepRead, in.Order, judge(err).class, err)
	}
	result := ReadOrderResult{Payment: v.Facts.Payment, Access: v.Facts.Access, Email: v.Facts.Email, Reason: v.Reason, Generation: 1,
		ReversalDue: v.ReversalDue, AccessChangeDue: v.AccessChangeDue}
	if n := len(v.Emails); n > 0 {
		result.Generation, result.EmailSuspended = v.Emails[n-1].Generation, v.Emails[n-1].Suspended
	}
	if v.ConfirmedAt != nil {
		result.OpenSeconds = max(0, int(time.Until(v.ConfirmedAt.Add(a.cfg.OpenFor)).Seconds()))
	}
	return result, nil
}
