package core

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"handover/internal/lab/await"
)

// Webhook is one event on its way to one address. Every attempt has a signature of its own, under the event's own id.
type Webhook struct {
	URL  string
	Off  bool // nothing is sent
	Body []byte
	Sign func(h http.Header, at time.Time, body []byte)
}

// Delivery says how the first attempts of an event went.
type Delivery struct {
	EventID  string `json:"event_id"`
	Statuses []int  `json:"statuses"` // of each copy; 0 for no answer
}

// Taken says that a delivery was answered 2xx.
func Taken(status int) bool { return status >= 200 && status < 300 }

// Deliver makes the first attempts of n copies at the same moment and returns their statuses, 0 for no answer. With
// retry, the copies that were not taken are tried again in the background.
func (c *Core) Deliver(ctx context.Context, hook Webhook, copies int, retry bool) []int {
	if hook.Off {
		return nil
	}
	statuses := make([]int, max(1, copies))
	start := make(chan struct{})
	var attempts sync.WaitGroup
	for i := range statuses {
		attempts.Go(func() {
			<-start
			statuses[i] = c.attempt(ctx, hook)
		})
	}
	close(start)
	attempts.Wait()
	for _, status := range statuses {
		if retry && !Taken(status) {
			c.Background(func(ctx context.Context) { c.redeliver(ctx, hook) })
		}
	}
	return statuses
}

// DeliverLater does the same without keeping the caller waiting.
func (c *Core) DeliverLater(hook Webhook, copies int) {
	c.Background(func(ctx context.Context) { c.Deliver(ctx, hook, copies, true) })
}

func (c *Core) redeliver(ctx context.Context, hook Webhook) {
	for _, wait := range c.RetryAfter {
		if !await.Pause(ctx, wait) {
			return
		}
		if Taken(c.attempt(ctx, hook)) {
			return
		}
	}
	c.Logger.Warn("webhook not taken, no more retries")
}

func (c *Core) attempt(ctx context.Context, hook Webhook) (status int) {
	defer func() {
		c.Lock()
		defer c.Unlock()
		if Taken(status) {
			c.taken++
		} else {
			c.refused++
		}
		c.Changed()
	}()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, hook.URL, bytes.NewReader(hook.Body))
	if err != nil {
		return 0
	}
	hook.Sign(req.Header, c.Now(), hook.Body)
	resp, err := c.client.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20)) // so that the connection can be used again
	return resp.StatusCode
}
