package web

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"handover/internal/ledger"
	"handover/internal/order"
)

// resend answers the page's "send it again": the same message to the same address, as often as the ledger allows.
func (s *server) resend(w http.ResponseWriter, r *http.Request) {
	key, v, ok := s.readOrder(w, r)
	if !ok {
		return
	}
	result := BuyerResult{Refused: true}
	if state := v.Facts.CustomerState(); state == order.CustomerReady || state == order.CustomerBounced {
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

func (s *server) resent(w http.ResponseWriter, r *http.Request, key order.Key, result BuyerResult) {
	word, status := "no", http.StatusConflict
	switch {
	case result.Sent:
		word, status = "1", http.StatusOK
	case result.TooSoon:
		word, status = "soon", http.StatusTooManyRequests
	}
	w.Header().Set("Vary", "Accept")
	if !wantsJSON(r) {
		w.Header().Set("Location", s.base+"/orders/"+key.String()+"?sent="+word)
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	if result.TooSoon {
		seconds := math.Ceil(max(result.RetryAfter, time.Second).Seconds())
		w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
	}
	writeJSON(w, status, map[string]bool{"sent": result.Sent})
}

// crossOrigin refuses a form that another site sent.
func (s *server) crossOrigin(w http.ResponseWriter, r *http.Request) {
	s.message(w, r, messageCrossOrigin)
}
