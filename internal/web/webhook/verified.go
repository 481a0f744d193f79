package webhook

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// bodyLimit is the largest webhook that is read, in bytes.
	bodyLimit = 1 << 20
	// textLimit is the longest id or type that is taken from an event, in bytes.
	textLimit = 500
)

// sender is the provider that an address belongs to.
type sender struct {
	label  string // in logs and metrics
	signed func(header http.Header, now time.Time) error
	verify func(header http.Header, body []byte, now time.Time) error
}

// verified returns the body of a webhook whose signature is good. When the bool is false, the response has been given.
func (h *Handlers) verified(w http.ResponseWriter, r *http.Request, from sender) ([]byte, bool) {
	switch {
	case r.Method != http.MethodPost:
		h.respond(w, from.label, responseMethod)
		return nil, false
	case r.ContentLength > bodyLimit:
		h.respond(w, from.label, h.tooLarge(from.label))
		return nil, false
	}
	// Reading a body costs memory and time, so what can be refused by the header is.
	if err := from.signed(r.Header, h.Now()); err != nil {
		w.Header().Set("Connection", "close")
		return nil, h.refused(w, from.label, err)
	}

	body, refusal, read := h.body(w, r, from.label)
	if !read {
		h.respond(w, from.label, refusal)
		return nil, false
	}
	if err := from.verify(r.Header, body, h.Now()); err != nil {
		return nil, h.refused(w, from.label, err)
	}
	if encoded(r) {
		h.respond(w, from.label, responseEncoding)
		return nil, false
	}
	return body, true
}

// refused answers a bad signature; it is false, as verified's bool.
func (h *Handlers) refused(w http.ResponseWriter, label string, err error) bool {
	h.Log.Warn("webhook signature refused", "environment", label, "cause", err.Error())
	h.respond(w, label, responseSignature)
	return false
}

// body reads the whole body, never more than the limit, never for longer than BodyTime and never more than maxBodies at
// once. The bool says whether there is one; the response says why there is not.
func (h *Handlers) body(w http.ResponseWriter, r *http.Request, environment string) ([]byte, response, bool) {
	select {
	case h.bodies <- struct{}{}:
		defer func() { <-h.bodies }()
	default:
		h.Log.Warn("webhook refused: too many bodies at once", "environment", environment, "limit", maxBodies)
		w.Header().Set("Connection", "close")
		return nil, responseBusy, false
	}

	control := http.NewResponseController(w)
	// Writers without deadlines exist in tests only.
	_ = control.SetReadDeadline(time.Now().Add(h.BodyTime))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyLimit))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, h.tooLarge(environment), false
	case errors.Is(err, os.ErrDeadlineExceeded):
		h.Log.Warn("webhook body was too slow", "environment", environment, "limit_seconds", h.BodyTime.Seconds())
		return nil, responseSlow, false
	case err != nil:
		h.Log.Warn("webhook body was cut off", "environment", environment)
		w.Header().Set("Connection", "close")
		return nil, responseCut, false
	}
	// It was the body's deadline; left in place it would end the request while the event is being stored.
	_ = control.SetReadDeadline(time.Time{})
	return body, response{}, true
}

func (h *Handlers) tooLarge(environment string) response {
	h.Log.Warn("webhook body over the limit", "environment", environment, "limit_bytes", bodyLimit)
	return responseTooLarge
}

// encoded says whether the body is compressed or otherwise encoded. Such a body is never decoded: providers do not send
// any, and decoding is how a small body becomes a large one.
func encoded(r *http.Request) bool {
	encoding := strings.TrimSpace(r.Header.Get("Content-Encoding"))
	return encoding != "" && !strings.EqualFold(encoding, "identity")
}

// storable says whether a text can stand in the ledger: Postgres takes neither broken UTF-8 nor a zero byte.
func storable(texts ...string) bool {
	for _, t := range texts {
		if len(t) > textLimit || !utf8.ValidString(t) || strings.ContainsRune(t, 0) {
			return false
		}
	}
	return true
}
