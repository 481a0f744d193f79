// Package stripe is the fake of Stripe: checkout sessions with their payments, refunds and disputes, the account's
// settings, and the events about them. It speaks what https://docs.stripe.com/api says.
package stripe

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"

	"handover/internal/lab/sandbox/core"
)

// Config says whom the fake pretends to be.
type Config struct {
	Secret     string         // signs the events
	Keys       []string       // accepted API keys; none means any that is not empty
	WebhookURL string         // where events go; empty for nowhere
	Products   []core.Product // what is on sale
}

// Stripe is the fake.
type Stripe struct {
	core *core.Core
	cfg  Config

	sessions core.Table[Session]
	created  map[string]string // idempotency key of a create call → session id
	refunds  kind[Refund]
	disputes kind[Dispute]
	events   core.Table[storedEvent]

	endpoints   []Endpoint // nil until a test sets them
	prices      core.Table[Price]
	stock       core.Table[StockItem]
	webhooksOff bool // events happen, and are not delivered
	counts      Counts

	recordSession   func(Session) error
	recordEvent     func(storedEvent) error
	recordEndpoints func([]Endpoint) error
	recordPrice     func(Price) error
	recordStock     func(StockItem) error
}

// Counts are the reads that arrived, by session.
type Counts struct {
	Retrieves map[string]int `json:"retrieves"`
	LineItems map[string]int `json:"line_items"` // pages
	Lists     int            `json:"lists"`
	Reads     map[string]int `json:"reads,omitempty"` // all others, by a fault's target: stripe.refunds, …
}

// New registers the fake with the core.
func New(c *core.Core, cfg Config) *Stripe {
	s := &Stripe{
		core: c, cfg: cfg, created: map[string]string{},
		counts: Counts{Retrieves: map[string]int{}, LineItems: map[string]int{}, Reads: map[string]int{}},
	}
	s.refunds, s.disputes = refunds(s), disputes(s)
	s.recordSession = core.Entries(c, "session", s.applySession)
	s.recordEvent = core.Entries(c, "event", func(e storedEvent) { s.events.Put(e.ID, e) })
	s.recordEndpoints = core.Entries(c, "endpoints", func(list []Endpoint) { s.endpoints = list })
	s.recordPrice = core.Entries(c, "price", func(p Price) { s.prices.Put(p.ID, p) })
	s.recordStock = core.Entries(c, "stock", func(p StockItem) { s.stock.Put(p.ID, p) })
	c.Count("retrieves", func(what core.WaitFor) (n int) {
		for id, times := range s.counts.Retrieves {
			if what.Session == "" || id == what.Session {
				n += times
			}
		}
		return n
	})
	for _, p := range cfg.Products {
		s.learn(Session{Currency: p.Currency, Items: []Item{{Price: p.Price, Product: p.Product, Name: p.Name, Amount: p.Amount}}})
	}
	return s
}

// Counts returns the numbers of this moment.
func (s *Stripe) Counts() Counts {
	s.core.Lock()
	defer s.core.Unlock()
	c := s.counts
	c.Retrieves, c.LineItems, c.Reads = maps.Clone(c.Retrieves), maps.Clone(c.LineItems), maps.Clone(c.Reads)
	return c
}

// Routes adds the API. Stripe's Go client takes an answer only when the whole path begins with /v1; other clients may use
// http://HOST/stripe.
func (s *Stripe) Routes(mux *http.ServeMux) {
	for _, base := range []string{"", "/stripe"} {
		for pattern, call := range map[string]struct {
			target string
			serve  http.HandlerFunc
		}{
			"GET checkout/sessions/{id}":            {"session", s.retrieve("checkout.session", s.findSession)},
			"GET checkout/sessions/{id}/line_items": {"line_items", s.listLineItems},
			"GET checkout/sessions":                 {"sessions", s.listSessions},
			"POST checkout/sessions":                {"create", s.createSession},
			"GET events":                            {"events", s.listEvents},
			"GET payment_intents/{id}":              {"payment_intent", s.retrieve("payment_intent", s.findIntent)},
			"GET charges/{id}":                      {"charge", s.retrieve("charge", s.findCharge)},
			"GET charges":                           {"charges", s.listCharges},
			"GET refunds/{id}":                      {"refund", s.retrieve("refund", s.refunds.find)},
			"GET refunds":                           {"refunds", s.list("/v1/refunds", s.refunds.all)},
			"GET disputes/{id}":                     {"dispute", s.retrieve("dispute", s.disputes.find)},
			"GET disputes":                          {"disputes", s.list("/v1/disputes", s.disputes.all)},
			"GET webhook_endpoints":                 {"endpoints", s.list("/v1/webhook_endpoints", s.allEndpoints)},
			"GET prices/{id}":                       {"price", s.retrieve("price", s.findPrice)},
			"GET products/{id}":                     {"product", s.retrieve("product", s.findProduct)},
			"GET account":                           {"account", retrieveAccount},
			"":                                      {"other", unknownURL},
		} {
			method, path, _ := strings.Cut(pattern, " ")
			mux.HandleFunc(strings.TrimSpace(method+" "+base+"/v1/"+path), s.call("stripe."+call.target, call.serve))
		}
	}
}

