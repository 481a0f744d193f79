package sandbox

import (
	"cmp"
	"errors"
	"net/http"
	"time"
)

// moneyControl is the judge's API for what happens to a payment afterwards, and for the account's settings.
func (s *Sandbox) moneyControl(mux *http.ServeMux) {
	mux.HandleFunc("POST /control/batch", s.controlBatch)
	mux.HandleFunc("POST /control/sessions/{id}/refunds", s.controlRefund)
	mux.HandleFunc("POST /control/sessions/{id}/disputes", s.controlDispute)
	mux.HandleFunc("PATCH /control/refunds/{id}", controlChange(s.ChangeRefund))
	mux.HandleFunc("PATCH /control/disputes/{id}", controlChange(s.ChangeDispute))
	mux.HandleFunc("POST /control/refunds/{id}/events", controlMoneyEvents(s.DeliverRefund))
	mux.HandleFunc("POST /control/disputes/{id}/events", controlMoneyEvents(s.DeliverDispute))
	mux.HandleFunc("PUT /control/stripe/webhooks", s.controlWebhooks)
	mux.HandleFunc("PUT /control/stripe/endpoints", s.controlEndpoints)
	mux.HandleFunc("PUT /control/stripe/prices/{id}", s.controlPrice)
	mux.HandleFunc("PUT /control/stripe/products/{id}", s.controlStock)
}

// Batch asks for many sessions at once, of which no webhook tells.
type Batch struct {
	Session Session     `json:"session"` // what they have in common; its id is left out
	N       int         `json:"n"`       // how many; as many as there are times when 0
	Created []time.Time `json:"created"` // when they were made, in order; now where there are fewer than N
}

const maxBatch = 10_000

// CreateBatch adds the sessions, oldest first as the times say.
func (s *Sandbox) CreateBatch(b Batch) ([]Session, error) {
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
		made, err := s.CreateSession(sess)
		if err != nil {
			return list[:i], err
		}
		list[i] = made
	}
	return list, nil
}

// SwitchWebhooks turns the delivery of payment events off and on again. What happens meanwhile is in the list of events
// and is not delivered later: Stripe sends nothing to an endpoint that is disabled.
func (s *Sandbox) SwitchWebhooks(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.webhooksOff = !on
}

// SetEndpoints says what the account's list of webhook endpoints holds. Events go where they went before.
func (s *Sandbox) SetEndpoints(list []Endpoint) error {
	filled := make([]Endpoint, len(list))
	for i, e := range list {
		e.ID, e.Status = cmp.Or(e.ID, newID("we_", 24)), cmp.Or(e.Status, "enabled")
		if len(e.Events) == 0 {
			e.Events = []string{"*"}
		}
		filled[i] = e
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.record(entry{Endpoints: &filled})
}

// SetPrice makes a price known, or changes it.
func (s *Sandbox) SetPrice(p Price) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.record(entry{Price: &p})
}

// SetStock makes a product known, or changes it.
func (s *Sandbox) SetStock(p StockItem) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.record(entry{Stock: &p})
}

func (s *Sandbox) controlBatch(w http.ResponseWriter, r *http.Request) {
	var in Batch
	if err := readJSON(r, &in); err != nil {
		controlError(w, http.StatusBadRequest, err)
		return
	}
	list, err := s.CreateBatch(in)
	if err != nil {
		controlError(w, http.StatusBadRequest, err)
		return
	}
	writeJSON(w, http.StatusCreated, list)
}

// webhookSwitch is the body of PUT /control/stripe/webhooks.
type webhookSwitch struct {
	On bool `json:"on"`
}

func (s *Sandbox) controlWebhooks(w http.ResponseWriter, r *http.Request) {
	var in webhookSwitch
	if err := readJSON(r, &in); err != nil {
		controlError(w, http.StatusBadRequest, err)
		return
	}
	s.SwitchWebhooks(in.On)
	w.WriteHeader(http.StatusNoContent)
}

func (s *Sandbox) controlEndpoints(w http.ResponseWriter, r *http.Request) {
	var in []Endpoint
	err := readJSON(r, &in)
	controlSet(w, err, func() error { return s.SetEndpoints(in) })
}

func (s *Sandbox) controlPrice(w http.ResponseWriter, r *http.Request) {
	var in Price
	err := readJSON(r, &in)
	in.ID = r.PathValue("id")
	controlSet(w, err, func() error { return s.SetPrice(in) })
}

func (s *Sandbox) controlStock(w http.ResponseWriter, r *http.Request) {
	var in StockItem
	err := readJSON(r, &in)
	in.ID = r.PathValue("id")
	controlSet(w, err, func() error { return s.SetStock(in) })
}

func controlSet(w http.ResponseWriter, err error, set func() error) {
	if err == nil {
		err = set()
	}
	if err != nil {
		controlError(w, http.StatusBadRequest, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
