package sandbox

import (
	"context"
	"net/http"
	"slices"
)

// paidFor is a session on the shop page whose money has come.
type paidFor struct {
	Session
	What    string // the names of what was bought
	Whole   bool   // nothing was given back yet
	Dispute string // the status of its newest dispute
	Open    bool   // that dispute can still be won or lost
}

const shownPaid = 10

// shopPaid lists the newest paid sessions. The caller holds mu.
func (s *Sandbox) shopPaid() []paidFor {
	var list []paidFor
	for _, id := range slices.Backward(s.sessionSeq) {
		sess := s.sessions[id]
		if sess.PaymentIntent.Status != "succeeded" || len(list) == shownPaid {
			continue
		}
		p := paidFor{Session: sess, What: itemNames(sess), Whole: sess.Refunded == 0}
		if d, found := s.disputeOf(id); found {
			p.Dispute, p.Open = d.Status, !closed(d)
		}
		list = append(list, p)
	}
	return list
}

// disputeOf returns a session's newest dispute. The caller holds mu.
func (s *Sandbox) disputeOf(session string) (Dispute, bool) {
	for _, id := range slices.Backward(s.disputeSeq) {
		if d := s.disputes[id]; d.Session == session {
			return d, true
		}
	}
	return Dispute{}, false
}

// shopReverse gives the money of a paid session back, or lets the buyer's bank dispute it and decide.
func (s *Sandbox) shopReverse(w http.ResponseWriter, r *http.Request, id, how string) {
	tell, err := s.reverse(id, how)
	if err != nil {
		s.shopFailed(w, err)
		return
	}
	s.background(func() {
		if err := tell(s.ctx); err != nil {
			s.cfg.Logger.Warn("shop", "error", err)
		}
	})
	s.mu.Lock()
	sess := s.sessions[id]
	s.mu.Unlock()
	http.Redirect(w, r, s.backTo(sess), http.StatusSeeOther)
}

// reverse makes it true, and returns what tells the webhook of it.
func (s *Sandbox) reverse(id, how string) (tell func(context.Context) error, err error) {
	events := MoneyEvents{Retry: true}
	if how == "refund" {
		refund, err := s.Refund(Refund{Session: id})
		return func(ctx context.Context) error { _, err := s.DeliverRefund(ctx, refund.ID, events); return err }, err
	}
	dispute := Dispute{Session: id}
	if how == "dispute" {
		dispute, err = s.Dispute(dispute)
	} else {
		s.mu.Lock()
		dispute, _ = s.disputeOf(id)
		s.mu.Unlock()
		dispute, err = s.ChangeDispute(dispute.ID, how)
	}
	return func(ctx context.Context) error { _, err := s.DeliverDispute(ctx, dispute.ID, events); return err }, err
}
