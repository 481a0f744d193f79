package pages

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"

	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/web/respond"
)

// tokenLength is the length of an emailed link's token: 32 bytes in unpadded base64url.
const tokenLength = 43

// LinkPage answers GET /d/{token}, the emailed link. Fetching it uses nothing up: mail scanners fetch links too.
func (s *Site) LinkPage(w http.ResponseWriter, r *http.Request) {
	v, ok := s.readLink(w, r)
	if !ok {
		return
	}
	prefix := s.Base + "/d/" + r.PathValue("token") + "/"
	if s.stays.stayed(r.PathValue("token"), r, respond.WantsJSON(r), s.Now()) && v.OpenedAt == nil {
		s.Reached(r.Context(), v.Key, order.ReachOpened)
	}
	page := s.orderModel(v, pageByLink)
	page.showGrants(s, v, true, prefix)
	status := http.StatusOK
	switch page.State {
	case order.CustomerEnded:
		status = http.StatusGone
	case order.CustomerOnHold:
		status = http.StatusForbidden
	}
	w.Header().Set("Vary", "Accept")
	if respond.WantsJSON(r) {
		fields := order.Status(v)
		fields.Order = string(v.Reference) // whoever has the link need not know the session, which opens a page of its own
		goods := s.goods(available(v), prefix)
		fields.Downloads, fields.Licenses = goods.downloads, goods.licenses
		respond.JSON(w, status, fields)
		return
	}
	s.render(w, r, status, "order", page)
}

// LinkDownload answers GET /d/{token}/{grant}.
func (s *Site) LinkDownload(w http.ResponseWriter, r *http.Request) {
	v, ok := s.readLink(w, r)
	if !ok {
		return
	}
	s.download(w, r, v, true)
}

// readLink reads the order of the path's token. An unknown token and an impossible one get the same answer. When the
// bool is false, the answer has been given.
func (s *Site) readLink(w http.ResponseWriter, r *http.Request) (order.View, bool) {
	token := r.PathValue("token")
	if _, err := base64.RawURLEncoding.DecodeString(token); err != nil || len(token) != tokenLength {
		s.message(w, r, messageLink)
		return order.View{}, false
	}
	ctx, cancel := context.WithTimeout(r.Context(), readTime)
	defer cancel()
	v, err := s.Orders.OrderByLink(ctx, sha256.Sum256([]byte(token)))
	if errors.Is(err, ledger.ErrNotFound) {
		s.message(w, r, messageLink)
		return order.View{}, false
	}
	if err != nil {
		s.away(w, r, err)
		return order.View{}, false
	}
	respond.About(w, v.Key)
	v.Grants = s.Catalogue.Today(v.Grants)
	return v, true
}
