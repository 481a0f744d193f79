package stripe

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"handover/internal/lab/sandbox/core"
)

// StatusChange is the body of a PATCH of a refund or a dispute.
type StatusChange struct {
	Status string `json:"status"`
}

// WebhookSwitch is the body of PUT /control/stripe/webhooks.
type WebhookSwitch struct {
	On bool `json:"on"`
}

// ControlRoutes adds Stripe's part of the control API.
func (s *Stripe) ControlRoutes(mux *http.ServeMux) {
	change := core.Control(http.StatusOK, func(r *http.Request, patch json.RawMessage) (Session, error) {
		return s.ChangeSession(r.PathValue("id"), patch)
	})
	mux.HandleFunc("POST /control/sessions", core.Control(http.StatusCreated, func(_ *http.Request, in Session) (Session, error) {
		return s.CreateSession(in)
	}))
	mux.HandleFunc("GET /control/sessions/{id}", core.ControlGet(func(r *http.Request) (Session, error) { return s.Session(r.PathValue("id")) }))
	mux.HandleFunc("PATCH /control/sessions/{id}", change)
	mux.HandleFunc("POST /control/sessions/{id}", change)
	mux.HandleFunc("POST /control/batch", core.Control(http.StatusCreated, func(_ *http.Request, in Batch) ([]Session, error) {
		return s.CreateBatch(in)
	}))
	mux.HandleFunc("POST /control/events", core.Control(http.StatusOK, func(r *http.Request, in EventRequest) (Delivery, error) {
		return s.DeliverEvent(r.Context(), in)
	}))
	s.refunds.controlRoutes(mux)
	s.disputes.controlRoutes(mux)

	mux.HandleFunc("PUT /control/stripe/webhooks", core.ControlSet(func(_ *http.Request, in WebhookSwitch) error {
		s.SwitchWebhooks(in.On)
		return nil
	}))
	mux.HandleFunc("PUT /control/stripe/endpoints", core.ControlSet(func(_ *http.Request, in []Endpoint) error { return s.SetEndpoints(in) }))
	mux.HandleFunc("PUT /control/stripe/prices/{id}", core.ControlSet(func(r *http.Request, in Price) error {
		in.ID = r.PathValue("id")
		return s.SetPrice(in)
	}))
	mux.HandleFunc("PUT /control/stripe/products/{id}", core.ControlSet(func(r *http.Request, in StockItem) error {
		in.ID = r.PathValue("id")
		return s.SetStock(in)
	}))
}

// controlRoutes are those of refunds, and those of disputes.
func (k *kind[T]) controlRoutes(mux *http.ServeMux) {
	many := k.name + "s"
	mux.HandleFunc("POST /control/sessions/{id}/"+many, core.Control(http.StatusCreated, func(r *http.Request, in T) (T, error) {
		*k.common(&in).session = r.PathValue("id")
		return k.create(in)
	}))
	mux.HandleFunc("PATCH /control/"+many+"/{id}", core.Control(http.StatusOK, func(r *http.Request, in StatusChange) (T, error) {
		return k.change(r.PathValue("id"), in.Status)
	}))
	mux.HandleFunc("POST /control/"+many+"/{id}/events", core.Control(http.StatusOK, func(r *http.Request, in MoneyEvents) ([]Delivery, error) {
		return k.deliver(r.Context(), r.PathValue("id"), in)
	}))
}

// Batch asks for many sessions at once, which no webhook reports.
type Batch struct {
	Session Session     `json:"session"` // what they have in common; its id is left out
	N       int         `json:"n"`       // how many; as many as there are times when 0
	Created []time.Time `json:"created"` // when they were made, in order; now where there are fewer than N
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