// call counts a call, applies the faults set for the target and checks the key, in this order: a refused call is still
// one that arrived.
func (s *Stripe) call(target string, next http.HandlerFunc) http.HandlerFunc {
	inner := s.core.Faulty(core.Guard{Target: target, Refuse: refuse}, s.authorized(next))
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Request-Id", core.NewID("req_", 14))
		s.core.Lock()
		switch target {
		case "stripe.session":
			s.counts.Retrieves[r.PathValue("id")]++
		case "stripe.line_items":
			s.counts.LineItems[r.PathValue("id")]++
		case "stripe.sessions":
			s.counts.Lists++
		default:
			s.counts.Reads[target]++
		}
		s.core.Changed()
		s.core.Unlock()
		inner(w, r)
	}
}

// authorized takes the key as a bearer token or as the user of basic authentication
// (https://docs.stripe.com/api/authentication).
func (s *Stripe) authorized(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key := keyOf(r)
		switch {
		case key == "":
			writeError(w, http.StatusUnauthorized, "", "You did not provide an API key.")
		case len(s.cfg.Keys) > 0 && !slices.Contains(s.cfg.Keys, key):
			writeError(w, http.StatusUnauthorized, "", "Invalid API Key provided.")
		default:
			next(w, r)
		}
	}
}

func keyOf(r *http.Request) string {
	if user, _, basic := r.BasicAuth(); basic {
		return user
	}
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return strings.TrimSpace(token)
}

// liveKey says that a request is made with a key of live mode.
func liveKey(r *http.Request) bool { return strings.Contains(keyOf(r), "_live_") }

// otherMode says that a key of one mode asks for a session of the other: Stripe does not know it then.
func otherMode(r *http.Request, session string) bool {
	if liveKey(r) {
		return strings.HasPrefix(session, "cs_test_")
	}
	return strings.Contains(keyOf(r), "_test_") && strings.HasPrefix(session, "cs_live_")
}

// writeError answers in the shape of https://docs.stripe.com/api/errors.
func writeError(w http.ResponseWriter, status int, code, message string) {
	e := core.Object{"type": "invalid_request_error", "message": message}
	if status >= 500 {
		e["type"] = "api_error"
	}
	if code != "" {
		e["code"] = code
		e["doc_url"] = "https://docs.stripe.com/error-codes#" + strings.ReplaceAll(code, "_", "-")
	}
	if id := w.Header().Get("Request-Id"); id != "" {
		e["request_log_url"] = "https://dashboard.stripe.com/test/logs/" + id
	}
	core.WriteJSON(w, status, core.Object{"error": e})
}

func refuse(w http.ResponseWriter, f core.Fault) {
	status, code := cmp.Or(f.Status, http.StatusInternalServerError), f.Name
	if f.Mode == "rate_limit" {
		status, code = http.StatusTooManyRequests, cmp.Or(code, "rate_limit")
	}
	writeError(w, status, code, "The sandbox refuses this request because a fault says so.")
}

func unknownURL(w http.ResponseWriter, r *http.Request) {
	writeError(w, http.StatusNotFound, "",
		"Unrecognized request URL ("+r.Method+": "+strings.TrimPrefix(r.URL.Path, "/stripe")+").")
}

func missing(w http.ResponseWriter, what, id string) {
	writeError(w, http.StatusNotFound, "resource_missing", "No such "+what+": '"+id+"'")
}
