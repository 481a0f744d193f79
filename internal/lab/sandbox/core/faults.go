package core

import (
	"context"
	"errors"
	"io"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Fault is a misbehaviour that a test orders.
//
// Modes:
//
//	refuse      answer with Status and Name (or Body) without doing it
//	rate_limit  answer 429 with its headers without doing it
//	hang        never answer and do nothing, until the client goes away or the fault is released
//	late        do it, answer after DelayMS
//	drop        do it, then cut the connection without an answer
//	hold        do it, then keep the answer until the fault is released
//	slow        work on it for DelayMS, or until released when 0, then do it and answer: meanwhile its key is in flight
//
// Beware of testing drop and hang with reads: net/http repeats a GET by itself when a kept-alive connection breaks.
type Fault struct {
	ID         string `json:"id"`     // given by the sandbox
	Target     string `json:"target"` // resend.send, stripe.session, stripe.line_items, …; resend.* and * for several
	Mode       string `json:"mode"`
	Status     int    `json:"status"`      // refuse: 500 when 0; 200 with a Body is a success that cannot be read
	Name       string `json:"name"`        // refuse: Resend's error name, Stripe's error code
	Body       string `json:"body"`        // refuse: the whole answer
	DelayMS    int    `json:"delay_ms"`    // late and slow
	RetryAfter int    `json:"retry_after"` // seconds, as a header
	Times      int    `json:"times"`       // how many requests it catches; 0 until cleared
	Match      string `json:"match"`       // only requests with this in their path or idempotency key
	Hold       bool   `json:"hold"`        // with late and drop: keep the answer until released; alone it is mode hold

	Fired   int `json:"fired"`   // requests caught so far
	Waiting int `json:"waiting"` // requests that hang or are held now
}

type fault struct {
	Fault
	release chan struct{} // closed to let go of everything that waits
}

var faultModes = []string{"refuse", "rate_limit", "hang", "late", "drop", "hold", "slow"}

// AddFault puts a fault behind those already there; the first that fits a request catches it.
func (c *Core) AddFault(f Fault) (Fault, error) {
	switch {
	case f.Hold && f.Mode == "":
		f.Mode = "hold"
	case f.Mode == "hold":
		f.Hold = true
	}
	if !slices.Contains(faultModes, f.Mode) {
		return f, OneOf("mode", faultModes)
	}
	if _, err := path.Match(f.Target, ""); err != nil || f.Target == "" {
		return f, errors.New("target: for example resend.send, stripe.session, resend.*")
	}
	c.Lock()
	defer c.Unlock()
	c.faultSeq++
	f.ID, f.Fired, f.Waiting = "fault_"+strconv.Itoa(c.faultSeq), 0, 0
	c.faults = append(c.faults, &fault{Fault: f, release: make(chan struct{})})
	return f, nil
}

// Faults lists the faults with how often each caught a request.
func (c *Core) Faults() []Fault {
	c.Lock()
	defer c.Unlock()
	list := make([]Fault, len(c.faults))
	for i, f := range c.faults {
		list[i] = f.Fault
	}
	return list
}

// Release lets every waiting request go on; the faults stay and catch later ones.
func (c *Core) Release() {
	c.Lock()
	defer c.Unlock()
	c.letGo()
}

func (c *Core) letGo() {
	for _, f := range c.faults {
		close(f.release)
		f.release = make(chan struct{})
	}
}

// ClearFaults removes all faults and lets every waiting request go on.
func (c *Core) ClearFaults() {
	c.Lock()
	defer c.Unlock()
	c.letGo()
	c.faults = nil
}

// takeFault finds the first fault that fits and counts it. The release channel is the one of this moment.
func (c *Core) takeFault(target string, r *http.Request) (f *fault, now Fault, release <-chan struct{}) {
	c.Lock()
	defer c.Unlock()
	for _, f := range c.faults {
		fits, _ := path.Match(f.Target, target)
		matches := strings.Contains(r.URL.Path, f.Match) || strings.Contains(r.Header.Get("Idempotency-Key"), f.Match)
		if fits && matches && (f.Times == 0 || f.Fired < f.Times) {
			f.Fired++
			c.Changed()
			return f, f.Fault, f.release
		}
	}
	return nil, Fault{}, nil
}

// Guard is how faults come before one of a provider's calls.
type Guard struct {
	Target string
	// Refuse writes a refusal in the provider's shape.
	Refuse func(http.ResponseWriter, Fault)
	// PausesItself is a call that asks PauseOf when a slow fault has it wait, because it takes something on before.
	PausesItself bool
}

// Faulty lets the faults for a target come before a provider's answer.
func (c *Core) Faulty(g Guard, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f, now, release := c.takeFault(g.Target, r)
		if f == nil {
			next(w, r)
			return
		}
		wait := func(after time.Duration) { c.waitFor(r.Context(), f, release, after) }
		delay := time.Duration(now.DelayMS) * time.Millisecond
		switch now.Mode {
		case "refuse", "rate_limit":
			refuseWith(w, now, g.Refuse)
			return
		case "hang":
			_, _ = io.Copy(io.Discard, r.Body) // the server notices a client that leaves only once the body is read
			wait(0)
			panic(http.ErrAbortHandler)
		case "slow":
			ctx := context.WithValue(r.Context(), pauseKey{}, func() { wait(delay) })
			if !g.PausesItself {
				PauseOf(ctx)()
			}
			next(w, r.WithContext(ctx))
			return
		}

		response := &recording{header: w.Header().Clone()}
		next(response, r)
		if now.Mode == "late" && delay > 0 {
			wait(delay)
		}
		if now.Hold {
			wait(0)
		}
		if now.Mode == "drop" {
			panic(http.ErrAbortHandler)
		}
		response.replay(w)
	}
}

