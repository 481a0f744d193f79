package stripe

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"handover/internal/lab/sandbox/core"
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
type Delivery = core.Delivery

type storedEvent struct {
	ID      string          `json:"id"`
	Type    string          `json:"type"`
	Created int64           `json:"created"`
	Body    json.RawMessage `json:"body"`
}

// DeliverEvent signs and delivers, and remembers the event for GET /v1/events.
func (s *Stripe) DeliverEvent(ctx context.Context, in EventRequest) (Delivery, error) {
	hook, id, err := s.webhook(in)
	if err != nil {
		return Delivery{}, err
	}
	return Delivery{EventID: id, Statuses: s.core.Deliver(ctx, hook, in.Copies, in.Retry)}, nil
}

// DeliverEventLater does the same without keeping the caller waiting, and repeats what is not taken.
func (s *Stripe) DeliverEventLater(in EventRequest) error {
	hook, _, err := s.webhook(in)
	if err == nil {
		s.core.DeliverLater(hook, in.Copies)
	}
	return err
}

func (s *Stripe) webhook(in EventRequest) (hook core.Webhook, id string, err error) {
	id = cmp.Or(in.EventID, core.NewID("evt_", 24))
	s.core.Lock()
	defer s.core.Unlock()
	hook = core.Webhook{
		URL: cmp.Or(in.URL, s.cfg.WebhookURL), Off: s.webhooksOff && in.URL == "", Body: []byte(in.Raw),
		Sign: func(h http.Header, at time.Time, body []byte) { Sign(h, cmp.Or(in.Secret, s.cfg.Secret), at, body) },
	}
	if hook.URL == "" && !hook.Off {
		return hook, id, core.ErrNoURL
	}
	if in.Raw != "" {
		return hook, id, nil
	}

	created := s.core.Now().Unix()
	if hook.Body, err = s.eventBody(id, created, in); err != nil {
		return hook, id, err
	}
	if !s.events.Has(id) {
		err = s.recordEvent(storedEvent{ID: id, Type: in.Type, Created: created, Body: hook.Body})
	}
	return hook, id, err
}

// EventBody is the body of an event that is not delivered here.
func (s *Stripe) EventBody(id string, in EventRequest) ([]byte, error) {
	s.core.Lock()
	defer s.core.Unlock()
	return s.eventBody(id, s.core.Now().Unix(), in)
}

// eventBody is https://docs.stripe.com/api/events/object. The caller holds the lock.
func (s *Stripe) eventBody(id string, created int64, in EventRequest) ([]byte, error) {
	if in.Type == "" {
		return nil, errors.New("type: an event needs one, for example checkout.session.completed")
	}
	about, live, err := s.about(in)
	if err != nil {
		return nil, err
	}
	event := core.Object{
		"id": id, "object": "event", "api_version": apiVersion, "created": created, "livemode": live,
		"pending_webhooks": 1, "type": in.Type, "data": core.Object{"object": about},
		"request": core.Object{"id": nil, "idempotency_key": nil},
	}
	if in.Account != "" {
		event["account"] = in.Account
	}
	return json.MarshalIndent(event, "", "  ")
}

// about is the object of an event: a session, the refund or dispute that it names or, for charge.refunded, the charge.
func (s *Stripe) about(in EventRequest) (about any, live bool, err error) {
	if in.Object != nil {
		return in.Object, false, nil
	}
	refund, isRefund := s.refunds.table.Get(in.Refund)
	dispute, isDispute := s.disputes.table.Get(in.Dispute)
	sess, isSession := s.sessions.Get(cmp.Or(refund.Session, dispute.Session, in.Session))
	switch {
	case in.Refund != "" && !isRefund:
		return nil, false, s.refunds.unknown
	case in.Dispute != "" && !isDispute && !isRefund:
		return nil, false, s.disputes.unknown
	case !isSession:
		return nil, false, errUnknownSession
	case isRefund && in.Type == "charge.refunded":
		return chargeOf(sess), sess.Live, nil
	case isRefund:
		return refundObject(sess, refund), sess.Live, nil
	case isDispute:
		return disputeObject(sess, dispute), sess.Live, nil
	}
	return sessionObject(sess, nil), sess.Live, nil
}

// Sign is https://docs.stripe.com/webhooks#verify-manually: the secret's whole text is the key.
func Sign(h http.Header, secret string, at time.Time, body []byte) {
	t := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(t + "."))
	mac.Write(body)
	h.Set("Stripe-Signature", "t="+t+",v1="+hex.EncodeToString(mac.Sum(nil)))
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("User-Agent", "Stripe/1.0 (+https://stripe.com/docs/webhooks)")
	h.Set("Accept", "*/*; q=0.5, application/json")
	h.Set("Cache-Control", "no-cache")
}
