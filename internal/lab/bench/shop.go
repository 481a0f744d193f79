package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"handover/internal/lab/sandbox"
	"handover/internal/providerhttp"
)

// price is sold by the local stack's shop; what it buys is one download.
const price = "price_voegel"

// mailDomain takes the buyers' addresses, whose first part is the order's number in this run.
const mailDomain = "@bench.example"

// shop buys: it makes paid sessions at the sandbox and sends their webhooks to the starter itself.
type shop struct {
	sandbox sandbox.Client
	base    string // the sandbox's address
	webhook string
	key     string // of the payment API
	mailKey string // of the email API
	secret  string // signs the webhooks
	http    *http.Client

	made    int
	bodies  map[string][]byte // session → event
	mu      sync.Mutex        // guards byBuyer
	byBuyer map[string]string // the buyer's address → session

	seen int    // messages that were accepted, as far as they have been read
	last string // the newest of them
}

// prepare makes n paid sessions, with the events that tell of them.
func (s *shop) prepare(ctx context.Context, n int) ([]string, error) {
	ids := make([]string, n)
	for i := range ids {
		s.made++
		buyer := strconv.Itoa(s.made) + mailDomain
		made, err := s.sandbox.CreateSession(ctx, sandbox.Session{Items: []sandbox.Item{{Price: price}}, Email: buyer, Name: "Bench Buyer"})
		if err != nil {
			return nil, err
		}
		session, err := s.get(ctx, "/v1/checkout/sessions/"+made.ID)
		if err != nil {
			return nil, err
		}
		event := map[string]any{
			"id": fmt.Sprintf("evt_bench%d", s.made), "object": "event", "type": "checkout.session.completed", "livemode": false,
			"created": time.Now().Unix(), "pending_webhooks": 1, "data": map[string]any{"object": json.RawMessage(session)},
		}
		if s.bodies[made.ID], err = json.MarshalIndent(event, "", "  "); err != nil {
			return nil, err
		}
		ids[i] = made.ID
		s.mu.Lock()
		s.byBuyer[buyer] = made.ID
		s.mu.Unlock()
	}
	return ids, nil
}

// pay sends the webhook of a session, signed as https://docs.stripe.com/webhooks#verify-manually has it.
func (s *shop) pay(ctx context.Context, session string) error {
	body := s.bodies[session]
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.webhook, bytes.NewReader(body))
	if err != nil {
		return err
	}
	t := strconv.FormatInt(time.Now().Unix(), 10)
	r.Header.Set("Stripe-Signature", "t="+t+",v1="+hex.EncodeToString(providerhttp.SHA256([]byte(s.secret), body, t)))
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	_, err = s.do(r)
	return err
}

// watch tells of every message that the sandbox accepts, with the sandbox's own time, until the context ends. It waits
// for the count and lists what is new, which costs the sandbox little however many are waited for.
func (s *shop) watch(ctx context.Context, done chan<- finish) error {
	for {
		err := s.sandbox.Wait(ctx, sandbox.WaitFor{What: "accepted"}, s.seen+1, patience)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			continue // nothing was accepted for a while: the block says so
		}
		found, err := s.accepted(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		for _, f := range found {
			done <- f
		}
	}
}

// accepted lists what has been accepted since the last time, oldest first.
func (s *shop) accepted(ctx context.Context) ([]finish, error) {
	q := url.Values{"limit": {"100"}}
	if s.last != "" {
		q.Set("before", s.last)
	}
	text, err := s.get(ctx, "/resend/emails?"+q.Encode())
	if err != nil {
		return nil, err
	}
	var list struct {
		Data []struct {
			ID string   `json:"id"`
			To []string `json:"to"`
			At string   `json:"created_at"`
		} `json:"data"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	var found []finish
	for _, m := range slices.Backward(list.Data) {
		at, err := time.Parse("2006-01-02T15:04:05.999999-07:00", m.At)
		if err != nil || len(m.To) != 1 {
			return nil, fmt.Errorf("the sandbox lists message %s without its time or its buyer", m.ID)
		}
		s.mu.Lock()
		found = append(found, finish{id: s.byBuyer[m.To[0]], at: at})
		s.mu.Unlock()
		s.last = m.ID
		s.seen++
	}
	return found, nil
}

func (s *shop) get(ctx context.Context, path string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+path, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	if strings.HasPrefix(path, "/resend/") {
		r.Header.Set("Authorization", "Bearer "+s.mailKey)
	}
	return s.do(r)
}

// do takes nothing but 200 for an answer.
func (s *shop) do(r *http.Request) ([]byte, error) {
	answer, err := s.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s was answered %d", r.Method, r.URL.Path, answer.StatusCode)
	}
	return text, err
}

// delivered lists every session of the run; call it when all of them are.
func (s *shop) delivered() []string { return slices.Sorted(maps.Keys(s.bodies)) }
