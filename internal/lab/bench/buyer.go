package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"handover/internal/lab/harness"
	"handover/internal/lab/sandbox"
	"handover/internal/lab/sandbox/stripe"
)

// environment is the one of the harness's shop.
const environment = "test"

// birds buys one download.
var birds = sandbox.Item{Price: "price_birds", Product: "prod_birds", Name: "Vögel & Co", Amount: 900}

// buyer makes paid sessions at the sandbox and sends their webhooks to the starter itself.
type buyer struct {
	sandbox *sandbox.Sandbox
	webhook string // where payment events go
	http    *http.Client

	bodies map[string][]byte // session → event
	seen   int               // messages that were accepted, as far as they have been read
}

func newBuyer(s *sandbox.Sandbox, webhook string) *buyer {
	// One connection for each order in flight, as a provider would have, and no waiting for one.
	calls := &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 1000}}
	return &buyer{sandbox: s, webhook: webhook, http: calls, bodies: map[string][]byte{}}
}

// prepare makes n paid sessions, with the events about them.
func (b *buyer) prepare(n int) ([]string, error) {
	ids := make([]string, n)
	for i := range ids {
		number := len(b.bodies) + 1
		session, err := b.sandbox.CreateSession(sandbox.Session{
			Items: []sandbox.Item{birds}, Email: fmt.Sprintf("%d@bench.example", number), Name: "Bench Buyer", Currency: "eur",
		})
		if err != nil {
			return nil, err
		}
		event := sandbox.EventRequest{Type: harness.Completed, Session: session.ID}
		if b.bodies[session.ID], err = b.sandbox.EventBody(fmt.Sprintf("evt_bench%d", number), event); err != nil {
			return nil, err
		}
		ids[i] = session.ID
	}
	return ids, nil
}

// pay sends the webhook of a session, and takes nothing but 200 for an answer.
func (b *buyer) pay(ctx context.Context, session string) error {
	body := b.bodies[session]
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.webhook, bytes.NewReader(body))
	if err != nil {
		return err
	}
	stripe.Sign(r.Header, harness.StripeSecret, time.Now(), body)
	response, err := b.http.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body) // so that the connection can be used again
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the webhook was answered %d", response.StatusCode)
	}
	return nil
}

// watch passes on every message that the sandbox accepts, with the sandbox's own time, until the context ends.
func (b *buyer) watch(ctx context.Context, done chan<- finish) error {
	for {
		if _, reached := b.sandbox.Wait(ctx, sandbox.WaitFor{What: "accepted"}, b.seen+1); !reached {
			return nil
		}
		for _, f := range b.accepted() {
			done <- f
		}
	}
}

// accepted lists what has been accepted since the last time, oldest first.
func (b *buyer) accepted() (found []finish) {
	for _, m := range b.sandbox.MessagesSince(b.seen) {
		_, session, _ := strings.Cut(m.Order(), "/")
		found = append(found, finish{id: session, at: m.AcceptedAt})
	}
	b.seen += len(found)
	return found
}

// delivered lists every session of the run; call it when all of them are.
func (b *buyer) delivered() []string { return slices.Sorted(maps.Keys(b.bodies)) }
