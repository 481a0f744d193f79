package stripe

import (
	"net/http"
	"slices"

	"handover/internal/lab/sandbox/core"
)

// findSession is https://docs.stripe.com/api/checkout/sessions/retrieve.
func (s *Stripe) findSession(r *http.Request, id string) (core.Object, bool) {
	sess, found := s.sessions.Get(id)
	return sessionObject(sess, expansions(r)), found && !otherMode(r, id)
}

// listLineItems is https://docs.stripe.com/api/checkout/sessions/line_items.
func (s *Stripe) listLineItems(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	sess, err := s.Session(id)
	if err != nil || otherMode(r, id) {
		missing(w, "checkout.session", id)
		return
	}
	var all []listed
	for _, item := range lineItems(sess) {
		all = append(all, listed{item["id"].(string), func() any { return item }})
	}
	writeList(w, r, lineItemsURL(id), all)
}

// newest are the sessions that the request's key may see and that fit its range of times, by their time, newest first.
// The caller holds the lock.
func (s *Stripe) newest(r *http.Request, fits func(Session) bool) (all []Session) {
	inRange := createdRange(r.URL.Query())
	for sess := range s.sessions.Newest() {
		if inRange(sess.Created.Unix()) && !otherMode(r, sess.ID) && fits(sess) {
			all = append(all, sess)
		}
	}
	slices.SortStableFunc(all, func(a, b Session) int { return b.Created.Compare(a.Created) })
	return all
}

// listSessions is https://docs.stripe.com/api/checkout/sessions/list, newest first.
func (s *Stripe) listSessions(w http.ResponseWriter, r *http.Request) {
	status, intent := r.URL.Query().Get("status"), r.URL.Query().Get("payment_intent")
	if status != "" && !slices.Contains(sessionStates, status) {
		writeError(w, http.StatusBadRequest, "", "Invalid status: must be one of open, complete, or expired")
		return
	}
	expand := expansions(r)
	s.list("/v1/checkout/sessions", func(r *http.Request) (all []listed) {
		for _, sess := range s.newest(r, func(sess Session) bool {
			return (status == "" || status == sess.Status) && (intent == "" || intent == sess.PaymentIntent.ID)
		}) {
			all = append(all, listed{sess.ID, func() any { return sessionObject(sess, expand) }})
		}
		return all
	})(w, r)
}

// paidBy finds the session whose payment fits and that the request's key may see. The caller holds the lock.
func (s *Stripe) paidBy(r *http.Request, fits func(Session) bool) (Session, bool) {
	for sess := range s.sessions.Oldest() {
		if sess.PaymentIntent.ID != "" && fits(sess) && !otherMode(r, sess.ID) {
			return sess, true
		}
	}
	return Session{}, false
}

// findIntent is https://docs.stripe.com/api/payment_intents/retrieve.
func (s *Stripe) findIntent(r *http.Request, id string) (core.Object, bool) {
	sess, found := s.paidBy(r, func(sess Session) bool { return sess.PaymentIntent.ID == id })
	return paymentIntent(sess, expansions(r)["latest_charge"]), found
}

// findCharge is https://docs.stripe.com/api/charges/retrieve.
func (s *Stripe) findCharge(r *http.Request, id string) (core.Object, bool) {
	sess, found := s.paidBy(r, func(sess Session) bool { return chargeID(sess) == id })
	return chargeOf(sess), found
}

// listCharges is https://docs.stripe.com/api/charges/list, newest first.
func (s *Stripe) listCharges(w http.ResponseWriter, r *http.Request) {
	intent := r.URL.Query().Get("payment_intent")
	s.list("/v1/charges", func(r *http.Request) (all []listed) {
		for _, sess := range s.newest(r, func(sess Session) bool {
			return sess.PaymentIntent.ID != "" && (intent == "" || intent == sess.PaymentIntent.ID)
		}) {
			all = append(all, listed{chargeID(sess), func() any { return chargeOf(sess) }})
		}
		return all
	})(w, r)
}

// listEvents is https://docs.stripe.com/api/events/list, newest first.
func (s *Stripe) listEvents(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	inRange, types := createdRange(q), slices.Concat(q["type"], q["types[]"])
	s.list("/v1/events", func(*http.Request) (all []listed) {
		for e := range s.events.Newest() {
			if inRange(e.Created) && (len(types) == 0 || slices.Contains(types, e.Type)) {
				all = append(all, listed{e.ID, func() any { return e.Body }})
			}
		}
		return all
	})(w, r)
}
