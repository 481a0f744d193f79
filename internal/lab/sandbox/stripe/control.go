package stripe

import (
	"cmp"
	"errors"
	"time"

	"handover/internal/lab/sandbox/core"
)

// Batch asks for many sessions at once, which no webhook reports.
type Batch struct {
	Session Session     // what they have in common; its id is left out
	N       int         // how many; as many as there are times when 0
	Created []time.Time // when they were made, in order; now where there are fewer than N
}

const maxBatch = 10_000

// CreateBatch adds the sessions, oldest first as the times say.
func (s *Stripe) CreateBatch(b Batch) ([]Session, error) {
	n := cmp.Or(b.N, len(b.Created))
	if b.Session.ID != "" || n < 1 || n > maxBatch {
		return nil, errors.New("a batch has no session id, and 1 to 10000 sessions")
	}
	list := make([]Session, n)
	for i := range list {
		sess := b.Session
		if i < len(b.Created) {
			sess.Created = b.Created[i]
		}
		added, err := s.CreateSession(sess)
		if err != nil {
			return list[:i], err
		}
		list[i] = added
	}
	return list, nil
}

// PaySession lets the money of an unpaid session arrive.
func (s *Stripe) PaySession(id string) (Session, error) {
	return s.ChangeSession(id, []byte(`{"status":"complete","payment_status":"paid"}`))
}

// FailSession lets the payment of an unpaid session fail.
func (s *Stripe) FailSession(id string) (Session, error) {
	return s.ChangeSession(id, []byte(`{"payment_intent":{"status":"`+IntentFailed+`"}}`))
}

// SetWebhookURL changes where events go from now on.
func (s *Stripe) SetWebhookURL(url string) {
	s.core.Lock()
	defer s.core.Unlock()
	s.cfg.WebhookURL = url
}

// SwitchWebhooks turns the delivery of events off and on again. What happens meanwhile is in the list of events and is
// not delivered later: Stripe sends nothing to an endpoint that is disabled.
func (s *Stripe) SwitchWebhooks(on bool) {
	s.core.Lock()
	defer s.core.Unlock()
	s.webhooksOff = !on
}

// SetEndpoints says what the account's list of webhook endpoints holds. Events go where they went before.
func (s *Stripe) SetEndpoints(list []Endpoint) error {
	filled := make([]Endpoint, len(list))
	for i, e := range list {
		e.ID, e.Status = cmp.Or(e.ID, core.NewID("we_", 24)), cmp.Or(e.Status, "enabled")
		if len(e.Events) == 0 {
			e.Events = []string{"*"}
		}
		filled[i] = e
	}
	s.core.Lock()
	defer s.core.Unlock()
	return s.recordEndpoints(filled)
}

// SetPrice makes a price known, or changes it.
func (s *Stripe) SetPrice(p Price) error {
	s.core.Lock()
	defer s.core.Unlock()
	return s.recordPrice(p)
}

// SetStock makes a product known, or changes it.
func (s *Stripe) SetStock(p StockItem) error {
	s.core.Lock()
	defer s.core.Unlock()
	return s.recordStock(p)
}
