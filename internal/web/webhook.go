package web

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// bodyLimit is the largest webhook that is read, in bytes.
	bodyLimit = 1 << 20
	// storeTime bounds the commit. The provider tries again after a 503; a hung database must not hold its call.
	storeTime = 5 * time.Second
	// handOverTime bounds the start of the workflow, which the answer waits for but does not depend on.
	handOverTime = 3 * time.Second
	// textLimit is the longest id or type that is taken from an event, in bytes.
	textLimit = 500
)

// answer is one row of the table of webhook answers.
type answer struct {
	status int
	word   string // the error in the body; empty for success
}

// The answers to webhooks. A refused signature has one body, whatever was wrong with it.
var (
	answerStored      = answer{http.StatusOK, ""}
	answerMethod      = answer{http.StatusMethodNotAllowed, "method not allowed: webhooks are posted"}
	answerUnknown     = answer{http.StatusNotFound, "unknown environment"}
	answerTooLarge    = answer{http.StatusRequestEntityTooLarge, "body over the limit of 1048576 bytes"}
	answerSlow        = answer{http.StatusRequestTimeout, "body did not arrive in time"}
	answerCut         = answer{http.StatusBadRequest, "body did not arrive whole"}
	answerSignature   = answer{http.StatusUnauthorized, "signature missing, wrong or stale"}
	answerMalformed   = answer{http.StatusBadRequest, "body is not what the provider sends"}
	answerEncoding    = answer{http.StatusBadRequest, "Content-Encoding not supported"}
	answerMode        = answer{http.StatusBadRequest, "event's mode contradicts the environment"}
	answerUnavailable = answer{http.StatusServiceUnavailable, "could not be stored, try again"}
)

// reply writes the answer and counts it.
func (s *server) reply(w http.ResponseWriter, environment string, a answer) {
	h := w.Header()
	switch a.status {
	case http.StatusMethodNotAllowed:
		h.Set("Allow", http.MethodPost)
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", "1")
	case http.StatusRequestEntityTooLarge, http.StatusRequestTimeout:
		h.Set("Connection", "close")
	}
	s.Metrics.WebhookAnswer(environment, a.status)
	if a.word == "" {
		writeJSON(w, a.status, map[string]bool{"received": true})
		return
	}
	writeJSON(w, a.status, map[string]string{"error": a.word})
}

// body reads the whole body, never more than the limit and never for longer than bodyTime. The bool says whether there
// is one; the answer says why there is not.
func (s *server) body(w http.ResponseWriter, r *http.Request, environment string) ([]byte, answer, bool) {
	if r.ContentLength > bodyLimit {
		return nil, s.tooLarge(environment), false
	}
	control := http.NewResponseController(w)
	// Writers without deadlines exist in tests only.
	_ = control.SetReadDeadline(time.Now().Add(s.bodyTime))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyLimit))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, s.tooLarge(environment), false
	case errors.Is(err, os.ErrDeadlineExceeded):
		s.Log.Warn("webhook body was too slow", "environment", environment, "limit_seconds", s.bodyTime.Seconds())
		return nil, answerSlow, false
	case err != nil:
		s.Log.Warn("webhook body was cut off", "environment", environment)
		w.Header().Set("Connection", "close")
		return nil, answerCut, false
	}
	// It was the body's deadline; left in place it would end the request while the event is being stored.
	_ = control.SetReadDeadline(time.Time{})
	return body, answer{}, true
}

func (s *server) tooLarge(environment string) answer {
	s.Log.Warn("webhook body over the limit", "environment", environment, "limit_bytes", bodyLimit)
	return answerTooLarge
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

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // only our own types come here
	}
	body = append(body, '\n')
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}
