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

	faults                      []*fault
	faultSeq                    int
	taken, refused              int // webhook deliveries answered 2xx, and all others
	webhookURL, emailWebhookURL string
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
		st.sessions[e.Session.ID] = *e.Session
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
	}
}
