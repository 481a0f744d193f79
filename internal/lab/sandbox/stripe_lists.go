package sandbox

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
)

// listLineItems is https://docs.stripe.com/api/checkout/sessions/line_items.
func (s *Sandbox) listLineItems(w http.ResponseWriter, r *http.Request) {
	sess, found := s.visibleSession(r)
	if !found {
		missing(w, "checkout.session", r.PathValue("id"))
		return
	}
	items, more, ok := page(w, r, lineItems(sess), func(o object) string { return o["id"].(string) })
	if ok {
		writeJSON(w, http.StatusOK, stripeList(lineItemsURL(sess.ID), items, more))
	}
}

// listSessions is https://docs.stripe.com/api/checkout/sessions/list, newest first.
func (s *Sandbox) listSessions(w http.ResponseWriter, r *http.Request) {
	q, key := r.URL.Query(), stripeKey(r)
	if status := q.Get("status"); status != "" && !slices.Contains([]string{"open", "complete", "expired"}, status) {
		stripeError(w, http.StatusBadRequest, "invalid_request_error", "", "Invalid status: must be one of open, complete, or expired")
		return
	}
	inRange := createdRange(q)
	var all []Session
	s.mu.Lock()
	for _, id := range slices.Backward(s.sessionSeq) {
		sess := s.sessions[id]
		if intent := q.Get("payment_intent"); intent != "" && intent != sess.PaymentIntent.ID {
			continue
		}
		if status := q.Get("status"); status != "" && status != sess.Status {
			continue
		}
		if inRange(sess.Created.Unix()) && !otherMode(key, id) {
			all = append(all, sess)
		}
	}
	s.mu.Unlock()
	slices.SortStableFunc(all, func(a, b Session) int { return b.Created.Compare(a.Created) })
	found, more, ok := page(w, r, all, func(sess Session) string { return sess.ID })
	if !ok {
		return
	}
	data, expand := []object{}, expansions(r)
	for _, sess := range found {
		data = append(data, s.stripeSession(sess, expand))
	}
	writeJSON(w, http.StatusOK, stripeList("/v1/checkout/sessions", data, more))
}

// createdRange reads created=n and created[gt|gte|lt|lte]=n.
func createdRange(q url.Values) func(int64) bool {
	bound := func(name string, holds func(created, limit int64) bool) func(int64) bool {
		limit, err := strconv.ParseInt(q.Get(name), 10, 64)
		return func(created int64) bool { return err != nil || holds(created, limit) }
	}
	bounds := []func(int64) bool{
		bound("created", func(c, n int64) bool { return c == n }),
		bound("created[gt]", func(c, n int64) bool { return c > n }),
		bound("created[gte]", func(c, n int64) bool { return c >= n }),
		bound("created[lt]", func(c, n int64) bool { return c < n }),
		bound("created[lte]", func(c, n int64) bool { return c <= n }),
	}
	return func(created int64) bool {
		for _, holds := range bounds {
			if !holds(created) {
				return false
			}
		}
		return true
	}
}

// listEvents is https://docs.stripe.com/api/events/list, newest first.
func (s *Sandbox) listEvents(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	inRange := createdRange(q)
	types := slices.Concat(q["type"], q["types[]"])
	var all []storedEvent
	s.mu.Lock()
	for _, e := range slices.Backward(s.events) {
		if inRange(e.Created) && (len(types) == 0 || slices.Contains(types, e.Type)) {
			all = append(all, e)
		}
	}
	s.mu.Unlock()
	found, more, ok := page(w, r, all, func(e storedEvent) string { return e.ID })
	if !ok {
		return
	}
	data := []json.RawMessage{}
	for _, e := range found {
		data = append(data, e.Body)
	}
	writeJSON(w, http.StatusOK, stripeList("/v1/events", data, more))
}
