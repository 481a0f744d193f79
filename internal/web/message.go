package web

import (
	"net/http"
	"strings"
)

// message is a page that is not about the state of an order.
type message struct {
	status   int
	word     string // the error as JSON
	tone     tone
	headline string
	text     string
	retry    int // seconds after which asking again makes sense; 0 for never
}

var (
	messageNotFound = message{http.StatusNotFound, "not_found", toneTodo, "There is nothing here",
		"Please check the address, or open the link in the email from the shop.", 0}
	messageMethod = message{http.StatusMethodNotAllowed, "method_not_allowed", toneTodo, "This cannot be done here",
		"Please open the link in the email from the shop.", 0}
	messageLink = message{http.StatusNotFound, "unknown_link", toneTodo, "We do not know this link",
		"Please copy the whole link from the email. If you were sent a newer email, use the link in that one.", 0}
	messageRevoked = message{http.StatusGone, "revoked", toneStop, "Refunded: access has ended",
		"The payment was returned, so this download no longer works.", 0}
	messageEnded = message{http.StatusGone, "revoked", toneStop, "Access has ended",
		"This download no longer works. The shop can tell you why.", 0}
	messageHeld = message{http.StatusForbidden, "on_hold", toneCare, "On hold while the payment is being disputed",
		"The download is paused until the bank has decided.", 0}
	messageNotYet = message{http.StatusForbidden, "not_ready", toneWait, "Not ready yet",
		"This download is not ready. Please go back to the page of your order: it updates by itself.", 0}
	messageWindow = message{http.StatusForbidden, "use_the_emailed_link", toneTodo, "Please use the link in your email",
		"For your safety this address works only for a while after the payment. The link in the email keeps working.", 0}
	messageRelinked = message{http.StatusForbidden, "use_the_emailed_link", toneTodo, "Please use the link in your email",
		"The shop has sent a new link for this order, and only that link opens its downloads.", 0}
	messageFile = message{http.StatusServiceUnavailable, "file_unavailable", toneCare, "We are looking into it",
		"The file cannot be read at the moment, and the shop can see that. Please try again later. You need not pay again.", 60}
	messageAway = message{http.StatusServiceUnavailable, "unavailable", toneWait, "One moment, please",
		"We cannot look at your order right now. Nothing is lost and you need not pay again: this page tries again by itself.", 5}
	messageFailed = message{http.StatusInternalServerError, "failed", toneCare, "Something went wrong on our side",
		"Please try again in a moment. You need not pay again.", 0}
	messageCrossOrigin = message{http.StatusForbidden, "cross_origin", toneTodo, "This came from another site",
		"Please open the page of your order and press the button there.", 0}
	messageHome = message{http.StatusOK, "", toneDone, "Your downloads are a link away",
		"Please open the link in the email from the shop.", 0}
)

type messageModel struct {
	chrome
	Tone     tone
	Headline string
	Text     string
	Refresh  int // seconds; 0 for never
	AskShop  bool
}

// message answers with a page, or with JSON for those who ask for it and for webhooks.
func (s *server) message(w http.ResponseWriter, r *http.Request, m message) {
	if m.retry > 0 {
		setRetryAfter(w, m.retry)
	}
	w.Header().Set("Vary", "Accept")
	if m.word != "" && (wantsJSON(r) || strings.HasPrefix(r.URL.Path, "/webhooks/")) {
		writeJSON(w, m.status, map[string]string{"error": m.word})
		return
	}
	model := messageModel{chrome: s.chrome(m.headline), Tone: m.tone, Headline: m.headline, Text: m.text, AskShop: m.tone != toneWait}
	if m.status == http.StatusServiceUnavailable && m.tone == toneWait {
		model.Refresh = m.retry
	}
	s.render(w, r, m.status, "message", model)
}

func (s *server) home(w http.ResponseWriter, r *http.Request) { s.message(w, r, messageHome) }
