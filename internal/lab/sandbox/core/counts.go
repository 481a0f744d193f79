package core

import "context"

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
