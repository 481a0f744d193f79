package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"handover/internal/lab/sandbox"
	"handover/internal/order"
)

// The buyer of all sessions that do not say another one. Nothing of it may appear in a history or a log.
const (
	BuyerEmail = "Ada.Lovelace+books@buyer.test"
	BuyerName  = "Ada Lovelace"
)

// Completed is the event that most orders begin with.
const Completed = "checkout.session.completed"

// Checkout makes a paid session of the guide, changed as the test wants, without telling anybody.
func (s *Shop) Checkout(change func(*sandbox.Session)) string {
	s.t.Helper()
	session := sandbox.Session{
		Email: BuyerEmail, Name: BuyerName, Amount: 1900, Currency: "eur",
		Items: []sandbox.Item{{Price: "price_guide", Product: "prod_guide", Name: "The Guide", Quantity: 1}},
	}
	if change != nil {
		change(&session)
	}
	made, err := s.Judge.CreateSession(session)
	s.must(err)
	return made.ID
}

// Tell delivers an event of a session once, and returns the status it was answered with.
func (s *Shop) Tell(session, kind, eventID string) int {
	s.t.Helper()
	return s.Deliver(sandbox.EventRequest{Type: kind, Session: session, EventID: eventID}).Statuses[0]
}

// Deliver delivers an event.
func (s *Shop) Deliver(event sandbox.EventRequest) sandbox.Delivery {
	s.t.Helper()
	d, err := s.Judge.DeliverEvent(s.t.Context(), event)
	s.must(err)
	return d
}

// Buy makes a paid session and tells the shop.
func (s *Shop) Buy(change func(*sandbox.Session)) string {
	s.t.Helper()
	session := s.Checkout(change)
	if status := s.Tell(session, Completed, ""); status != 200 {
		s.t.Fatalf("the webhook was answered %d", status)
	}
	return session
}

// AwaitAccepted waits until the sandbox has accepted n messages of an order.
func (s *Shop) AwaitAccepted(session string, n int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 150*time.Second)
	defer cancel()
	if got, reached := s.Judge.Wait(ctx, sandbox.WaitFor{What: "accepted", Order: "test/" + session}, n); !reached {
		s.t.Fatalf("the sandbox accepted %d messages of %s, want %d", got, session, n)
	}
}

// AwaitFault waits until a fault has fired n times.
func (s *Shop) AwaitFault(what string, f sandbox.Fault, n int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 150*time.Second)
	defer cancel()
	if got, reached := s.Judge.Wait(ctx, sandbox.WaitFor{What: what, Fault: f.ID}, n); !reached {
		s.t.Fatalf("%d requests %s, want %d", got, what, n)
	}
}

// Fault adds a fault to the sandbox.
func (s *Shop) Fault(f sandbox.Fault) sandbox.Fault {
	s.t.Helper()
	added, err := s.Judge.AddFault(f)
	s.must(err)
	return added
}

// EmailKey is the idempotency key of a generation of an order's email.
func EmailKey(session string, generation int) string {
	return fmt.Sprintf("handover/test/%s/email/%d", session, generation)
}

// SettledOnce fails the test unless the order is delivered with exactly n accepted messages, each under its own key with
// one body however often it was sent.
func (s *Shop) SettledOnce(session string, n int) {
	s.t.Helper()
	s.AwaitState(session, order.CustomerReady)
	counts := s.Judge.Counts().Emails
	if got := counts.ByOrder["test/"+session]; got != n {
		s.t.Errorf("%s: %d messages accepted, want %d", session, got, n)
	}
	for generation := 1; generation <= n; generation++ {
		key := counts.ByKey[EmailKey(session, generation)]
		if key.Accepted != 1 || key.Bodies != 1 {
			s.t.Errorf("%s generation %d: accepted %d times with %d different bodies, want once with one", session, generation, key.Accepted, key.Bodies)
		}
	}
}

// Message is the newest message the sandbox accepted for an order.
func (s *Shop) Message(session string) sandbox.Message {
	s.t.Helper()
	var newest sandbox.Message
	for _, m := range s.Judge.Messages() {
		if strings.HasPrefix(m.Key, "handover/test/"+session+"/") {
			newest = m
		}
	}
	if newest.ID == "" {
		s.t.Fatalf("no message of %s", session)
	}
	return newest
}

var (
	linkPattern    = regexp.MustCompile(`https?://[^\s"<>]+/d/([A-Za-z0-9_-]{43})`)
	licensePattern = regexp.MustCompile(`\b[0-9A-HJKMNP-TV-Z]{5}(?:-[0-9A-HJKMNP-TV-Z]{5}){4}\b`)
)

// Link is the link in a message, and its token.
func (s *Shop) Link(m sandbox.Message) (link, token string) {
	s.t.Helper()
	found := linkPattern.FindStringSubmatch(m.Text)
	if found == nil {
		s.t.Fatal("there is no link in the message")
	}
	return found[0], found[1]
}

// Licenses are the licence keys in a text.
func Licenses(text string) []string { return licensePattern.FindAllString(text, -1) }

// Command runs the starter's command line in an operator's shell, which knows nothing of where the server listens, and
// returns what it printed, apart, and its exit code.
func (s *Shop) Command(args ...string) (out, errs string, code int) {
	s.t.Helper()
	command := exec.CommandContext(s.t.Context(), Shipped(s.t, "starter"), args...)
	command.Env, command.Dir = slices.DeleteFunc(s.environment(s.AdminURL), func(v string) bool {
		return strings.HasPrefix(v, "ADMIN_ADDR=") || strings.HasPrefix(v, "LISTEN_ADDR=")
	}), s.dir
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if command.ProcessState == nil {
		s.t.Fatal(err)
	}
	return stdout.String(), stderr.String(), command.ProcessState.ExitCode()
}

// WorkflowID is the ID of an order's workflow.
func WorkflowID(session string) string { return "order:test:" + session }

// History is the whole history of an order's newest run.
func (s *Shop) History(session string) *historypb.History {
	s.t.Helper()
	c := s.Temporal()
	h := &historypb.History{}
	events := c.GetWorkflowHistory(s.t.Context(), WorkflowID(session), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
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
