package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Refund is money that went back to the buyer of a session, or is to. Its Stripe form is made from it.
type Refund struct {
	ID      string    `json:"id"` // re_… when empty
	Session string    `json:"session"`
	Amount  int64     `json:"amount"` // minor units; what is left of the payment when 0
	Status  string    `json:"status"` // succeeded (default), pending, requires_action, failed, canceled
	Created time.Time `json:"created,omitzero"`
	Changed bool      `json:"changed"` // since it was made
}

// Dispute is a buyer's bank asking for the money of a session back.
type Dispute struct {
	ID      string    `json:"id"` // du_… when empty
	Session string    `json:"session"`
	Amount  int64     `json:"amount"` // minor units; the whole payment when 0
	Status  string    `json:"status"` // needs_response (default), warning_needs_response, under_review, won, lost, …
	Reason  string    `json:"reason"` // fraudulent when empty
	Created time.Time `json:"created,omitzero"`
	Changed bool      `json:"changed"`
}

// The words of https://docs.stripe.com/api/refunds/object and https://docs.stripe.com/api/disputes/object.
var (
	refundStates  = []string{"pending", "requires_action", "succeeded", "failed", "canceled"}
	disputeStates = []string{
		"warning_needs_response", "warning_under_review", "warning_closed", "needs_response", "under_review", "won", "lost", "prevented",
	}
)

var (
	errUnknownRefund  = errors.New("refund: unknown")
	errUnknownDispute = errors.New("dispute: unknown")
)

// gaveBack says that a refund counts in its charge's amount_refunded: a pending one does, too.
func (r Refund) gaveBack() bool { return r.Status != "failed" && r.Status != "canceled" }

// paymentOf returns a session that has been paid. The caller holds mu.
func (s *Sandbox) paymentOf(session string) (Session, error) {
	sess, found := s.sessions[session]
	switch {
	case !found:
		return sess, errUnknownSession
	case sess.PaymentIntent.Status != "succeeded":
		return sess, errors.New("session: nothing has been paid")
	}
	return sess, nil
}

// Refund gives money back to the buyer of r.Session. Nobody is told yet: see DeliverRefund.
func (s *Sandbox) Refund(r Refund) (Refund, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sess, err := s.paymentOf(r.Session)
	if err != nil {
		return r, err
	}
	left := sess.Amount - sess.Refunded
	r.ID = cmp.Or(r.ID, newID("re_", 24))
	r.Amount = cmp.Or(r.Amount, left)
	r.Status = cmp.Or(r.Status, "succeeded")
	r.Created = cmp.Or(r.Created, s.cfg.Now().UTC())
	r.Changed = false
	switch _, taken := s.refunds[r.ID]; {
	case taken:
		return r, errors.New("id: there is such a refund already; change it with PATCH")
	case !slices.Contains(refundStates, r.Status):
		return r, oneOf("status", refundStates)
	case r.Amount < 1 || r.gaveBack() && r.Amount > left:
		return r, fmt.Errorf("amount: %d is left of the payment", left)
	}
	return r, s.record(entry{Refund: &r})
}

// ChangeRefund lets a pending refund succeed, or one that seemed to succeed fail.
func (s *Sandbox) ChangeRefund(id, status string) (Refund, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, found := s.refunds[id]
	switch {
	case !found:
		return r, errUnknownRefund
	case !slices.Contains(refundStates, status):
		return r, oneOf("status", refundStates)
	}
	r.Status, r.Changed = status, true
	return r, s.record(entry{Refund: &r})
}

// Dispute lets the buyer's bank dispute d.Session. Nobody is told yet: see DeliverDispute.
func (s *Sandbox) Dispute(d Dispute) (Dispute, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sess, err := s.paymentOf(d.Session)
	if err != nil {
		return d, err
	}
	d.ID = cmp.Or(d.ID, newID("du_", 24))
	d.Amount = cmp.Or(d.Amount, sess.Amount)
	d.Status = cmp.Or(d.Status, "needs_response")
	d.Reason = cmp.Or(d.Reason, "fraudulent")
	d.Created = cmp.Or(d.Created, s.cfg.Now().UTC())
	d.Changed = false
	switch _, taken := s.disputes[d.ID]; {
	case taken:
		return d, errors.New("id: there is such a dispute already; change it with PATCH")
	case !slices.Contains(disputeStates, d.Status):
		return d, oneOf("status", disputeStates)
	}
	return d, s.record(entry{Dispute: &d})
}

