package pages

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/web/respond"
)

// OrderPage answers GET /orders/{environment}/{session}. It works before the webhook has landed. Where none
// comes, the visit itself makes Handover ask the provider.
func (s *Site) OrderPage(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept")
	key, v, ok := s.readOrder(w, r)
	if !ok {
		return
	}
	if v.Facts.Payment == order.PaymentPending && r.Method == http.MethodGet {
		s.Visits.Seen(key, respond.Client(r))
	}
	prefix := s.Base + "/orders/" + key.String()
	if respond.WantsJSON(r) {
		status := order.Status(v)
		if s.windowOpen(v) {
			goods := s.goods(available(v), prefix+"/downloads/")
			status.Downloads, status.Licenses = goods.downloads, goods.licenses
		}
		respond.JSON(w, http.StatusOK, status)
		return
	}
	if v.Relinked() {
		v = v.WithoutAddresses() // whoever has an earlier email has this page's address, too
	}
	page := s.orderModel(v, pageBySession)
	page.Notice = notices[r.URL.Query().Get("sent")]
	page.showGrants(s, v, s.windowOpen(v), prefix+"/downloads/")
	if page.State == order.CustomerReady && !v.Relinked() {
		page.Resend = prefix + "/resend"
	}
	s.render(w, r, http.StatusOK, "order", page)
}

// OrderDownload answers GET /orders/{environment}/{session}/downloads/{grant}, for as long as the page offers it.
func (s *Site) OrderDownload(w http.ResponseWriter, r *http.Request) {
	_, v, ok := s.readOrder(w, r)
	if !ok {
		return
	}
	s.download(w, r, v, s.windowOpen(v))
}

// readOrder reads the order of the path. An order unknown to the ledger has everything pending: the buyer may be back
// from the checkout before the webhook. When the bool is false, the answer has been given.
func (s *Site) readOrder(w http.ResponseWriter, r *http.Request) (order.Key, order.View, bool) {
	key := order.Key{Environment: r.PathValue("environment"), Session: r.PathValue("session")}
	if strings.Contains(key.Session, "CHECKOUT_SESSION_ID") {
		s.Log.Error("buyers come back from the checkout without their session: write success_url with {CHECKOUT_SESSION_ID} as it stands, not encoded", "environment", key.Environment)
		s.Misled(r.Context())
		s.message(w, r, messageThanks)
		return key, order.View{}, false
	}
	if !s.ValidSession(key) {
		s.message(w, r, messageNotFound)
		return key, order.View{}, false
	}
	respond.About(w, key)
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
	v.Grants = s.Catalogue.Today(v.Grants)
	return key, v, true
}

// away answers while the ledger cannot be read: a page that tries again by itself.
func (s *Site) away(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() == nil {
		s.Log.Error("ledger could not be read for a page", "route", r.Pattern, "error", err)
	}
	s.message(w, r, messageAway)
}
