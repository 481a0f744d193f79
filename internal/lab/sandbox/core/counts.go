package core

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// WaitFor names something that is counted.
//
//	accepted   messages (of Order, or under Key, when given)
//	calls      calls to send (under Key when given)
//	retrieves  reads of a session (of Session when given)
//	fired      requests caught by faults (by Fault when given)
//	waiting    requests that hang or are held by faults (by Fault when given)
//	webhooks   events answered 2xx
type WaitFor struct {
	What    string
	Order   string
	Key     string
	Session string
	Fault   string
}

// WebhookCounts counts attempts to deliver events.
type WebhookCounts struct {
	Taken   int `json:"taken"`   // answered 2xx
	Refused int `json:"refused"` // answered otherwise, or not at all
}

// Webhooks returns the numbers of this moment.
func (c *Core) Webhooks() WebhookCounts {
	c.Lock()
	defer c.Unlock()
	return WebhookCounts{Taken: c.taken, Refused: c.refused}
}

// Count registers something that can be waited for. What several fakes count under one name is added up.
func (c *Core) Count(name string, count func(WaitFor) int) {
	c.counts[name] = append(c.counts[name], count)
}

// Wait returns as soon as the count is at least n, or when the context ends; with the count it saw last.
func (c *Core) Wait(ctx context.Context, what WaitFor, n int) (count int, reached bool) {
	for {
		c.Lock()
		count = 0
		for _, one := range c.counts[what.What] {
			count += one(what)
		}
		changed := c.changed
		c.Unlock()
		if count >= n {
			return count, true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return count, false
		case <-c.ctx.Done():
			return count, false
		}
	}
}

// controlWait answers 200 when the count is reached and 504 when the time is up first.
func (c *Core) controlWait(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	what := WaitFor{What: q.Get("what"), Order: q.Get("order"), Key: q.Get("key"), Session: q.Get("session"), Fault: q.Get("fault")}
	if len(c.counts[what.What]) == 0 {
		ControlError(w, fmt.Errorf("what: one of %s", strings.Join(slices.Sorted(maps.Keys(c.counts)), ", ")))
		return
	}
	n, timeout := 1, 10*time.Second
	var errN, errTimeout error
	if text := q.Get("n"); text != "" {
		n, errN = strconv.Atoi(text)
	}
	if text := q.Get("timeout"); text != "" {
		timeout, errTimeout = time.ParseDuration(text)
	}
	if err := errors.Join(errN, errTimeout); err != nil {
		ControlError(w, err)
		return
	}

	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	count, reached := c.Wait(ctx, what, n)
	status := http.StatusOK
	if !reached {
		status = http.StatusGatewayTimeout
	}
	WriteJSON(w, status, map[string]any{"what": what.What, "n": count, "reached": reached})
}
