package resend

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/mail"
	"regexp"

	"github.com/google/uuid"

	"handover/internal/lab/sandbox/core"
)

// sendEmail is https://resend.com/docs/api-reference/emails/send-email under the rules of
// https://resend.com/docs/dashboard/emails/idempotency-keys. Payloads are compared byte by byte, the strictest reading
// of those rules. Only an accepted message uses up its key.
func (s *Resend) sendEmail(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		writeError(w, http.StatusBadRequest, "validation_error", "The request body cannot be read.")
		return
	}
	key := r.Header.Get("Idempotency-Key")
	if len(key) > 256 {
		writeError(w, http.StatusBadRequest, "invalid_idempotency_key",
			"The idempotency key must be between 1 and 256 characters long.")
		return
	}
	sum := sha256.Sum256(body)
	m := Message{ID: uuid.NewString(), Key: key, SHA256: hex.EncodeToString(sum[:]), LastEvent: "sent"}
	if !s.claimKey(w, &m) {
		return
	}
	defer s.freeKey(key)
	core.PauseOf(r.Context())()
	if refusal := m.read(body); refusal != nil {
		writeError(w, refusal.status, refusal.name, refusal.message)
		return
	}
	s.core.Lock()
	m.AcceptedAt = s.core.Now().UTC()
	err = s.recordMessage(m)
	s.core.Unlock()
	if err != nil {
		writeError(w, http.StatusInternalServerError, "application_error", "The sandbox cannot write its journal.")
		return
	}
	core.WriteJSON(w, http.StatusOK, map[string]string{"id": m.ID})
}

// claimKey answers for a key that has been used or is being worked on, and otherwise marks it as being worked on.
func (s *Resend) claimKey(w http.ResponseWriter, m *Message) bool {
	if m.Key == "" {
		return true
	}
	s.core.Lock()
	defer s.core.Unlock()
	use, used := s.keys[m.Key]
	if used && s.core.Now().Sub(use.at) >= s.cfg.KeyTTL {
		delete(s.keys, m.Key)
		used = false
	}
	switch {
	case used && use.sha256 == m.SHA256:
		core.WriteJSON(w, http.StatusOK, map[string]string{"id": use.message})
		return false
	case used:
		writeError(w, http.StatusConflict, "invalid_idempotent_request",
			"Same idempotency key used with a different request payload.")
		return false
	case s.inFlight[m.Key]:
		writeError(w, http.StatusConflict, "concurrent_idempotent_requests",
			"Same idempotency key used while original request is still in progress.")
		return false
	}
	s.inFlight[m.Key] = true
	return true
}

func (s *Resend) freeKey(key string) {
	s.core.Lock()
	defer s.core.Unlock()
	delete(s.inFlight, key)
}

// stringList takes "a" and ["a","b"], as the API does for addresses.
type stringList []string

func (l *stringList) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*l = nil
		if one != "" {
			*l = stringList{one}
		}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(l))
}

type sendRequest struct {
	From    string            `json:"from"`
	To      stringList        `json:"to"`
	Cc      stringList        `json:"cc"`
	Bcc     stringList        `json:"bcc"`
	ReplyTo stringList        `json:"reply_to"`
	Subject string            `json:"subject"`
	HTML    string            `json:"html"`
	Text    string            `json:"text"`
	Headers map[string]string `json:"headers"`
	Tags    []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"tags"`
}

type refusal struct {
	status        int
	name, message string
}

var tagPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

// read fills the message from the request's body, or says why Resend would not take it.
func (m *Message) read(body []byte) *refusal {
	var in sendRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return &refusal{http.StatusBadRequest, "validation_error", "The request body is not valid JSON."}
	}
	if refused := in.check(); refused != nil {
		return refused
	}
	m.From, m.To, m.Cc, m.Bcc, m.ReplyTo = in.From, in.To, in.Cc, in.Bcc, in.ReplyTo
	m.Subject, m.HTML, m.Text, m.Headers = in.Subject, in.HTML, in.Text, in.Headers
	m.Tags = map[string]string{}
	for _, t := range in.Tags {
		m.Tags[t.Name] = t.Value
	}
	return nil
}

func (in sendRequest) check() *refusal {
	invalid := func(name, message string) *refusal {
		return &refusal{http.StatusUnprocessableEntity, name, message}
	}
	for _, field := range []struct {
		name    string
		present bool
	}{
		{"from", in.From != ""}, {"to", len(in.To) > 0}, {"subject", in.Subject != ""},
		{"html` or `text", in.HTML != "" || in.Text != ""},
	} {
		if !field.present {
			return invalid("missing_required_field", "Missing `"+field.name+"` field.")
		}
	}
	if _, err := mail.ParseAddress(in.From); err != nil {
		return invalid("invalid_from_address", "Invalid `from` field.")
	}
	if len(in.To) > 50 {
		return invalid("validation_error", "The `to` field can have at most 50 addresses.")
	}
	for _, list := range []struct {
		name      string
		addresses []string
	}{{"to", in.To}, {"cc", in.Cc}, {"bcc", in.Bcc}, {"reply_to", in.ReplyTo}} {
		for _, a := range list.addresses {
			if _, err := mail.ParseAddress(a); err != nil {
				return invalid("validation_error", "Invalid `"+list.name+"` field. "+
					"The email address needs to follow the `email@example.com` or `Name <email@example.com>` format.")
			}
		}
	}
	for _, t := range in.Tags {
		if !tagPattern.MatchString(t.Name) || !tagPattern.MatchString(t.Value) {
			return invalid("validation_error",
				"Tags should only contain ASCII letters, numbers, underscores, or dashes.")
		}
	}
	return nil
}
