package resend

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"handover/internal/lab/sandbox/core"
)

// EventRequest asks for an event of an accepted message to be signed and delivered.
type EventRequest struct {
	Type    string `json:"type"` // email.delivered, email.bounced, …
	EventID string `json:"event_id,omitempty"`
	Copies  int    `json:"copies,omitempty"`
	Retry   bool   `json:"retry,omitempty"`
}

var errUnknown = fmt.Errorf("message: %w", core.ErrUnknown)

// SetEmailWebhookURL changes where events go from now on.
func (s *Resend) SetEmailWebhookURL(url string) {
	s.core.Lock()
	defer s.core.Unlock()
	s.cfg.WebhookURL = url
}

// DeliverEmailEvent makes an event of a message true, signs it and delivers it.
func (s *Resend) DeliverEmailEvent(ctx context.Context, message string, in EventRequest) (core.Delivery, error) {
	in.EventID = cmp.Or(in.EventID, core.NewID("msg_", 27))
	hook, err := s.webhook(message, in)
	if err != nil {
		return core.Delivery{}, err
	}
	return core.Delivery{EventID: in.EventID, Statuses: s.core.Deliver(ctx, hook, in.Copies, in.Retry)}, nil
}

func (s *Resend) webhook(message string, in EventRequest) (hook core.Webhook, err error) {
	name, found := strings.CutPrefix(in.Type, "email.")
	if !found || name == "" {
		return hook, errors.New("type: for example email.delivered or email.bounced")
	}
	s.core.Lock()
	defer s.core.Unlock()
	m, found := s.messages.Get(message)
	switch {
	case !found:
		return hook, errUnknown
	case s.cfg.WebhookURL == "":
		return hook, core.ErrNoURL
	case s.svixKey == nil:
		return hook, errors.New("no email webhook secret is configured")
	}

	m.LastEvent = name
	if err := s.recordMessage(m); err != nil {
		return hook, err
	}
	body, err := json.Marshal(s.eventObject(m, in.Type))
	if err != nil {
		return hook, fmt.Errorf("email event: %w", err)
	}
	return core.Webhook{URL: s.cfg.WebhookURL, Body: body, Sign: sign(s.svixKey, in.EventID)}, nil
}

// eventObject is https://resend.com/docs/webhooks/event-types. Tags are an object here, unlike in the request.
func (s *Resend) eventObject(m Message, kind string) core.Object {
	const stamp = "2006-01-02T15:04:05.000Z"
	data := core.Object{
		"email_id": m.ID, "created_at": m.AcceptedAt.UTC().Format(stamp), "from": m.From, "to": m.To,
		"subject": m.Subject, "tags": core.OrEmpty(m.Tags),
	}
	switch kind {
	case "email.bounced":
		data["bounce"] = core.Object{
			"type": "Permanent", "subType": "General", "message": "The recipient's server rejected the message.",
			"diagnosticCode": []string{"smtp; 550 5.1.1 user unknown"},
		}
	case "email.failed":
		data["failed"] = core.Object{"reason": "reached_daily_quota"}
	case "email.suppressed":
		data["suppressed"] = core.Object{
			"type": "OnAccountSuppressionList", "reason": "previous_bounce", "message": "The address is suppressed.",
		}
	}
	return core.Object{"type": kind, "created_at": s.core.Now().UTC().Format(stamp), "data": data}
}

// sign is the scheme of https://www.standardwebhooks.com under Svix's header names, as Resend sends it
// (https://resend.com/docs/dashboard/webhooks/verify-webhooks-requests).
func sign(key []byte, id string) func(http.Header, time.Time, []byte) {
	return func(h http.Header, at time.Time, body []byte) {
		t := strconv.FormatInt(at.Unix(), 10)
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + t + "."))
		mac.Write(body)
		h.Set("svix-id", id)
		h.Set("svix-timestamp", t)
		h.Set("svix-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		h.Set("Content-Type", "application/json")
		h.Set("User-Agent", "Svix-Webhooks/1.0 (sandbox)")
	}
}

func svixSecret(secret string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return nil, fmt.Errorf("email webhook secret: not whsec_ and base64: %w", err)
	}
	if len(key) == 0 {
		return nil, errors.New("email webhook secret: empty")
	}
	return key, nil
}
