package pages

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"handover/internal/ledger"
	"handover/internal/order"
	"handover/internal/web/respond"
)

// Resend answers the page's "send it again": the same message to the same address, as often as the ledger allows.
func (s *Site) Resend(w http.ResponseWriter, r *http.Request) {
	key, v, ok := s.readOrder(w, r)
	if !ok {
		return
	}
	result := BuyerResult{Refused: true}
	if state := v.Facts.CustomerState(); !v.Relinked() && (state == order.CustomerReady || state == order.CustomerBounced) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), readTime)
		defer cancel()
		var err error
		result, err = s.Resender.BuyerResend(ctx, key)
		if errors.Is(err, ledger.ErrNotFound) {
			result = BuyerResult{Refused: true}
		} else if err != nil {
			s.away(w, r, err)
			return
		}
	}
	s.resent(w, r, key, result)
}

func (s *Site) resent(w http.ResponseWriter, r *http.Request, key order.Key, result BuyerResult) {
	word, status := "no", http.StatusConflict
	switch {
	case result.Sent:
		word, status = "1", http.StatusOK
	case result.TooSoon:
		word, status = "soon", http.StatusTooManyRequests
	}
	w.Header().Set("Vary", "Accept")
	if !respond.WantsJSON(r) {
		w.Header().Set("Location", s.Base+"/orders/"+key.String()+"?sent="+word)
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	if result.TooSoon {
		seconds := math.Ceil(max(result.RetryAfter, time.Second).Seconds())
		w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
	}
	respond.JSON(w, status, map[string]bool{"sent": result.Sent})
}
