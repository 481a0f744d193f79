// Package paymenttest holds what every payment provider has to do, as tests that run over each of them against its
// stand-in: the signature, the events, what is proved of a session, errors by class, and what became of the money. A
// provider's own tests are about its own words and shapes; these are about the contract.
package paymenttest

import (
	"net/http"
	"testing"
	"time"

	"handover/internal/order"
	"handover/internal/payment"
)

// Subject is a provider under test. Its functions are called from several tests at once.
type Subject struct {
	// New opens the provider with settings as an environment's configuration has them.
	New func(Settings) (payment.Provider, error)
	// Secrets are two signing secrets as the provider makes them.
	Secrets [2]string
	// Sign makes the headers that the provider sends with a body.
	Sign func(secret string, body []byte, at time.Time) http.Header
	// Timestamped says that the signature covers a time, and is stale when that is more than 300 s off.
	Timestamped bool

	// Event makes a body as the provider sends it. What is empty in the event is empty in the body.
	Event func(Event) []byte
	// IDField and TypeField are the names of the body's fields for the event's id and type.
	IDField, TypeField string
	// Session and Ref make well-formed ids of nothing that exists.
	Session func(order.Mode) string
	Ref     func() string

	// World sets up a stand-in of the provider's for one test, in which nothing has happened yet.
	World func(*testing.T) World
	// Words are the names of the fields in the provider's answers whose values say whether something was paid.
	Words []string
	Can   Abilities
}

// Abilities are what a provider has and another has not.
type Abilities struct {
	Lines          bool // a session may have more than one line item
	NamesSessions  bool // its list of sales names their sessions, and SessionOf finds one by its reference
	PendingRefunds bool // it tells of a refund that is on its way
	Inquiries      bool // it tells of inquiries before a dispute, and how a dispute ended
}

// Settings are what a provider is opened with.
type Settings struct {
	Mode        order.Mode
	Secrets     []string
	APIURL      string
	CallTimeout time.Duration // the provider's default when 0
}

// Event is what a webhook's body has to say.
type Event struct {
	ID      string
	Type    string            // the provider's word; that of Kind when empty
	Kind    payment.EventKind // checkout: the session was completed; refund, dispute: one was opened; other: anything else
	Mode    order.Mode
	Session string // of a checkout event
	Ref     string
	NoType  bool // the type is empty
}

// World is a stand-in for the provider's API.
type World interface {
	APIURL() string
	// Sell makes a session.
	Sell(*testing.T, Sale) Sold
	// Refund gives money of a session back, and returns what Settle takes.
	Refund(t *testing.T, session string, amount int64, status payment.RefundStatus) (refund string)
	// Settle changes the state of a refund.
	Settle(t *testing.T, session, refund string, status payment.RefundStatus)
	// Dispute opens a dispute of a session's payment, or lets it come to another state.
	Dispute(t *testing.T, session string, status order.Dispute)
	// Refuse answers every call from now on with the status, and asks to wait where wait is not 0.
	Refuse(t *testing.T, status int, wait time.Duration)
	// Hang answers no call from now on.
	Hang(*testing.T)
}

// Sale is a session to be made. It is sold in euros.
type Sale struct {
	Status payment.SessionStatus
	Kind   order.SessionKind // payment when empty
	Mode   order.Mode        // test when empty
	Lines  int               // 1 when 0
	Units  int64             // of each line; 1 when 0
	Price  int64             // of one unit, in minor units; nothing for a free sale
	Buyer  Buyer
	At     time.Time // creation; now when zero
}

// Buyer is who bought.
type Buyer struct{ Email, Name string }

// Sold is a session that was made.
type Sold struct {
	Session  string
	Ref      string   // empty where nothing was paid
	Products []string // the id of each line's product
}

// Run holds the subject against the contract.
func Run(t *testing.T, s Subject) {
	t.Run("signature", func(t *testing.T) { t.Parallel(); s.signature(t) })
	t.Run("events", func(t *testing.T) { t.Parallel(); s.events(t) })
	t.Run("session", func(t *testing.T) { t.Parallel(); s.sessions(t) })
	t.Run("errors", func(t *testing.T) { t.Parallel(); s.failures(t) })
	t.Run("books", func(t *testing.T) { t.Parallel(); s.books(t) })
}

// open opens the provider in test mode, with the first secret.
func (s Subject) open(t *testing.T, change func(*Settings)) payment.Provider {
	t.Helper()
	settings := Settings{Mode: order.Test, Secrets: s.Secrets[:1], APIURL: "http://127.0.0.1:1"}
	if change != nil {
		change(&settings)
	}
	p, err := s.New(settings)
	if err != nil {
		t.Fatalf("settings that are right were refused: %v", err)
	}
	return p
}

// at opens the provider against a stand-in.
func (s Subject) at(t *testing.T, url string) payment.Provider {
	t.Helper()
	return s.open(t, func(c *Settings) { c.APIURL = url })
}
