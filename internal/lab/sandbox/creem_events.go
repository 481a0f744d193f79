package sandbox

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
)

// CreemEvent asks for one of Creem's events to be signed and delivered.
type CreemEvent struct {
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
func (s *Sandbox) DeliverCreem(ctx context.Context, in CreemEvent) (Delivery, error) {
	in.EventID = cmp.Or(in.EventID, newID("evt_", 22))
	s.mu.Lock()
	url := cmp.Or(in.URL, s.creem.webhookURL, s.cfg.CreemWebhookURL)
	c, found := s.creem.checkouts[in.Checkout]
	s.mu.Unlock()
	hook := webhook{url: url, body: []byte(in.Raw), sign: signCreem(cmp.Or(in.Secret, s.cfg.CreemSecret))}
	switch {
	case url == "":
		return Delivery{}, errNoURL
	case in.Raw == "" && in.Object == nil && !found:
		return Delivery{}, errUnknownCheckout
	case in.Raw == "":
		body, err := s.creemEvent(c, in)
		if err != nil {
			return Delivery{}, err
		}
		hook.body = body
	}
	return Delivery{EventID: in.EventID, Statuses: s.deliver(ctx, hook, in.Copies, in.Retry)}, nil
}

// signCreem is https://docs.creem.io/learn/webhooks/verify-webhook-requests: no timestamp, so every attempt has the same
// signature.
func signCreem(secret string) func(http.Header, time.Time, []byte) {
	return func(h http.Header, _ time.Time, body []byte) {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(body)
		h.Set("creem-signature", hex.EncodeToString(mac.Sum(nil)))
		h.Set("Content-Type", "application/json")
	}
}

// creemEvent is an event of https://docs.creem.io/learn/webhooks/event-types about a checkout.
func (s *Sandbox) creemEvent(c Checkout, in CreemEvent) ([]byte, error) {
	if in.Type == "" {
		return nil, errors.New("type: an event needs one, for example checkout.completed")
	}
	var about any = in.Object
	if in.Object == nil {
		var err error
		if about, err = creemSubject(c, in.Type, cmp.Or(in.Nested, c.Mode), s.cfg.Now()); err != nil {
			return nil, err
		}
	}
	body, err := json.Marshal(object{
		"id": in.EventID, "eventType": in.Type, "created_at": s.cfg.Now().UnixMilli(), "object": about,
	})
	if err != nil {
		return nil, fmt.Errorf("event: %w", err)
	}
	return body, nil
}

func creemSubject(c Checkout, kind, nested string, now time.Time) (object, error) {
	var o object
	switch kind {
	case "refund.created":
		if len(c.Refunds) == 0 {
			return nil, errors.New("checkout: has no refund")
		}
		r := c.Refunds[len(c.Refunds)-1]
		o = object{
			"id": r.ID, "object": "refund", "status": r.Status, "refund_amount": r.Amount, "refund_currency": c.Currency,
			"reason": "requested_by_customer",
		}
	case "dispute.created":
		if c.Dispute == "" {
			return nil, errors.New("checkout: has no dispute")
		}
		o = object{"id": c.Dispute, "object": "dispute", "amount": c.Amount, "currency": c.Currency}
	default:
		return creemCheckout(c, nested), nil
	}
	o["transaction"] = creemTransaction(c, nested, inEvents)
	o["order"], o["customer"] = any(c.Order), any(c.Customer)
	o["checkout"] = any(c.ID)
	if !c.Bare {
		o["order"], o["customer"] = creemOrder(c, nested), creemCustomer(c, nested)
		o["checkout"] = object{
			"id": c.ID, "object": "checkout", "product": c.Product, "units": c.Units, "custom_fields": []any{},
			"status": c.Status, "mode": nested,
		}
	}
	o["created_at"], o["mode"] = now.UnixMilli(), c.Mode
	return o, nil
}
