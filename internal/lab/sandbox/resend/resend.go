// Package resend is the fake of Resend: messages under idempotency keys, their list, the account's domains, and the events
// about messages. It speaks what https://resend.com/docs says.
package resend

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

	"handover/internal/lab/sandbox/core"
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

// Config says whom the fake pretends to be.
type Config struct {
	Key           string        // accepted API key; empty means any that is not empty
	WebhookSecret string        // signs the events, whsec_ and base64
	WebhookURL    string        // where events go; empty for nowhere
	RatePerSecond int           // emails a second before 429; 0 for no limit
	KeyTTL        time.Duration // how long an idempotency key is kept
}

// Resend is the fake.
type Resend struct {
	core    *core.Core
	cfg     Config
	svixKey []byte

	messages core.Table[Message]
	keys     map[string]keyUse
	inFlight map[string]bool // idempotency keys being worked on
	calls    map[string]*keyCalls
	rate     rateWindow
	domains  []Domain // nil until a test sets them

	recordMessage func(Message) error
	recordCall    func(call) error
	recordDomains func([]Domain) error
}

// keyUse is an idempotency key that has done its work.
type keyUse struct {
	message string
	sha256  string
	at      time.Time
}

// keyCalls counts the requests that arrived under one key, whatever became of them.
type keyCalls struct {
	calls  int
	bodies map[string]int // sha256 → times
}

type call struct {
	Key    string `json:"key"`
	SHA256 string `json:"sha256"`
}

// New registers the fake with the core.
func New(c *core.Core, cfg Config) (*Resend, error) {
	s := &Resend{core: c, cfg: cfg, keys: map[string]keyUse{}, inFlight: map[string]bool{}, calls: map[string]*keyCalls{}}
	if cfg.WebhookSecret != "" {
		var err error
		if s.svixKey, err = svixSecret(cfg.WebhookSecret); err != nil {
			return nil, err
		}
	}
	s.recordMessage = core.Entries(c, "message", s.applyMessage)
	s.recordCall = core.Entries(c, "call", s.applyCall)
	s.recordDomains = core.Entries(c, "domains", func(list []Domain) { s.domains = list })
	c.Count("accepted", s.countAccepted)
	c.Count("calls", s.countCalls)
	return s, nil
}

func (s *Resend) applyMessage(m Message) {
	if !s.messages.Has(m.ID) && m.Key != "" {
		s.keys[m.Key] = keyUse{message: m.ID, sha256: m.SHA256, at: m.AcceptedAt}
	}
	s.messages.Put(m.ID, m)
}

func (s *Resend) applyCall(one call) {
	c := s.calls[one.Key]
	if c == nil {
		c = &keyCalls{bodies: map[string]int{}}
		s.calls[one.Key] = c
	}
	c.calls++
	c.bodies[one.SHA256]++
}

// Routes adds the API, at api_url = http://HOST/resend.
func (s *Resend) Routes(mux *http.ServeMux) {
	send := s.guarded(core.Guard{Target: "resend.send", PausesItself: true}, s.limitRate(s.sendEmail))
	mux.HandleFunc("POST /resend/emails", s.countCall(send))
	mux.HandleFunc("GET /resend/emails", s.guarded(core.Guard{Target: "resend.list"}, s.listEmails))
	mux.HandleFunc("GET /resend/emails/{id}", s.guarded(core.Guard{Target: "resend.get"}, s.getEmail))
	mux.HandleFunc("GET /resend/domains", s.guarded(core.Guard{Target: "resend.domains"}, s.listDomains))
	mux.HandleFunc("/resend/", s.guarded(core.Guard{Target: "resend.other"}, unknownURL))
}

// guarded applies the faults set for the target and checks the key.
func (s *Resend) guarded(g core.Guard, next http.HandlerFunc) http.HandlerFunc {
	g.Refuse = refuse
	return s.core.Faulty(g, s.authorized(next))
}

// authorized is https://resend.com/docs/api-reference/introduction: a key, and a User-Agent, which the network in front
// of the API insists on.
func (s *Resend) authorized(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		switch {
		case r.UserAgent() == "":
			http.Error(w, "error code: 1010", http.StatusForbidden)
		case !strings.EqualFold(scheme, "Bearer") || key == "":
			writeError(w, http.StatusUnauthorized, "missing_api_key", "Missing API key in the authorization header")
		case s.cfg.Key != "" && key != s.cfg.Key:
			writeError(w, http.StatusForbidden, "invalid_api_key", "API key is invalid")
		default:
			next(w, r)
		}
	}
}

// writeError answers in the shape of https://resend.com/docs/api-reference/errors.
func writeError(w http.ResponseWriter, status int, name, message string) {
	core.WriteJSON(w, status, map[string]any{"statusCode": status, "name": name, "message": message})
}

func refuse(w http.ResponseWriter, f core.Fault) {
	status, name := f.Status, f.Name
	if f.Mode == "rate_limit" {
		status, name = http.StatusTooManyRequests, cmp.Or(name, "rate_limit_exceeded")
	}
	writeError(w, cmp.Or(status, http.StatusInternalServerError), cmp.Or(name, "internal_server_error"),
		"The sandbox refuses this request because a fault says so.")
}

func unknownURL(w http.ResponseWriter, _ *http.Request) {
	writeError(w, http.StatusNotFound, "not_found", "The requested endpoint does not exist")
}

// countCall keeps, by key, what arrived: also what is then refused, lost or repeated.
func (s *Resend) countCall(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, core.MaxBody))
		if err != nil {
			writeError(w, http.StatusBadRequest, "validation_error", "The request body cannot be read.")
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		sum := sha256.Sum256(body)
		s.core.Lock()
		err = s.recordCall(call{Key: r.Header.Get("Idempotency-Key"), SHA256: hex.EncodeToString(sum[:])})
		s.core.Unlock()
		if err != nil {
			writeError(w, http.StatusInternalServerError, "application_error", "The sandbox cannot write its journal.")
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
func (s *Resend) limitRate(next http.HandlerFunc) http.HandlerFunc {
	limit := s.cfg.RatePerSecond
	if limit <= 0 {
		return next
	}
	return func(w http.ResponseWriter, r *http.Request) {
		now := s.core.Now()
		s.core.Lock()
		if s.rate.second != now.Unix() {
			s.rate = rateWindow{second: now.Unix()}
		}
		s.rate.used++
		used := s.rate.used
		s.core.Unlock()
		reset := time.Unix(now.Unix()+1, 0).Sub(now).Seconds()
		seconds := strconv.Itoa(int(math.Ceil(reset)))
		w.Header().Set("ratelimit-limit", strconv.Itoa(limit))
		w.Header().Set("ratelimit-remaining", strconv.Itoa(max(0, limit-used)))
		w.Header().Set("ratelimit-reset", seconds)
		if used > limit {
			w.Header().Set("retry-after", seconds)
			writeError(w, http.StatusTooManyRequests, "rate_limit_exceeded",
				"Too many requests. You can only make "+strconv.Itoa(limit)+" requests per second.")
			return
		}
		next(w, r)
	}
}
