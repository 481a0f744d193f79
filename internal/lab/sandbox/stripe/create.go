package stripe

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"handover/internal/lab/sandbox/core"
)

// createSession is the part of https://docs.stripe.com/api/checkout/sessions/create that a shop of one-time products
// needs. The session is open; the shop page lists it with a button that pays it.
func (s *Stripe) createSession(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, core.MaxBody)
	if err := r.ParseForm(); err != nil {
		writeError(w, http.StatusBadRequest, "", "The request body cannot be read.")
		return
	}
	items, param := s.formItems(r.PostForm)
	if param != "" {
		writeError(w, http.StatusBadRequest, "resource_missing", "No such price: "+param)
		return
	}
	sess := Session{
		Live: liveKey(r), Mode: r.PostForm.Get("mode"), Status: "open",
		PaymentStatus: Unpaid, Items: items, Email: r.PostForm.Get("customer_email"),
		CustomerEmail: r.PostForm.Get("customer_email"), SuccessURL: r.PostForm.Get("success_url"),
		Metadata: formMetadata(r.PostForm), CreateKey: r.Header.Get("Idempotency-Key"),
	}
	if err := s.fill(&sess); err != nil {
		writeError(w, http.StatusBadRequest, "parameter_invalid", err.Error())
		return
	}
	s.core.Lock()
	if id, again := s.created[sess.CreateKey]; again && sess.CreateKey != "" {
		sess, _ = s.sessions.Get(id)
	} else if err := s.recordSession(sess); err != nil {
		s.core.Unlock()
		writeError(w, http.StatusInternalServerError, "", "The sandbox cannot write its journal.")
		return
	}
	s.core.Unlock()
	o := sessionObject(sess, nil)
	o["url"] = "http://" + r.Host + "/#" + sess.ID
	core.WriteJSON(w, http.StatusOK, o)
}

// formItems reads line_items[n][price] and line_items[n][quantity]. A price that is not on sale is named in missing;
// a sandbox without products sells anything.
func (s *Stripe) formItems(form url.Values) (items []Item, missing string) {
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
