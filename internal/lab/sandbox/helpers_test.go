package sandbox_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"handover/internal/lab/sandbox"
)

var products = []sandbox.Product{
	{Price: "price_guide", Product: "prod_guide", Name: "The Guide", Amount: 1200, Currency: "eur"},
	{Price: "price_maps", Product: "prod_maps", Name: "The Maps", Amount: 500, Currency: "eur"},
}

// shop is a running sandbox and its address.
type shop struct {
	*sandbox.Sandbox
	Base string
}

// start serves a sandbox for the test's duration. Closing the sandbox first lets go of requests that hang.
func start(t *testing.T, cfg sandbox.Config) shop {
	t.Helper()
	if cfg.Products == nil {
		cfg.Products = products
	}
	s, err := sandbox.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	t.Cleanup(func() { s.Close() })
	return shop{s, server.URL}
}

// await fails the test when the count stays below n.
func (c shop) await(t *testing.T, what sandbox.WaitFor, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	if got, reached := c.Wait(ctx, what, n); !reached {
		t.Fatalf("%+v: %d, want %d", what, got, n)
	}
}

func fields(t *testing.T, named map[string]any) []byte {
	t.Helper()
	return made(json.Marshal(named))(t)
}

// clock is a time that only the test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

type answer struct {
	status int
	header http.Header
	body   string
}

// do makes one request on a connection of its own: net/http would repeat a read on a kept one.
func do(t *testing.T, method, url, body string, header map[string]string) (answer, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(text)}, err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func made[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		must(t, err)
		return v
	}
}

const wait = 10 * time.Second

func serve(t *testing.T, s *sandbox.Sandbox) string {
	t.Helper()
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return server.URL
}

// receiver is a webhook endpoint that answers as the test says and passes on what it got.
type receiver struct {
	url string
	got chan received
}

type received struct {
	header http.Header
	body   []byte
}

func receive(t *testing.T, status func(n int) int) receiver {
	t.Helper()
	r := receiver{got: make(chan received, 100)}
	var mu sync.Mutex
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		mu.Lock()
		n++
		answer := status(n)
		mu.Unlock()
		r.got <- received{req.Header, body}
		w.WriteHeader(answer)
	}))
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

func (r receiver) next(t *testing.T) received {
	t.Helper()
	select {
	case got := <-r.got:
		return got
	case <-time.After(wait):
		t.Fatal("no webhook came")
		return received{}
	}
}

func always(status int) func(int) int { return func(int) int { return status } }
