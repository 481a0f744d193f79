package sandbox

import (
	"encoding/json"
	"time"
)

// state is everything that the sandbox knows. Sandbox.mu guards it.
type state struct {
	sessions   map[string]Session
	sessionSeq []string          // ids, oldest first
	created    map[string]string // Stripe idempotency key of a create call → session id

	refunds               map[string]Refund
	disputes              map[string]Dispute
	refundSeq, disputeSeq []string // ids, oldest first

	endpoints []Endpoint // nil until the judge sets them
	prices    map[string]Price
	stock     map[string]StockItem
	domains   []Domain // nil until the judge sets them

	creem creemState

	messages   map[string]Message
	messageSeq []string // ids, oldest first
	keys       map[string]keyUse
	inFlight   map[string]bool // idempotency keys being worked on
	calls      map[string]*keyCalls
	rate       rateWindow

	events []storedEvent // oldest first

	retrieves map[string]int // session id → GET of the session
	pages     map[string]int // session id → GET of its line items
	lists     int
	reads     map[string]int // target → every other read of Stripe's

	faults                      []*fault
	faultSeq                    int
	taken, refused              int // webhook deliveries answered 2xx, and all others
	webhookURL, emailWebhookURL string
	webhooksOff                 bool // payment events happen, and are not delivered
}

// keyUse is an idempotency key that has done its work.
type keyUse struct {
	message string
	sha256  string
	at      time.Time
}

// keyCalls counts the requests that arrived under one key, whatever became of them.
type keyCalls struct {
	calls  int
	bodies map[string]int // sha256 → times
}

type storedEvent struct {
	ID      string          `json:"id"`
	Type    string          `json:"type"`
	Created int64           `json:"created"`
	Body    json.RawMessage `json:"body"`
}

func newState(webhookURL, emailWebhookURL string) state {
	return state{
		sessions:        map[string]Session{},
		created:         map[string]string{},
		refunds:         map[string]Refund{},
		disputes:        map[string]Dispute{},
		prices:          map[string]Price{},
		stock:           map[string]StockItem{},
		reads:           map[string]int{},
		messages:        map[string]Message{},
		keys:            map[string]keyUse{},
		inFlight:        map[string]bool{},
		calls:           map[string]*keyCalls{},
		retrieves:       map[string]int{},
		pages:           map[string]int{},
		webhookURL:      webhookURL,
		emailWebhookURL: emailWebhookURL,
	}
}

// entry is one line of the journal: exactly one field is set.
type entry struct {
	Session *Session     `json:"session,omitempty"`
	Message *Message     `json:"message,omitempty"` // a new one, or one whose last event changed
	Call    *call        `json:"call,omitempty"`
	Event   *storedEvent `json:"event,omitempty"`

	Checkout *Checkout `json:"checkout,omitempty"`

	Refund    *Refund     `json:"refund,omitempty"`
	Dispute   *Dispute    `json:"dispute,omitempty"`
	Endpoints *[]Endpoint `json:"endpoints,omitempty"`
	Price     *Price      `json:"price,omitempty"`
	Stock     *StockItem  `json:"stock,omitempty"`
	Domains   *[]Domain   `json:"domains,omitempty"`
}

type call struct {
	Key    string `json:"key"`
	SHA256 string `json:"sha256"`
}

// apply makes an entry true, when it is written and again when the journal is read back.
func (st *state) apply(e entry) {
	switch {
	case e.Session != nil:
		if _, known := st.sessions[e.Session.ID]; !known {
			st.sessionSeq = append(st.sessionSeq, e.Session.ID)
		}
		sess := *e.Session
		sess.Refunded, sess.Disputed = st.sessions[sess.ID].Refunded, st.sessions[sess.ID].Disputed
		st.sessions[sess.ID] = sess
		st.learn(sess)
		if e.Session.CreateKey != "" {
			st.created[e.Session.CreateKey] = e.Session.ID
		}
	case e.Message != nil:
		m := *e.Message
		if _, known := st.messages[m.ID]; !known {
			st.messageSeq = append(st.messageSeq, m.ID)
			if m.Key != "" {
				st.keys[m.Key] = keyUse{message: m.ID, sha256: m.SHA256, at: m.AcceptedAt}
			}
		}
		st.messages[m.ID] = m
	case e.Call != nil:
		c := st.calls[e.Call.Key]
		if c == nil {
			c = &keyCalls{bodies: map[string]int{}}
			st.calls[e.Call.Key] = c
		}
		c.calls++
		c.bodies[e.Call.SHA256]++
	case e.Event != nil:
		st.events = append(st.events, *e.Event)
	case e.Checkout != nil:
		st.creem.apply(*e.Checkout)
	default:
		st.applyMoney(e)
	}
}

// applyMoney is apply for what happens to a payment afterwards and for the account's settings.
func (st *state) applyMoney(e entry) {
	switch {
	case e.Refund != nil:
		if _, known := st.refunds[e.Refund.ID]; !known {
			st.refundSeq = append(st.refundSeq, e.Refund.ID)
		}
		st.refunds[e.Refund.ID] = *e.Refund
		st.tally(e.Refund.Session)
	case e.Dispute != nil:
		if _, known := st.disputes[e.Dispute.ID]; !known {
			st.disputeSeq = append(st.disputeSeq, e.Dispute.ID)
		}
		st.disputes[e.Dispute.ID] = *e.Dispute
		st.tally(e.Dispute.Session)
	case e.Endpoints != nil:
		st.endpoints = *e.Endpoints
	case e.Price != nil:
		st.prices[e.Price.ID] = *e.Price
	case e.Stock != nil:
		st.stock[e.Stock.ID] = *e.Stock
	case e.Domains != nil:
		st.domains = *e.Domains
	}
}

// learn makes known what a session sells, where nothing is known of it yet.
func (st *state) learn(sess Session) {
	for _, item := range sess.Items {
		if _, known := st.prices[item.Price]; !known && item.Price != "" {
			st.prices[item.Price] = Price{ID: item.Price, Product: item.Product, Amount: item.Amount, Currency: sess.Currency}
		}
		if _, known := st.stock[item.Product]; !known && item.Product != "" {
			st.stock[item.Product] = StockItem{ID: item.Product, Name: item.Name}
		}
	}
}
