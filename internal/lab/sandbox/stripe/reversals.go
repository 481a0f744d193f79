package stripe

import "context"

// Refund gives money back to the buyer of r.Session. No webhook reports it yet: see DeliverRefund.
func (s *Stripe) Refund(r Refund) (Refund, error) { return s.refunds.create(r) }

// ChangeRefund lets a pending refund succeed, or one that seemed to succeed fail.
func (s *Stripe) ChangeRefund(id, status string) (Refund, error) { return s.refunds.change(id, status) }

// DeliverRefund signs and delivers events of a refund: refund.created, charge.refunded, refund.updated, refund.failed, …
func (s *Stripe) DeliverRefund(ctx context.Context, id string, in MoneyEvents) ([]Delivery, error) {
	return s.refunds.deliver(ctx, id, in)
}

// Dispute lets the buyer's bank dispute d.Session. No webhook reports it yet: see DeliverDispute.
func (s *Stripe) Dispute(d Dispute) (Dispute, error) { return s.disputes.create(d) }

// ChangeDispute moves a dispute on: under_review, won, lost, …
func (s *Stripe) ChangeDispute(id, status string) (Dispute, error) {
	return s.disputes.change(id, status)
}

// DeliverDispute signs and delivers events of a dispute: charge.dispute.created, charge.dispute.closed, …
func (s *Stripe) DeliverDispute(ctx context.Context, id string, in MoneyEvents) ([]Delivery, error) {
	return s.disputes.deliver(ctx, id, in)
}

// NewestDispute returns a session's newest dispute.
func (s *Stripe) NewestDispute(session string) (Dispute, bool) {
	s.core.Lock()
	defer s.core.Unlock()
	for d := range s.disputes.table.Newest() {
		if d.Session == session {
			return d, true
		}
	}
	return Dispute{}, false
}
