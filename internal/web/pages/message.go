package pages

import (
	"net/http"
	"strings"

	"handover/internal/web/respond"
)

// message is a page that is not about the state of an order.
type message struct {
	code     int
	word     string // the error as JSON
	status   status
	headline string
	text     string
	retry    int // seconds after which asking again makes sense; 0 for never
}

var (
	messageNotFound = message{http.StatusNotFound, "not_found", statusTodo, "There is nothing here",
		"Please check the address, or open the link in the email from the shop.", 0}
	messageMethod = message{http.StatusMethodNotAllowed, "method_not_allowed", statusTodo, "This cannot be done here",
		"Please open the link in the email from the shop.", 0}
	messageLink = message{http.StatusNotFound, "unknown_link", statusTodo, "We do not know this link",
		"Please copy the whole link from the email. If you were sent a newer email, use the link in that one.", 0}
	messageRevoked = message{http.StatusGone, "revoked", statusStop, "Refunded: access has ended",
		"The payment was returned, so this download no longer works.", 0}
	messageEnded = message{http.StatusGone, "revoked", statusStop, "Access has ended",
		"This download no longer works. The shop can tell you why.", 0}
	messageHeld = message{http.StatusForbidden, "on_hold", statusCare, "On hold while the payment is being disputed",
		"The download is paused until the bank has decided.", 0}
	messageNotYet = message{http.StatusForbidden, "not_ready", statusWait, "Not ready yet",
		"This download is not ready. Please go back to the page of your order: it updates by itself.", 0}
	messageWindow = message{http.StatusForbidden, "use_the_emailed_link", statusTodo, "Please use the link in your email",
		"For your safety this address works only for a while after the payment. The link in the email keeps working.", 0}
	messageRelinked = message{http.StatusForbidden, "use_the_emailed_link", statusTodo, "Please use the link in your email",
		"The shop has sent a new link for this order, and only that link opens its downloads.", 0}
	messageFile = message{http.StatusServiceUnavailable, "file_unavailable", statusCare, "We are looking into it",
		"The file cannot be read at the moment, and the shop can see that. Please try again later. You need not pay again.", 60}
	messageAway = message{http.StatusServiceUnavailable, "unavailable", statusWait, "One moment, please",
		"We cannot read your order right now. Nothing is lost and you need not pay again: this page tries again by itself.", 5}
	messageFailed = message{http.StatusInternalServerError, "failed", statusCare, "Something went wrong on our side",
		"Please try again in a moment. You need not pay again.", 0}
	messageCrossOrigin = message{http.StatusForbidden, "cross_origin", statusTodo, "This came from another site",
		"Please open the page of your order and press the button there.", 0}
	messageThanks = message{http.StatusOK, "", statusDone, "Thank you",
		"If your payment went through, an email with your download is on its way. You need not pay again.", 0}
	messageHome = message{http.StatusOK, "", statusDone, "Your downloads are a link away",
		"Please open the link in the email from the shop.", 0}
)

type messageModel struct {
	layout
	Status   status
	Headline string
	Text     string
	Refresh  int // seconds; 0 for never
	AskShop  bool
}

// message answers with a page, or with JSON for those who ask for it and for webhooks.
func (s *Site) message(w http.ResponseWriter, r *http.Request, m message) {
	if m.retry > 0 {
		setRetryAfter(w, m.retry)
	}
	w.Header().Set("Vary", "Accept")
	if m.word != "" && (respond.WantsJSON(r) || strings.HasPrefix(r.URL.Path, "/webhooks/")) {
		respond.JSON(w, m.code, map[string]string{"error": m.word})
		return
	}
	model := messageModel{layout: s.layout(m.headline), Status: m.status, Headline: m.headline, Text: m.text, AskShop: m.status != statusWait}
	if m.code == http.StatusServiceUnavailable && m.status == statusWait {
		model.Refresh = m.retry
	}
	s.render(w, r, m.code, "message", model)
}

// Home answers GET /.
func (s *Site) Home(w http.ResponseWriter, r *http.Request) { s.message(w, r, messageHome) }

// NotFound answers an address that no route takes.
func (s *Site) NotFound(w http.ResponseWriter, r *http.Request) { s.message(w, r, messageNotFound) }

// MethodNotAllowed answers another method than the address takes.
func (s *Site) MethodNotAllowed(w http.ResponseWriter, r *http.Request) {
	s.message(w, r, messageMethod)
}

// CrossOrigin answers a form that another site sent.
func (s *Site) CrossOrigin(w http.ResponseWriter, r *http.Request) {
	s.message(w, r, messageCrossOrigin)
}

// Failed answers a request whose handler panicked.
func (s *Site) Failed(w http.ResponseWriter, r *http.Request) { s.message(w, r, messageFailed) }
