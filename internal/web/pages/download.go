package pages

import (
	"net/http"

	"handover/internal/order"
	"handover/internal/web/respond"
)

// embedded says that another site's page wants the file as a part of itself, as in a video: paid files are served to
// people. A link on another site that somebody follows is fine.
func embedded(r *http.Request) bool {
	return r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Sec-Fetch-Dest") != "document"
}

// download serves a grant's file. The ledger is read at each request, because a revoked grant is dead at once and an old
// page or a bookmarked address opens nothing.
func (s *Site) download(w http.ResponseWriter, r *http.Request, v order.View, open bool) {
	if embedded(r) {
		s.message(w, r, messageCrossOrigin)
		return
	}
	grant, file := s.fileOf(v, r.PathValue("grant"))
	if file == "" {
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
	if r.Method == http.MethodGet && v.DownloadedAt == nil {
		s.Reached(r.Context(), v.Key, order.ReachDownloaded)
	}
	err := s.Files.Serve(w, r, file)
	if err == nil || r.Context().Err() != nil {
		return // the buyer's own hanging up is no fault
	}
	s.Log.Error("granted download not served: check that the bucket has the file",
		"order", v.Key.String(), "product", grant.Product, "error", err)
	if !respond.Started(w) {
		s.message(w, r, messageFile)
	}
}