// ChangeDispute moves a dispute on: under_review, won, lost, …
func (s *Sandbox) ChangeDispute(id, status string) (Dispute, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, found := s.disputes[id]
	switch {
	case !found:
		return d, errUnknownDispute
	case !slices.Contains(disputeStates, status):
		return d, oneOf("status", disputeStates)
	}
	d.Status, d.Changed = status, true
	return d, s.record(entry{Dispute: &d})
}

func oneOf(name string, words []string) error {
	return fmt.Errorf("%s: one of %s", name, strings.Join(words, ", "))
}

// tally brings a session's sums up to date.
func (st *state) tally(session string) {
	sess, found := st.sessions[session]
	if !found {
		return
	}
	sess.Refunded, sess.Disputed = 0, false
	for _, r := range st.refunds {
		if r.Session == session && r.gaveBack() {
			sess.Refunded += r.Amount
		}
	}
	for _, d := range st.disputes {
		sess.Disputed = sess.Disputed || d.Session == session
	}
	st.sessions[session] = sess
}

// statusChange is the body of a PATCH of a refund or a dispute.
type statusChange struct {
	Status string `json:"status"`
}

func (s *Sandbox) controlRefund(w http.ResponseWriter, r *http.Request) {
	var in Refund
	if err := readJSON(r, &in); err != nil {
		controlError(w, http.StatusBadRequest, err)
		return
	}
	in.Session = r.PathValue("id")
	made, err := s.Refund(in)
	answerMoney(w, http.StatusCreated, made, err)
}

func (s *Sandbox) controlDispute(w http.ResponseWriter, r *http.Request) {
	var in Dispute
	if err := readJSON(r, &in); err != nil {
		controlError(w, http.StatusBadRequest, err)
		return
	}
	in.Session = r.PathValue("id")
	made, err := s.Dispute(in)
	answerMoney(w, http.StatusCreated, made, err)
}

// controlChange serves the PATCH of a refund or a dispute.
func controlChange[T any](change func(id, status string) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in statusChange
		if err := readJSON(r, &in); err != nil {
			controlError(w, http.StatusBadRequest, err)
			return
		}
		made, err := change(r.PathValue("id"), in.Status)
		answerMoney(w, http.StatusOK, made, err)
	}
}

func answerMoney(w http.ResponseWriter, status int, made any, err error) {
	switch {
	case errors.Is(err, errUnknownSession), errors.Is(err, errUnknownRefund), errors.Is(err, errUnknownDispute):
		controlError(w, http.StatusNotFound, err)
	case errors.Is(err, errNoURL):
		controlError(w, http.StatusConflict, err)
	case err != nil:
		controlError(w, http.StatusBadRequest, err)
	default:
		writeJSON(w, status, made)
	}
}

// moneyObject is the object of an event about money: the refund or dispute that it names or, for charge.refunded, the
// charge. The caller holds mu.
func (s *Sandbox) moneyObject(in EventRequest) (about any, live bool, err error) {
	if in.Refund != "" {
		r, found := s.refunds[in.Refund]
		if !found {
			return nil, false, errUnknownRefund
		}
		sess := s.sessions[r.Session]
		if in.Type == "charge.refunded" {
			return chargeOf(sess), sess.Live, nil
		}
		return stripeRefund(sess, r), sess.Live, nil
	}
	d, found := s.disputes[in.Dispute]
	if !found {
		return nil, false, errUnknownDispute
	}
	sess := s.sessions[d.Session]
	return stripeDispute(sess, d), sess.Live, nil
}
