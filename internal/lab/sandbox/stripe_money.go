package sandbox

import (
	"net/http"
	"slices"
)

// stripeMoneyRoutes are Stripe's objects behind a checkout session, below a base path.
func (s *Sandbox) stripeMoneyRoutes(mux *http.ServeMux, base string) {
	v1 := "GET " + base + "/v1/"
	mux.HandleFunc(v1+"payment_intents/{id}", s.stripe("stripe.payment_intent", s.retrieveIntent))
	mux.HandleFunc(v1+"charges/{id}", s.stripe("stripe.charge", s.retrieveCharge))
	mux.HandleFunc(v1+"charges", s.stripe("stripe.charges", s.listCharges))
	mux.HandleFunc(v1+"refunds/{id}", s.stripe("stripe.refund", s.retrieveRefund))
	mux.HandleFunc(v1+"refunds", s.stripe("stripe.refunds", s.listRefunds))
	mux.HandleFunc(v1+"disputes/{id}", s.stripe("stripe.dispute", s.retrieveDispute))
	mux.HandleFunc(v1+"disputes", s.stripe("stripe.disputes", s.listDisputes))
}

// sessionBy finds the session that fits and that the request's key may see. The caller holds mu.
func (s *Sandbox) sessionBy(r *http.Request, fits func(Session) bool) (Session, bool) {
	for _, id := range s.sessionSeq {
		if sess := s.sessions[id]; sess.PaymentIntent.ID != "" && fits(sess) && !otherMode(stripeKey(r), id) {
			return sess, true
		}
	}
	return Session{}, false
}

// retrieveIntent is https://docs.stripe.com/api/payment_intents/retrieve.
func (s *Sandbox) retrieveIntent(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	s.mu.Lock()
	sess, found := s.sessionBy(r, func(sess Session) bool { return sess.PaymentIntent.ID == id })
	s.mu.Unlock()
	if !found {
		missing(w, "payment_intent", id)
		return
	}
	writeJSON(w, http.StatusOK, paymentIntent(sess, expansions(r)["latest_charge"]))
}

// retrieveCharge is https://docs.stripe.com/api/charges/retrieve.
func (s *Sandbox) retrieveCharge(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	s.mu.Lock()
	sess, found := s.sessionBy(r, func(sess Session) bool { return chargeID(sess) == id })
	s.mu.Unlock()
	if !found {
		missing(w, "charge", id)
		return
	}
	writeJSON(w, http.StatusOK, chargeOf(sess))
}

// listCharges is https://docs.stripe.com/api/charges/list, newest first.
func (s *Sandbox) listCharges(w http.ResponseWriter, r *http.Request) {
	intent, inRange := r.URL.Query().Get("payment_intent"), createdRange(r.URL.Query())
	var all []Session
	s.mu.Lock()
	for _, id := range slices.Backward(s.sessionSeq) {
		sess := s.sessions[id]
		wanted := sess.PaymentIntent.ID != "" && (intent == "" || intent == sess.PaymentIntent.ID)
		if wanted && inRange(sess.Created.Unix()) && !otherMode(stripeKey(r), id) {
			all = append(all, sess)
		}
	}
	s.mu.Unlock()
	slices.SortStableFunc(all, func(a, b Session) int { return b.Created.Compare(a.Created) })
	writeList(w, r, "/v1/charges", all, chargeID, func(sess Session) object { return chargeOf(sess) })
}

// retrieveRefund is https://docs.stripe.com/api/refunds/retrieve.
func (s *Sandbox) retrieveRefund(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	re, found := s.refunds[r.PathValue("id")]
	sess := s.sessions[re.Session]
	s.mu.Unlock()
	if !found || otherMode(stripeKey(r), re.Session) {
		missing(w, "refund", r.PathValue("id"))
		return
	}
	writeJSON(w, http.StatusOK, stripeRefund(sess, re))
}

// listRefunds is https://docs.stripe.com/api/refunds/list, newest first.
func (s *Sandbox) listRefunds(w http.ResponseWriter, r *http.Request) {
	wanted := s.moneyFilter(r)
	var all []object
	s.mu.Lock()
	for _, id := range slices.Backward(s.refundSeq) {
		re := s.refunds[id]
		if sess := s.sessions[re.Session]; wanted(sess, re.Created.Unix()) {
			all = append(all, stripeRefund(sess, re))
		}
	}
	s.mu.Unlock()
	writeList(w, r, "/v1/refunds", all, objectID, func(o object) object { return o })
}

// retrieveDispute is https://docs.stripe.com/api/disputes/retrieve.
func (s *Sandbox) retrieveDispute(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	d, found := s.disputes[r.PathValue("id")]
	sess := s.sessions[d.Session]
	s.mu.Unlock()
	if !found || otherMode(stripeKey(r), d.Session) {
		missing(w, "dispute", r.PathValue("id"))
		return
	}
	writeJSON(w, http.StatusOK, stripeDispute(sess, d))
}

// listDisputes is https://docs.stripe.com/api/disputes/list, newest first.
func (s *Sandbox) listDisputes(w http.ResponseWriter, r *http.Request) {
	wanted := s.moneyFilter(r)
	var all []object
	s.mu.Lock()
	for _, id := range slices.Backward(s.disputeSeq) {
		d := s.disputes[id]
		if sess := s.sessions[d.Session]; wanted(sess, d.Created.Unix()) {
			all = append(all, stripeDispute(sess, d))
		}
	}
	s.mu.Unlock()
	writeList(w, r, "/v1/disputes", all, objectID, func(o object) object { return o })
}

// moneyFilter reads what the lists of refunds and disputes may be narrowed by.
func (s *Sandbox) moneyFilter(r *http.Request) func(sess Session, created int64) bool {
	q, key := r.URL.Query(), stripeKey(r)
	intent, charge, inRange := q.Get("payment_intent"), q.Get("charge"), createdRange(q)
	return func(sess Session, created int64) bool {
		return (intent == "" || intent == sess.PaymentIntent.ID) && (charge == "" || charge == chargeID(sess)) &&
			inRange(created) && !otherMode(key, sess.ID)
	}
}

func objectID(o object) string { id, _ := o["id"].(string); return id }

// writeList answers with one page of a list.
func writeList[T any](w http.ResponseWriter, r *http.Request, url string, all []T, id func(T) string, show func(T) object) {
	found, more, ok := page(w, r, all, id)
	if !ok {
		return
	}
	data := []object{}
	for _, element := range found {
		data = append(data, show(element))
	}
	writeJSON(w, http.StatusOK, stripeList(url, data, more))
}