func refuseWith(w http.ResponseWriter, f Fault, refuse func(http.ResponseWriter, Fault)) {
	if f.Mode == "rate_limit" && f.RetryAfter == 0 {
		f.RetryAfter = 1
	}
	if f.RetryAfter > 0 {
		w.Header().Set("retry-after", strconv.Itoa(f.RetryAfter))
	}
	if f.Mode == "rate_limit" {
		w.Header().Set("ratelimit-limit", "2")
		w.Header().Set("ratelimit-remaining", "0")
		w.Header().Set("ratelimit-reset", strconv.Itoa(f.RetryAfter))
	}
	if f.Body == "" {
		refuse(w, f)
		return
	}
	if strings.HasPrefix(f.Body, "{") {
		w.Header().Set("Content-Type", "application/json")
	}
	status := http.StatusInternalServerError
	if f.Status != 0 {
		status = f.Status
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(f.Body))
}

// waitFor waits for the release, the client's leaving, the sandbox's end, or (when positive) a time.
func (c *Core) waitFor(ctx context.Context, f *fault, release <-chan struct{}, after time.Duration) {
	c.countWaiting(f, 1)
	defer c.countWaiting(f, -1)
	var timer <-chan time.Time
	if after > 0 {
		timer = time.After(after)
	}
	select {
	case <-release:
	case <-ctx.Done():
	case <-c.ctx.Done():
	case <-timer:
	}
}

// countFaults adds up a number of all faults, or of the one that is named.
func (c *Core) countFaults(what WaitFor, number func(*fault) int) (n int) {
	for _, f := range c.faults {
		if what.Fault == "" || f.ID == what.Fault {
			n += number(f)
		}
	}
	return n
}

func (c *Core) countWaiting(f *fault, by int) {
	c.Lock()
	defer c.Unlock()
	f.Waiting += by
	c.Changed()
}

type pauseKey struct{}

// PauseOf is what a handler does between taking a request on and doing it: nothing, unless a slow fault says otherwise.
func PauseOf(ctx context.Context) func() {
	if pause, slow := ctx.Value(pauseKey{}).(func()); slow {
		return pause
	}
	return func() {}
}
