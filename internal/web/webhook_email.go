package web

import (
	"context"
	"errors"
	"net/http"

	"handover/internal/email"
)

// emailLabel stands for the email provider where an environment stands for a payment provider.
const emailLabel = "email"

// emailWebhook answers POST /webhooks/email by the same table. What it stores is evidence; it starts nothing.
func (s *server) emailWebhook(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		s.reply(w, emailLabel, answerMethod)
		return
	}
	body, refusal, read := s.body(w, r, emailLabel)
	if !read {
		s.reply(w, emailLabel, refusal)
		return
	}
	id, err := s.verifyEmail(r, body)
	if err != nil {
		s.Log.Warn("webhook signature refused", "environment", emailLabel, "cause", err.Error())
		s.reply(w, emailLabel, answerSignature)
		return
	}
	if encoded(r) {
		s.reply(w, emailLabel, answerEncoding)
		return
	}
	event, err := s.EmailWebhook.Translate(id, body)
	if err != nil || event.ID == "" || event.Type == "" || !storable(event.ID, event.Type, event.MessageID, event.Detail) {
		s.Log.Warn("webhook body refused", "environment", emailLabel, "malformed", err == nil || errors.Is(err, email.ErrMalformed))
		s.reply(w, emailLabel, answerMalformed)
		return
	}
	storing, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), storeTime)
	defer cancel()
	if _, err := s.EmailEvents.RecordEmailEvent(storing, event); err != nil {
		s.Log.Error("webhook could not be stored: the provider will send it again",
			"environment", emailLabel, "event_id", event.ID, "error", err)
		s.reply(w, emailLabel, answerUnavailable)
		return
	}
	s.reply(w, emailLabel, answerStored)
}

// verifyEmail refuses everything while no secret is configured: without one, nobody can have signed.
func (s *server) verifyEmail(r *http.Request, body []byte) (string, error) {
	if s.EmailWebhook == nil {
		return "", errors.New("no webhook secret is configured in [email]")
	}
	return s.EmailWebhook.Verify(r.Header, body, s.Now())
}
