package web

import (
	"net/http"

	"handover/internal/order"
)

// download serves a grant's file. The grant is judged now, by what the ledger says now: a revoked one is dead at once,
// and an old page or a bookmarked address opens nothing.
func (s *server) download(w http.ResponseWriter, r *http.Request, v order.View, open bool) {
	grant, found := grantOf(v, r.PathValue("grant"))
	if !found {
		s.message(w, r, messageNotFound)
		return
	}
	if m, refused := refusal(v, grant); refused {
		s.message(w, r, m)
		return
	}
	if !open {
		s.message(w, r, closedMessage(v))
		return
	}
	err := s.Files.Serve(w, r, grant.File)
	if err == nil || r.Context().Err() != nil {
		return // the buyer's own hanging up is no fault
	}
	s.Log.Error("file of a granted download could not be served: see that the bucket has it",
		"order", v.Key.String(), "product", grant.Product, "error", err)
	if !started(w) {
		s.message(w, r, messageFile)
	}
}
