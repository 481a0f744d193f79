package webhook

import (
	"net/http"

	"handover/internal/web/respond"
)

// response is one row of the table of responses to webhooks.
type response struct {
	status int
	word   string // the error in the body; empty for success
}

// The responses to webhooks. A refused signature has one body, whatever was wrong with it.
var (
	responseStored      = response{http.StatusOK, ""}
	responseMethod      = response{http.StatusMethodNotAllowed, "method not allowed: webhooks are posted"}
	responseUnknown     = response{http.StatusNotFound, "unknown environment"}
	responseTooLarge    = response{http.StatusRequestEntityTooLarge, "body over the limit of 1048576 bytes"}
	responseSlow        = response{http.StatusRequestTimeout, "body did not arrive in time"}
	responseCut         = response{http.StatusBadRequest, "body did not arrive whole"}
	responseSignature   = response{http.StatusUnauthorized, "signature missing, wrong or stale"}
	responseMalformed   = response{http.StatusBadRequest, "body is not what the provider sends"}
	responseEncoding    = response{http.StatusBadRequest, "Content-Encoding not supported"}
	responseMode        = response{http.StatusBadRequest, "event's mode contradicts the environment"}
	responseUnavailable = response{http.StatusServiceUnavailable, "could not be stored, try again"}
	responseBusy        = response{http.StatusServiceUnavailable, "too many webhooks at once, try again"}
)

// respond writes the response and counts it.
func (h *Handlers) respond(w http.ResponseWriter, environment string, r response) {
	header := w.Header()
	switch r.status {
	case http.StatusMethodNotAllowed:
		header.Set("Allow", http.MethodPost)
	case http.StatusServiceUnavailable:
		header.Set("Retry-After", "1")
	case http.StatusRequestEntityTooLarge, http.StatusRequestTimeout:
		header.Set("Connection", "close")
	}
	h.Metrics.WebhookAnswer(environment, r.status)
	if r.word == "" {
		respond.JSON(w, r.status, map[string]bool{"received": true})
		return
	}
	respond.JSON(w, r.status, map[string]string{"error": r.word})
}
