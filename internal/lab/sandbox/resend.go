package sandbox

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Message is an email that was accepted.
type Message struct {
	ID         string            `json:"id"`
	Key        string            `json:"idempotency_key"`
	SHA256     string            `json:"sha256"` // of the request's body
	AcceptedAt time.Time         `json:"accepted_at"`
	LastEvent  string            `json:"last_event"` // sent, delivered, bounced, …
	From       string            `json:"from"`
	To         []string          `json:"to"`
	Cc         []string          `json:"cc,omitempty"`
	Bcc        []string          `json:"bcc,omitempty"`
	ReplyTo    []string          `json:"reply_to,omitempty"`
	Subject    string            `json:"subject"`
	HTML       string            `json:"html"`
	Text       string            `json:"text"`
	Tags       map[string]string `json:"tags"`
	Headers    map[string]string `json:"headers,omitempty"`
}

// Order is the order key that the message's tags name, ENVIRONMENT/SESSION; empty when they name none.
func (m Message) Order() string {
	environment, session := m.Tags["handover_environment"], m.Tags["handover_session"]
	if environment == "" || session == "" {
		return ""
	}
	return environment + "/" + session
}

// resend applies the faults set for the target and checks the key.
func (s *Sandbox) resend(target string, next http.HandlerFunc) http.HandlerFunc {
	return s.faulty(target, resendRefusal, s.resendAuth(next))
}

// resendAuth is https://resend.com/docs/api-reference/introduction: a key, and a User-Agent, which the network in front
// of the API insists on.
func (s *Sandbox) resendAuth(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		switch {
		case r.UserAgent() == "":
			http.Error(w, "error code: 1010", http.StatusForbidden)
		case !strings.EqualFold(scheme, "Bearer") || key == "":
			resendError(w, http.StatusUnauthorized, "missing_api_key", "Missing API key in the authorization header")
		case s.cfg.ResendKey != "" && key != s.cfg.ResendKey:
			resendError(w, http.StatusForbidden, "invalid_api_key", "API key is invalid")
		default:
			next(w, r)
		}
	}
}

// resendError answers in the shape of https://resend.com/docs/api-reference/errors.
func resendError(w http.ResponseWriter, status int, name, message string) {
	writeJSON(w, status, map[string]any{"statusCode": status, "name": name, "message": message})
}

func resendRefusal(w http.ResponseWriter, f Fault) {
	status, name := f.Status, f.Name
	if f.Mode == "rate_limit" {
		status, name = http.StatusTooManyRequests, cmp.Or(name, "rate_limit_exceeded")
	}
	resendError(w, cmp.Or(status, http.StatusInternalServerError), cmp.Or(name, "internal_server_error"),
		"The sandbox was told to refuse this request.")
}

func unknownResendURL(w http.ResponseWriter, _ *http.Request) {
	resendError(w, http.StatusNotFound, "not_found", "The requested endpoint does not exist")
}

// countCall keeps, by key, what arrived: also what is then refused, lost or repeated.
func (s *Sandbox) countCall(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			resendError(w, http.StatusBadRequest, "validation_error", "The request body cannot be read.")
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		sum := sha256.Sum256(body)
		s.mu.Lock()
		err = s.record(entry{Call: &call{Key: r.Header.Get("Idempotency-Key"), SHA256: hex.EncodeToString(sum[:])}})
		s.mu.Unlock()
		if err != nil {
			resendError(w, http.StatusInternalServerError, "application_error", "The sandbox cannot write its journal.")
			return
		}
		next(w, r)
	}
}

// rateWindow counts the calls of one second.
type rateWindow struct {
	second int64
	used   int
}

// limitRate is https://resend.com/docs/api-reference/rate-limit: headers on every answer, 429 above the limit.
func (s *Sandbox) limitRate(next http.HandlerFunc) http.HandlerFunc {
	limit := s.cfg.RatePerSecond
	if limit <= 0 {
		return next
	}
	return func(w http.ResponseWriter, r *http.Request) {
		now := s.cfg.Now()
		s.mu.Lock()
		if s.rate.second != now.Unix() {
			s.rate = rateWindow{second: now.Unix()}
		}
		s.rate.used++
		used := s.rate.used
		s.mu.Unlock()
		reset := time.Unix(now.Unix()+1, 0).Sub(now).Seconds()
		seconds := strconv.Itoa(int(math.Ceil(reset)))
		w.Header().Set("ratelimit-limit", strconv.Itoa(limit))
		w.Header().Set("ratelimit-remaining", strconv.Itoa(max(0, limit-used)))
		w.Header().Set("ratelimit-reset", seconds)
		if used > limit {
			w.Header().Set("retry-after", seconds)
			resendError(w, http.StatusTooManyRequests, "rate_limit_exceeded",
				"Too many requests. You can only make "+strconv.Itoa(limit)+" requests per second.")
			return
		}
		next(w, r)
	}
}
