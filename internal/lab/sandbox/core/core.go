// Package core is what the fakes of all providers have in common: one lock, a journal that a restart reads back, faults,
// deliveries of webhooks, counts that can be waited for, and the plumbing of the control API.
package core

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Config is for all fakes of a sandbox. Every field has to be set, except for the journal.
type Config struct {
	Journal    string          // a file that lets a restart forget nothing; empty for memory only
	RetryAfter []time.Duration // waits between the deliveries of an event
	Now        func() time.Time
	Logger     *slog.Logger
}

// Core is shared by the fakes. Its lock guards the state of each of them.
type Core struct {
	Config
	client *http.Client

	ctx    context.Context // ends with Close: nothing here outlives it
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at every change
	journal *journal
	kinds   map[string]func([]byte) error // of the journal's entries, by name
	counts  map[string][]func(WaitFor) int

	faults         []*fault
	faultSeq       int
	taken, refused int // webhook deliveries answered 2xx, and all others
}

// New returns a core without any fake. Restore follows when all of them have registered what they keep.
func New(cfg Config) *Core {
	c := &Core{
		Config: cfg, changed: make(chan struct{}), kinds: map[string]func([]byte) error{}, counts: map[string][]func(WaitFor) int{},
		client: &http.Client{
			Timeout: 15 * time.Second,
			// A connection kept from before the receiver's restart would fail an attempt for no reason of the receiver's.
			Transport: &http.Transport{DisableKeepAlives: true},
			// A provider takes a redirect for a failure: it does not follow it.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.Count("fired", func(what WaitFor) int { return c.countFaults(what, func(f *fault) int { return f.Fired }) })
	c.Count("waiting", func(what WaitFor) int { return c.countFaults(what, func(f *fault) int { return f.Waiting }) })
	c.Count("webhooks", func(WaitFor) int { return c.taken })
	return c
}

// Lock takes the lock that guards the state of all fakes.
func (c *Core) Lock() { c.mu.Lock() }

// Unlock gives it back.
func (c *Core) Unlock() { c.mu.Unlock() }

// Close lets go of hanging requests, ends background deliveries, waits for those and closes the journal. It may come
// before the HTTP server's own end, and has to where a server would wait for a request that hangs.
func (c *Core) Close() error {
	c.mu.Lock()
	c.cancel()
	c.mu.Unlock()
	c.work.Wait()

	c.mu.Lock()
	defer c.mu.Unlock()
	return c.journal.close()
}

// Background runs work that Close waits for, and whose context Close ends. After Close it does nothing.
func (c *Core) Background(work func(context.Context)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() == nil {
		c.work.Go(func() { work(c.ctx) })
	}
}

// Changed wakes everybody who waits for a count. The caller holds the lock.
func (c *Core) Changed() {
	close(c.changed)
	c.changed = make(chan struct{})
}
