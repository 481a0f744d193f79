package sandbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"handover/internal/order"
)

// Session is a checkout session as the judge sets it up. Its Stripe form is made from it.
type Session struct {
	ID            string            `json:"id"`             // cs_test_… or cs_live_… when empty
	Live          bool              `json:"live"`           // livemode; may contradict the id, on purpose
	Mode          string            `json:"mode"`           // payment (default), subscription, setup
	Status        string            `json:"status"`         // complete (default), open, expired
	PaymentStatus string            `json:"payment_status"` // paid (default), unpaid, no_payment_required
	Items         []Item            `json:"items"`
	Email         string            `json:"email"`        // what the buyer typed; null at Stripe when empty
	ChargeEmail   string            `json:"charge_email"` // the charge's billing address; Email when empty
	Name          string            `json:"name"`
	Amount        int64             `json:"amount"`   // minor units; the items' sum when 0
	Currency      string            `json:"currency"` // the first item's product's, else usd
	PaymentIntent Intent            `json:"payment_intent"`
	Metadata      map[string]string `json:"metadata,omitempty"`
	CustomerEmail string            `json:"customer_email,omitempty"` // what the seller prefilled
	SuccessURL    string            `json:"success_url,omitempty"`
	Created       time.Time         `json:"created,omitzero"`
	CreateKey     string            `json:"create_key,omitempty"` // Stripe idempotency key of the call that made it

	Refunded int64 `json:"-"` // by refunds that did not fail, minor units; kept by the sandbox
	Disputed bool  `json:"-"` // ever
}

// Item is one line of a session.
type Item struct {
	Price    string `json:"price"` // empty: the line has no price object
	Product  string `json:"product"`
	Name     string `json:"name"`
	Quantity int64  `json:"quantity"` // 1 when 0
	Amount   int64  `json:"amount"`   // of one unit, minor units; the product's when 0
	Discount int64  `json:"discount"` // of the whole line, minor units
}

// Intent is the payment behind a session. In JSON it is read from {"id":…,"status":…} or from the id alone.
type Intent struct {
	ID     string `json:"id"`
	Status string `json:"status"` // succeeded, processing, requires_payment_method (failed), …
}

// UnmarshalJSON changes only what the JSON names.
func (i *Intent) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		return json.Unmarshal(data, &i.ID)
	}
	type plain Intent
	return json.Unmarshal(data, (*plain)(i))
}

// The words of Stripe's that decide something here (https://docs.stripe.com/api/checkout/sessions/object).
const (
	paid       = "paid"
	unpaid     = "unpaid"
	nothingDue = "no_payment_required"
	intentBad  = "requires_payment_method"
)

// fill completes what the judge left out.
func (s *Sandbox) fill(sess *Session) error {
	sess.Mode = cmp.Or(sess.Mode, "payment")
	sess.Status = cmp.Or(sess.Status, "complete")
	sess.PaymentStatus = cmp.Or(sess.PaymentStatus, paid)
	if sess.ID == "" {
		sess.ID = newID("cs_test_", 58)
		if sess.Live {
			sess.ID = newID("cs_live_", 58)
		}
	}
	if sess.Created.IsZero() {
		sess.Created = s.cfg.Now().UTC()
	}
	var sum int64
	sess.Items = slices.Clone(sess.Items) // the old ones may be being read
	for i := range sess.Items {
		item := &sess.Items[i]
		item.Quantity = cmp.Or(item.Quantity, 1)
		if p, found := s.product(item.Price); found {
			item.Product = cmp.Or(item.Product, p.Product)
			item.Name = cmp.Or(item.Name, p.Name)
			item.Amount = cmp.Or(item.Amount, p.Amount)
			sess.Currency = cmp.Or(sess.Currency, p.Currency)
		}
		sum += item.Amount*item.Quantity - item.Discount
	}
	if sess.PaymentStatus != nothingDue {
		sess.Amount = cmp.Or(sess.Amount, sum)
	}
	sess.Currency = strings.ToLower(cmp.Or(sess.Currency, "usd"))
	sess.settle()
	return sess.check()
}

// settle gives a finished session its payment, in the state that follows from payment_status, unless the judge set one.
func (sess *Session) settle() {
	if sess.Mode != "payment" || sess.Status != "complete" || sess.PaymentStatus == nothingDue {
		return
	}
	sess.PaymentIntent.ID = cmp.Or(sess.PaymentIntent.ID, newID("pi_", 24))
	if sess.PaymentIntent.Status == "" {
		sess.PaymentIntent.Status = "processing"
		if sess.PaymentStatus == paid {
			sess.PaymentIntent.Status = "succeeded"
		}
	}
}

func (sess *Session) check() error {
	switch {
	case !order.ValidSession(sess.ID):
		return errors.New("id: not a session id")
	case !slices.Contains([]string{"payment", "subscription", "setup"}, sess.Mode):
		return errors.New("mode: payment, subscription or setup")
	case !slices.Contains([]string{"open", "complete", "expired"}, sess.Status):
		return errors.New("status: open, complete or expired")
	case !slices.Contains([]string{paid, unpaid, nothingDue}, sess.PaymentStatus):
		return errors.New("payment_status: paid, unpaid or no_payment_required")
	}
	return nil
}

// change applies the fields that a JSON object names and keeps all others.
func (sess Session) change(patch []byte) (Session, error) {
	var named map[string]json.RawMessage
	if err := json.Unmarshal(patch, &named); err != nil {
		return sess, fmt.Errorf("request body: %w", err)
	}
	before := sess
	// A decoder writes into the slices and maps it finds: give it none of ours.
	if _, given := named["items"]; given {
		sess.Items = nil
	}
	if _, given := named["metadata"]; given {
		sess.Metadata = nil
	}
	d := json.NewDecoder(bytes.NewReader(patch))
	d.DisallowUnknownFields()
	if err := d.Decode(&sess); err != nil {
		return sess, fmt.Errorf("request body: %w", err)
	}
	if sess.ID != before.ID {
		return sess, errors.New("id: cannot change")
	}
	_, intentGiven := named["payment_intent"]
	if !intentGiven && (sess.PaymentStatus != before.PaymentStatus || sess.Status != before.Status) {
		sess.PaymentIntent.Status = ""
	}
	return sess, nil
}

func (s *Sandbox) product(price string) (Product, bool) {
	for _, p := range s.cfg.Products {
		if p.Price == price && price != "" {
			return p, true
		}
	}
	return Product{}, false
}
