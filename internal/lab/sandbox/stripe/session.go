package stripe

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"handover/internal/lab/sandbox/core"
	"handover/internal/order"
)

// Session is a checkout session as a test sets it up. Its Stripe form is made from it.
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
	Paid       = "paid"
	Unpaid     = "unpaid"
	NothingDue = "no_payment_required"
	// IntentFailed is the status of a payment whose money did not come.
	IntentFailed = "requires_payment_method"
)

var (
	sessionModes  = []string{"payment", "subscription", "setup"}
	sessionStates = []string{"open", "complete", "expired"}
	paymentStates = []string{Paid, Unpaid, NothingDue}
)

var errUnknownSession = fmt.Errorf("session: %w", core.ErrUnknown)

// fill completes what the test left out.
func (s *Stripe) fill(sess *Session) error {
	sess.Mode = cmp.Or(sess.Mode, "payment")
	sess.Status = cmp.Or(sess.Status, "complete")
	sess.PaymentStatus = cmp.Or(sess.PaymentStatus, Paid)
	if sess.ID == "" {
		sess.ID = core.NewID("cs_test_", 58)
		if sess.Live {
			sess.ID = core.NewID("cs_live_", 58)
		}
	}
	if sess.Created.IsZero() {
		sess.Created = s.core.Now().UTC()
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
	if sess.PaymentStatus != NothingDue {
		sess.Amount = cmp.Or(sess.Amount, sum)
	}
	sess.Currency = strings.ToLower(cmp.Or(sess.Currency, "usd"))
	sess.settle()
	return sess.check()
}

// settle gives a finished session its payment, in the state that follows from payment_status, unless the test set one.
func (sess *Session) settle() {
	if sess.Mode != "payment" || sess.Status != "complete" || sess.PaymentStatus == NothingDue {
		return
	}
	sess.PaymentIntent.ID = cmp.Or(sess.PaymentIntent.ID, core.NewID("pi_", 24))
	if sess.PaymentIntent.Status == "" {
		sess.PaymentIntent.Status = "processing"
		if sess.PaymentStatus == Paid {
			sess.PaymentIntent.Status = "succeeded"
		}
	}
}

func (sess *Session) check() error {
	switch {
	case !order.ValidSession(sess.ID):
		return errors.New("id: not a session id")
	case !slices.Contains(sessionModes, sess.Mode):
		return core.OneOf("mode", sessionModes)
	case !slices.Contains(sessionStates, sess.Status):
		return core.OneOf("status", sessionStates)
	case !slices.Contains(paymentStates, sess.PaymentStatus):
		return core.OneOf("payment_status", paymentStates)
	}
	return nil
}

// change applies the fields that a JSON object names and keeps all others.
func (sess Session) change(patch json.RawMessage) (Session, error) {
	before := sess
	named, err := core.Patch(patch, &sess, map[string]func(){
		"items": func() { sess.Items = nil }, "metadata": func() { sess.Metadata = nil },
	})
	if err != nil {
		return sess, err
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

func (s *Stripe) product(price string) (core.Product, bool) {
	for _, p := range s.cfg.Products {
		if p.Price == price && price != "" {
			return p, true
		}
	}
	return core.Product{}, false
}

// CreateSession adds a session as the test wants it, with everything left out filled in.
func (s *Stripe) CreateSession(sess Session) (Session, error) {
	if err := s.fill(&sess); err != nil {
		return sess, err
	}
	s.core.Lock()
	defer s.core.Unlock()
	if s.sessions.Has(sess.ID) {
		return sess, errors.New("id: there is such a session already; change it with PATCH")
	}
	return sess, s.recordSession(sess)
}

// ChangeSession applies the fields that a JSON object names: {"payment_status":"paid"} lets the money arrive,
// {"payment_intent":{"status":"requires_payment_method"}} lets the payment fail.
func (s *Stripe) ChangeSession(id string, patch []byte) (Session, error) {
	s.core.Lock()
	defer s.core.Unlock()
	sess, found := s.sessions.Get(id)
	if !found {
		return sess, errUnknownSession
	}
	sess, err := sess.change(patch)
	if err != nil {
		return sess, err
	}
	if err := s.fill(&sess); err != nil {
		return sess, err
	}
	return sess, s.recordSession(sess)
}

// Session returns a session as it is now.
func (s *Stripe) Session(id string) (Session, error) {
	s.core.Lock()
	defer s.core.Unlock()
	sess, found := s.sessions.Get(id)
	if !found {
		return sess, errUnknownSession
	}
	return sess, nil
}

// NewestSessions returns up to n sessions that fit, the newest first.
func (s *Stripe) NewestSessions(n int, fits func(Session) bool) (list []Session) {
	s.core.Lock()
	defer s.core.Unlock()
	for sess := range s.sessions.Newest() {
		if len(list) == n {
			break
		}
		if fits(sess) {
			list = append(list, sess)
		}
	}
	return list
}

func (s *Stripe) applySession(sess Session) {
	before, _ := s.sessions.Get(sess.ID)
	sess.Refunded, sess.Disputed = before.Refunded, before.Disputed
	s.sessions.Put(sess.ID, sess)
	s.learn(sess)
	if sess.CreateKey != "" {
		s.created[sess.CreateKey] = sess.ID
	}
}
