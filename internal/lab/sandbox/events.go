package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// EventRequest asks for a payment event to be signed and delivered.
type EventRequest struct {
	Type    string          `json:"type"`              // checkout.session.completed, …
	Session string          `json:"session,omitempty"` // whose present state is the event's object
	Refund  string          `json:"refund,omitempty"`  // instead of a session; its charge for charge.refunded
	Dispute string          `json:"dispute,omitempty"` // instead of a session
	Object  json.RawMessage `json:"object,omitempty"`  // the event's object, instead of a session
	EventID string          `json:"event_id,omitempty"`
	Copies  int             `json:"copies,omitempty"` // delivered at the same moment
	Raw     string          `json:"raw,omitempty"`    // the whole body, instead of an event
	Account string          `json:"account,omitempty"`
	Retry   bool            `json:"retry,omitempty"`  // again in the background until it is taken, for about a minute
	URL     string          `json:"url,omitempty"`    // another address than the configured one
	Secret  string          `json:"secret,omitempty"` // another secret than the configured one
}

// Delivery says how the first attempts of an event went.
type Delivery struct {
	EventID  string `json:"event_id"`
	Statuses []int  `json:"statuses"` // of each copy; 0 for no answer
}

var errUnknownSession = errors.New("session: unknown")

// DeliverEvent signs and delivers, and remembers the event for GET /v1/events.
func (s *Sandbox) DeliverEvent(ctx context.Context, in EventRequest) (Delivery, error) {
	hook, id, err := s.paymentHook(in)
	if err != nil {
		return Delivery{}, err
	}
	return Delivery{EventID: id, Statuses: s.deliver(ctx, hook, in.Copies, in.Retry)}, nil
}

func (s *Sandbox) paymentHook(in EventRequest) (webhook, string, error) {
	id := cmp.Or(in.EventID, newID("evt_", 24))
	s.mu.Lock()
	defer s.mu.Unlock()
	hook := webhook{
		url: cmp.Or(in.URL, s.webhookURL), body: []byte(in.Raw),
		sign: signStripe(cmp.Or(in.Secret, s.cfg.StripeSecret)),
	}
	if hook.off = s.webhooksOff && in.URL == ""; hook.url == "" && !hook.off {
		return hook, id, errNoURL
	}
	if in.Raw != "" {
		return hook, id, nil
	}
	body, created, err := s.eventBody(id, in)
	if err != nil {
		return hook, id, err
	}
	hook.body = body
	if in.EventID == "" || !slices.ContainsFunc(s.events, func(e storedEvent) bool { return e.ID == id }) {
		err = s.record(entry{Event: &storedEvent{ID: id, Type: in.Type, Created: created, Body: body}})
	}
	return hook, id, err
}

// eventBody is https://docs.stripe.com/api/events/object. The caller holds mu.
func (s *Sandbox) eventBody(id string, in EventRequest) (body []byte, created int64, err error) {
	if in.Type == "" {
		return nil, 0, errors.New("type: an event needs one, for example checkout.session.completed")
	}
	var about any = in.Object
	live := false
	switch {
	case in.Object != nil:
	case in.Refund != "" || in.Dispute != "":
		if about, live, err = s.moneyObject(in); err != nil {
			return nil, 0, err
		}
	default:
		sess, found := s.sessions[in.Session]
		if !found {
			return nil, 0, errUnknownSession
		}
		about, live = s.stripeSession(sess, nil), sess.Live
	}
	created = s.cfg.Now().Unix()
	event := object{
		"id": id, "object": "event", "api_version": apiVersion, "created": created, "livemode": live,
		"pending_webhooks": 1, "type": in.Type, "data": object{"object": about},
		"request": object{"id": nil, "idempotency_key": nil},
	}
	if in.Account != "" {
		event["account"] = in.Account
	}
	body, err = json.MarshalIndent(event, "", "  ")
	return body, created, err
}

// EmailEventRequest asks for an event of an accepted message to be signed and delivered.
type EmailEventRequest struct {
	Type    string `json:"type"` // email.delivered, email.bounced, …
	EventID string `json:"event_id,omitempty"`
	Copies  int    `json:"copies,omitempty"`
	Retry   bool   `json:"retry,omitempty"`
}

var errUnknownMessage = errors.New("message: unknown")

// DeliverEmailEvent makes an event of a message true, signs it and delivers it.
func (s *Sandbox) DeliverEmailEvent(ctx context.Context, message string, in EmailEventRequest) (Delivery, error) {
	hook, id, err := s.emailHook(message, in)
	if err != nil {
		return Delivery{}, err
	}
	return Delivery{EventID: id, Statuses: s.deliver(ctx, hook, in.Copies, in.Retry)}, nil
}

func (s *Sandbox) emailHook(message string, in EmailEventRequest) (webhook, string, error) {
	id := cmp.Or(in.EventID, newID("msg_", 27))
	name, found := strings.CutPrefix(in.Type, "email.")
	if !found || name == "" {
		return webhook{}, id, errors.New("type: for example email.delivered or email.bounced")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m, found := s.messages[message]
	switch {
	case !found:
		return webhook{}, id, errUnknownMessage
	case s.emailWebhookURL == "":
		return webhook{}, id, errNoURL
	case s.svixKey == nil:
		return webhook{}, id, errors.New("no email webhook secret is configured")
	}
	m.LastEvent = name
	if err := s.record(entry{Message: &m}); err != nil {
		return webhook{}, id, err
	}
	body, err := json.Marshal(s.emailEvent(m, in.Type))
	if err != nil {
		return webhook{}, id, fmt.Errorf("email event: %w", err)
	}
	return webhook{url: s.emailWebhookURL, body: body, sign: signSvix(s.svixKey, id)}, id, nil
}

// emailEvent is https://resend.com/docs/webhooks/event-types. Tags are an object here, unlike in the request.
func (s *Sandbox) emailEvent(m Message, kind string) object {
	const stamp = "2006-01-02T15:04:05.000Z"
	data := object{
		"email_id": m.ID, "created_at": m.AcceptedAt.UTC().Format(stamp), "from": m.From, "to": m.To,
		"subject": m.Subject, "tags": orEmpty(m.Tags),
	}
	switch kind {
	case "email.bounced":
		data["bounce"] = object{
			"type": "Permanent", "subType": "General", "message": "The recipient's server rejected the message.",
			"diagnosticCode": []string{"smtp; 550 5.1.1 user unknown"},
		}
	case "email.failed":
		data["failed"] = object{"reason": "reached_daily_quota"}
	case "email.suppressed":
		data["suppressed"] = object{
			"type": "OnAccountSuppressionList", "reason": "previous_bounce", "message": "The address is suppressed.",
		}
	}
	return object{"type": kind, "created_at": s.cfg.Now().UTC().Format(stamp), "data": data}
}
