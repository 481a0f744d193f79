package crash

import (
	"context"
	"encoding/json"
	"strings"

	"go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"handover/internal/lab/await"
	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

// The buyer of all sessions that do not say another one. Nothing of it may appear in a history or a log.
const (
	BuyerEmail = "Ada.Lovelace+books@buyer.test"
	BuyerName  = "Ada Lovelace"
)

// Checkout makes a paid session of the guide, changed as the test wants, and no webhook reports it.
func (s *Shop) Checkout(change func(*sandbox.Session)) string {
	s.t.Helper()
	session := sandbox.Session{
		Email: BuyerEmail, Name: BuyerName, Amount: 1900, Currency: "eur",
		Items: []sandbox.Item{{Price: "price_guide", Product: "prod_guide", Name: "The Guide", Quantity: 1}},
	}
	if change != nil {
		change(&session)
	}
	made, err := s.Sandbox.CreateSession(session)
	s.must(err)
	return made.ID
}

// Report delivers an event of a session once, and returns the status it was answered with.
func (s *Shop) Report(session, kind, eventID string) int {
	s.t.Helper()
	return s.Deliver(sandbox.EventRequest{Type: kind, Session: session, EventID: eventID}).Statuses[0]
}

// Deliver delivers an event.
func (s *Shop) Deliver(event sandbox.EventRequest) sandbox.Delivery {
	s.t.Helper()
	d, err := s.Sandbox.DeliverEvent(s.t.Context(), event)
	s.must(err)
	return d
}

// Buy makes a paid session and reports it to the shop.
func (s *Shop) Buy(change func(*sandbox.Session)) string {
	s.t.Helper()
	session := s.Checkout(change)
	if status := s.Report(session, harness.Completed, ""); status != 200 {
		s.t.Fatalf("the webhook was answered %d", status)
	}
	return session
}

// AwaitAccepted waits until the sandbox has accepted n messages of an order.
func (s *Shop) AwaitAccepted(session string, n int) {
	s.t.Helper()
	s.awaitCount(sandbox.WaitFor{What: "accepted", Order: "test/" + session}, n)
}

// AwaitFault waits until a fault has fired n times, or n requests wait in it.
func (s *Shop) AwaitFault(what string, f sandbox.Fault, n int) {
	s.t.Helper()
	s.awaitCount(sandbox.WaitFor{What: what, Fault: f.ID}, n)
}

func (s *Shop) awaitCount(what sandbox.WaitFor, n int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), await.Limit)
	defer cancel()
	if got, reached := s.Sandbox.Wait(ctx, what, n); !reached {
		s.t.Fatalf("the sandbox counts %d of %+v, want %d", got, what, n)
	}
}

// Fault adds a fault to the sandbox.
func (s *Shop) Fault(f sandbox.Fault) sandbox.Fault {
	s.t.Helper()
	added, err := s.Sandbox.AddFault(f)
	s.must(err)
	return added
}

// SettledOnce fails the test unless the order is delivered with exactly n accepted messages, each under its own key with
// one body however often it was sent.
func (s *Shop) SettledOnce(session string, n int) {
	s.t.Helper()
	s.AwaitState(session, order.CustomerReady)
	counts := s.Sandbox.Counts().Emails
	if got := counts.ByOrder["test/"+session]; got != n {
		s.t.Errorf("%s: %d messages accepted, want %d", session, got, n)
	}
	for generation := 1; generation <= n; generation++ {
		key := counts.ByKey[harness.EmailKey(session, generation)]
		if key.Accepted != 1 || key.Bodies != 1 {
			s.t.Errorf("%s generation %d: accepted %d times with %d different bodies, want once with one", session, generation, key.Accepted, key.Bodies)
		}
	}
}

// Message is the newest message the sandbox accepted for an order.
func (s *Shop) Message(session string) sandbox.Message {
	s.t.Helper()
	var newest sandbox.Message
	for _, m := range s.Sandbox.Messages() {
		if strings.HasPrefix(m.Key, "handover/test/"+session+"/") {
			newest = m
		}
	}
	if newest.ID == "" {
		s.t.Fatalf("no message of %s", session)
	}
	return newest
}

// Link is the link in a message, and its token.
func (s *Shop) Link(m sandbox.Message) (link, token string) {
	s.t.Helper()
	if link, token = harness.Link(m.Text); link == "" {
		s.t.Fatal("there is no link in the message")
	}
	return link, token
}

// History is the whole history of an order's newest run.
func (s *Shop) History(session string) *historypb.History {
	s.t.Helper()
	h := &historypb.History{}
	events := s.Temporal.GetWorkflowHistory(s.t.Context(), harness.WorkflowID(session), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		s.must(err)
		h.Events = append(h.Events, event)
	}
	return h
}

// HistoryText is the history as JSON with every payload decoded, as a person who looks for something would read it.
func (s *Shop) HistoryText(session string) string {
	s.t.Helper()
	encoded, err := protojson.Marshal(s.History(session))
	s.must(err)
	var plain any
	s.must(json.Unmarshal(encoded, &plain))
	var b strings.Builder
	decodeInto(&b, plain)
	return b.String()
}
