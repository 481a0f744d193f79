package sandbox

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// createSession is the part of https://docs.stripe.com/api/checkout/sessions/create that a shop of one-time products
// needs. The session is open; the shop page lists it with a button that pays it.
func (s *Sandbox) createSession(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		stripeError(w, http.StatusBadRequest, "invalid_request_error", "", "The request body cannot be read.")
		return
	}
	items, param := s.formItems(r.PostForm)
	if param != "" {
		stripeError(w, http.StatusBadRequest, "invalid_request_error", "resource_missing", "No such price: "+param)
		return
	}
	sess := Session{
		Live: strings.Contains(stripeKey(r), "_live_"), Mode: r.PostForm.Get("mode"), Status: "open",
		PaymentStatus: unpaid, Items: items, Email: r.PostForm.Get("customer_email"),
		CustomerEmail: r.PostForm.Get("customer_email"), SuccessURL: r.PostForm.Get("success_url"),
		Metadata: formMetadata(r.PostForm), CreateKey: r.Header.Get("Idempotency-Key"),
	}
	if err := s.fill(&sess); err != nil {
		stripeError(w, http.StatusBadRequest, "invalid_request_error", "parameter_invalid", err.Error())
		return
	}
	s.mu.Lock()
	if id, again := s.created[sess.CreateKey]; again && sess.CreateKey != "" {
		sess = s.sessions[id]
	} else if err := s.record(entry{Session: &sess}); err != nil {
		s.mu.Unlock()
		stripeError(w, http.StatusInternalServerError, "api_error", "", "The sandbox cannot write its journal.")
		return
	}
	s.mu.Unlock()
	o := s.stripeSession(sess, nil)
	o["url"] = "http://" + r.Host + "/#" + sess.ID
	writeJSON(w, http.StatusOK, o)
}

// formItems reads line_items[n][price] and line_items[n][quantity]. A price that is not on sale is named in missing;
// a sandbox without products sells anything.
func (s *Sandbox) formItems(form url.Values) (items []Item, missing string) {
	for n := range 100 {
		price := form.Get(fmt.Sprintf("line_items[%d][price]", n))
		if price == "" {
			return items, ""
		}
		if _, found := s.product(price); !found && len(s.cfg.Products) > 0 {
			return nil, "'" + price + "'"
		}
		quantity, err := strconv.ParseInt(form.Get(fmt.Sprintf("line_items[%d][quantity]", n)), 10, 64)
		if err != nil || quantity < 1 {
			quantity = 1
		}
		items = append(items, Item{Price: price, Quantity: quantity})
	}
	return items, ""
}

func formMetadata(form url.Values) map[string]string {
	m := map[string]string{}
	for name, values := range form {
		if key, found := strings.CutPrefix(name, "metadata["); found && len(values) > 0 {
			m[strings.TrimSuffix(key, "]")] = values[0]
		}
	}
	return m
}
