package creem

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"handover/internal/lab/sandbox/core"
)

// Event asks for one of Creem's events to be signed and delivered.
type Event struct {
	Type     string          `json:"type"`               // checkout.completed, refund.created, dispute.created, …
	Checkout string          `json:"checkout,omitempty"` // whose present state the event is about; its newest refund
	Object   json.RawMessage `json:"object,omitempty"`   // the event's object, instead of a checkout
	EventID  string          `json:"event_id,omitempty"`
	Nested   string          `json:"nested,omitempty"` // the mode that the objects inside name, where it is another
	Copies   int             `json:"copies,omitempty"` // delivered at the same moment
	Raw      string          `json:"raw,omitempty"`    // the whole body, instead of an event
	Retry    bool            `json:"retry,omitempty"`  // again in the background until it is taken, for about a minute
	URL      string          `json:"url,omitempty"`    // another address than the configured one
	Secret   string          `json:"secret,omitempty"` // another secret than the configured one
}

// DeliverCreem signs and delivers an event of Creem's.
func (s *Creem) DeliverCreem(ctx context.Context, in Event) (core.Delivery, error) {
	in.EventID = cmp.Or(in.EventID, core.NewID("evt_", 22))
	s.core.Lock()
	url := cmp.Or(in.URL, s.cfg.WebhookURL)
	c, found := s.checkouts.Get(in.Checkout)
	s.core.Unlock()
	hook := core.Webhook{URL: url, Body: []byte(in.Raw), Sign: sign(cmp.Or(in.Secret, s.cfg.Secret))}
	switch {
	case url == "":
		return core.Delivery{}, core.ErrNoURL
	case in.Raw == "" && in.Object == nil && !found:
		return core.Delivery{}, errUnknown
	case in.Raw == "":
		body, err := s.eventBody(c, in)
		if err != nil {
			return core.Delivery{}, err
		}
		hook.Body = body
	}
	return core.Delivery{EventID: in.EventID, Statuses: s.core.Deliver(ctx, hook, in.Copies, in.Retry)}, nil
}

// sign is https://docs.creem.io/learn/webhooks/verify-webhook-requests: no timestamp, so every attempt has the same
// signature.
func sign(secret string) func(http.Header, time.Time, []byte) {
	return func(h http.Header, _ time.Time, body []byte) {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(body)
		h.Set("creem-signature", hex.EncodeToString(mac.Sum(nil)))
		h.Set("Content-Type", "application/json")
	}
}

// eventBody is an event of https://docs.creem.io/learn/webhooks/event-types about a checkout.
func (s *Creem) eventBody(c Checkout, in Event) ([]byte, error) {
	if in.Type == "" {
		return nil, errors.New("type: an event needs one, for example checkout.completed")
	}
	var about any = in.Object
	if in.Object == nil {
		var err error
		if about, err = subject(c, in.Type, cmp.Or(in.Nested, c.Mode), s.core.Now()); err != nil {
			return nil, err
		}
	}
	body, err := json.Marshal(core.Object{
		"id": in.EventID, "eventType": in.Type, "created_at": s.core.Now().UnixMilli(), "object": about,
	})
	if err != nil {
		return nil, fmt.Errorf("event: %w", err)
	}
	return body, nil
}

func subject(c Checkout, kind, nested string, now time.Time) (core.Object, error) {
	var o core.Object
	switch kind {
	case "refund.created":
		if len(c.Refunds) == 0 {
			return nil, errors.New("checkout: has no refund")
		}
		r := c.Refunds[len(c.Refunds)-1]
		o = core.Object{
			"id": r.ID, "object": "refund", "status": r.Status, "refund_amount": r.Amount, "refund_currency": c.Currency,
			"reason": "requested_by_customer",
		}
	case "dispute.created":
		if c.Dispute == "" {
			return nil, errors.New("checkout: has no dispute")
		}
		o = core.Object{"id": c.Dispute, "object": "dispute", "amount": c.Amount, "currency": c.Currency}
	default:
		return checkoutObject(c, nested), nil
	}
	o["transaction"] = transactionObject(c, nested, inEvents)
	o["order"], o["customer"] = any(c.Order), any(c.Customer)
	o["checkout"] = any(c.ID)
	if !c.Bare {
		o["order"], o["customer"] = orderObject(c, nested), customerObject(c, nested)
		o["checkout"] = core.Object{
			"id": c.ID, "object": "checkout", "product": c.Product, "units": c.Units, "custom_fields": []any{},
			"status": c.Status, "mode": nested,
		}
	}
	o["created_at"], o["mode"] = now.UnixMilli(), c.Mode
	return o, nil
}
