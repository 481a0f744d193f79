package shop

import (
	"context"
	"net/http"

	"handover/internal/lab/sandbox/stripe"
)

// reverse gives the money of a paid session back, or lets the buyer's bank dispute it and decide.
func (s *Shop) reverse(w http.ResponseWriter, r *http.Request, id, how string) {
	deliver, err := s.makeReversal(id, how)
	if err != nil {
		s.failed(w, err)
		return
	}
	s.core.Background(func(ctx context.Context) {
		if err := deliver(ctx); err != nil {
			s.core.Logger.Warn("shop", "error", err)
		}
	})
	sess, _ := s.stripe.Session(id)
	http.Redirect(w, r, s.backTo(sess), http.StatusSeeOther)
}

// makeReversal makes it true, and returns what delivers the webhooks about it.
func (s *Shop) makeReversal(id, how string) (deliver func(context.Context) error, err error) {
	events := stripe.MoneyEvents{Retry: true}
	if how == "refund" {
		refund, err := s.stripe.Refund(stripe.Refund{Session: id})
		return func(ctx context.Context) error { _, err := s.stripe.DeliverRefund(ctx, refund.ID, events); return err }, err
	}

	dispute := stripe.Dispute{Session: id}
	if how == "dispute" {
		dispute, err = s.stripe.Dispute(dispute)
	} else {
		dispute, _ = s.stripe.NewestDispute(id)
		dispute, err = s.stripe.ChangeDispute(dispute.ID, how)
	}
	return func(ctx context.Context) error {
		_, err := s.stripe.DeliverDispute(ctx, dispute.ID, events)
		return err
	}, err
}
