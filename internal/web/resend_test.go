package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"handover/internal/web/pages"
)

func TestSendItAgain(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		result   pages.BuyerResult
		location string
		status   int
		says     string
	}{
		{"sent", pages.BuyerResult{Sent: true}, orderPath + "?sent=1", 200, "sending it again, to the same address"},
		{"too soon", pages.BuyerResult{TooSoon: true, RetryAfter: 90 * time.Second}, orderPath + "?sent=soon", 429, "only a little while ago"},
		{"refused", pages.BuyerResult{Refused: true}, orderPath + "?sent=no", 409, "cannot be sent again"},
	}
	for _, test := range tests {
		s := newShop(t)
		s.set(bought())
		s.resend = test.result
		w := send(s, "POST", orderPath+"/resend", nil, "Sec-Fetch-Site", "same-origin", "Accept", "text/html")
		if w.Code != 303 || w.Header().Get("Location") != test.location {
			t.Errorf("%s: got %d to %q", test.name, w.Code, w.Header().Get("Location"))
		}
		if text := words(get(s, test.location).Body.String()); !strings.Contains(text, test.says) {
			t.Errorf("%s: %q is not on the page: %s", test.name, test.says, text)
		}
		w = send(s, "POST", orderPath+"/resend", nil, "Accept", "application/json")
		if w.Code != test.status || test.result.TooSoon && w.Header().Get("Retry-After") != "90" {
			t.Errorf("%s as JSON: got %d, Retry-After %q", test.name, w.Code, w.Header().Get("Retry-After"))
		}
	}
}

func TestSendItAgainIsOnlyForDeliveredOrders(t *testing.T) {
	t.Parallel()
	for _, state := range states {
		s := newShop(t)
		s.set(state.view)
		s.resend = pages.BuyerResult{Sent: true}
		w := send(s, "POST", orderPath+"/resend", nil)
		want := state.name == "ready" || state.name == "ready_email_bounced"
		if (s.resent == 1) != want || w.Code != http.StatusSeeOther {
			t.Errorf("%s: asked the ledger %d times, got %d", state.name, s.resent, w.Code)
		}
	}
}

func TestAnotherSiteCannotSendIt(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.set(bought())
	for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://evil.test"}} {
		if w := send(s, "POST", orderPath+"/resend", nil, header...); w.Code != 403 || s.resent != 0 {
			t.Errorf("%v: got %d", header, w.Code)
		}
	}
	if w := send(s, "POST", orderPath+"/resend", nil, "Origin", "https://downloads.example.com"); w.Code != 303 {
		t.Errorf("our own origin behind a proxy: got %d", w.Code)
	}
	if w := get(s, orderPath+"/resend"); w.Code != 405 || w.Header().Get("Allow") != "POST" {
		t.Errorf("GET: got %d, Allow %q", w.Code, w.Header().Get("Allow"))
	}
}
