package webhook

import (
	"context"
	"errors"
	"net/http"
	"time"

	"handover/internal/email"
)

// emailLabel stands for the email provider where an environment stands for a payment provider.
const emailLabel = "email"

// Email answers POST /webhooks/email. What it stores is evidence; it starts nothing.
func (h *Handlers) Email(w http.ResponseWriter, r *http.Request) {
	var id string
	body, ok := h.verified(w, r, sender{
		label:  emailLabel,
		signed: h.emailSigned,
		verify: func(header http.Header, body []byte, now time.Time) (err error) {
			id, err = h.EmailProvider.Verify(header, body, now)
			return err
		},
	})
	if !ok {
		return
	}
	event, err := h.EmailProvider.Translate(id, body)
	if err != nil || event.ID == "" || event.Type == "" || !storable(event.ID, event.Type, event.MessageID, event.Detail) {
		h.Log.Warn("webhook body refused", "environment", emailLabel, "malformed", err == nil || errors.Is(err, email.ErrMalformed))
		h.respond(w, emailLabel, responseMalformed)
		return
	}
	storing, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), storeTime)
	defer cancel()
	if _, err := h.EmailEvents.RecordEmailEvent(storing, event); err != nil {
		h.Log.Error("webhook could not be stored: the provider will send it again",
			"environment", emailLabel, "event_id", event.ID, "error", err)
		h.respond(w, emailLabel, responseUnavailable)
		return
	}
	h.respond(w, emailLabel, responseStored)
}

// emailSigned refuses everything while no secret is configured: without one, nobody can have signed.
func (h *Handlers) emailSigned(header http.Header, now time.Time) error {
	if h.EmailProvider == nil {
		return errors.New("no webhook secret is configured in [email]")
	}
	return h.EmailProvider.Signed(header, now)
}
