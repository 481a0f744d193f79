package web

import (
	"context"
	"errors"
	"net/http"

	"handover/internal/ledger"
	"handover/internal/order"
)

// orderPage answers GET /orders/{environment}/{session}. It works before the webhook has landed, and only reads.
func (s *server) orderPage(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept")
	key, v, ok := s.readOrder(w, r)
	if !ok {
		return
	}
	prefix := s.base + "/orders/" + key.String()
	if wantsJSON(r) {
		status := Status(v)
		if s.windowOpen(v) {
			grants := offered(v)
			status.Downloads, status.Licenses = downloads(grants, prefix+"/downloads/"), s.licenses(grants)
		}
		writeJSON(w, http.StatusOK, status)
		return
	}
	page := s.orderModel(v, pageBySession)
	page.Notice = notices[r.URL.Query().Get("sent")]
	page.offer(s, v, s.windowOpen(v), prefix+"/downloads/")
	if page.State == order.CustomerReady {
		page.Resend = prefix + "/resend"
	}
	s.render(w, r, http.StatusOK, "order", page)
}

// orderDownload answers GET /orders/{environment}/{session}/downloads/{grant}, for as long as the page offers it.
func (s *server) orderDownload(w http.ResponseWriter, r *http.Request) {
	_, v, ok := s.readOrder(w, r)
	if !ok {
		return
	}
	s.download(w, r, v, s.windowOpen(v))
}

// readOrder reads the order of the path. An order nobody has heard of is one with everything pending: the buyer may be
// back from the checkout before the webhook. When the bool is false, the answer has been given.
func (s *server) readOrder(w http.ResponseWriter, r *http.Request) (order.Key, order.View, bool) {
	key := order.Key{Environment: r.PathValue("environment"), Session: r.PathValue("session")}
	environment, known := s.Environments[key.Environment]
	if !known || !key.Valid() || !environment.Provider.ValidSession(key.Session) {
		s.message(w, r, messageNotFound)
		return key, order.View{}, false
	}
	about(w, key)
	ctx, cancel := context.WithTimeout(r.Context(), readTime)
	defer cancel()
	v, err := s.Orders.Order(ctx, key)
	if errors.Is(err, ledger.ErrNotFound) {
		return key, order.View{Key: key, Facts: order.Pending()}, true
	}
	if err != nil {
		s.away(w, r, err)
		return key, order.View{}, false
	}
	return key, v, true
}

// away answers while the ledger cannot be read: a page that tries again by itself.
func (s *server) away(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() == nil {
		s.Log.Error("ledger could not be read for a page", "route", r.Pattern, "error", err)
	}
	s.message(w, r, messageAway)
}
