package sandbox

import (
	"context"
	"maps"
	"slices"
)

// Counts is what the sandbox did.
type Counts struct {
	Stripe   StripeCounts  `json:"stripe"`
	Creem    CreemCounts   `json:"creem"`
	Emails   EmailCounts   `json:"emails"`
	Webhooks WebhookCounts `json:"webhooks"`
}

// StripeCounts counts the reads that arrived, by session.
type StripeCounts struct {
	Retrieves map[string]int `json:"retrieves"`
	LineItems map[string]int `json:"line_items"` // pages
	Lists     int            `json:"lists"`
	Reads     map[string]int `json:"reads,omitempty"` // all others, by a fault's target: stripe.refunds, …
}

// EmailCounts counts messages that were accepted, and the calls behind them.
type EmailCounts struct {
	Accepted int                 `json:"accepted"`
	ByOrder  map[string]int      `json:"by_order"` // by the tags, ENVIRONMENT/SESSION
	ByKey    map[string]KeyCount `json:"by_key"`
}

// KeyCount is what happened under one idempotency key. The key "" stands for calls without one.
type KeyCount struct {
	Calls    int      `json:"calls"`    // requests that arrived, whatever became of them
	Accepted int      `json:"accepted"` // messages; more than 1 only when the key was used again after it lapsed
	Bodies   int      `json:"bodies"`   // distinct request bodies
	SHA256   []string `json:"sha256"`   // of those, sorted
}

// WebhookCounts counts attempts to deliver events.
type WebhookCounts struct {
	Taken   int `json:"taken"`   // answered 2xx
	Refused int `json:"refused"` // answered otherwise, or not at all
}

// Counts returns the numbers of this moment.
func (s *Sandbox) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := Counts{
		Stripe:   StripeCounts{Retrieves: maps.Clone(s.retrieves), LineItems: maps.Clone(s.pages), Lists: s.lists, Reads: maps.Clone(s.reads)},
		Emails:   EmailCounts{Accepted: len(s.messageSeq), ByOrder: map[string]int{}, ByKey: map[string]KeyCount{}},
		Creem:    s.creem.counts.clone(),
		Webhooks: WebhookCounts{Taken: s.taken, Refused: s.refused},
	}
	for key, k := range s.calls {
		c.Emails.ByKey[key] = KeyCount{
			Calls: k.calls, Bodies: len(k.bodies), SHA256: slices.Sorted(maps.Keys(k.bodies)),
		}
	}
	for _, m := range s.messages {
		if o := m.Order(); o != "" {
			c.Emails.ByOrder[o]++
		}
		k := c.Emails.ByKey[m.Key]
		k.Accepted++
		c.Emails.ByKey[m.Key] = k
	}
	return c
}

// Messages returns all accepted messages, oldest first.
func (s *Sandbox) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Message, len(s.messageSeq))
	for i, id := range s.messageSeq {
		list[i] = s.messages[id]
	}
	return list
}

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

// Wait returns as soon as the count is at least n, or when the context ends; with the count it saw last.
func (s *Sandbox) Wait(ctx context.Context, what WaitFor, n int) (count int, reached bool) {
	for {
		s.mu.Lock()
		count, changed := s.count(what), s.changed
		s.mu.Unlock()
		if count >= n {
			return count, true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return count, false
		case <-s.ctx.Done():
			return count, false
		}
	}
}

var countable = []string{"accepted", "calls", "retrieves", "fired", "waiting", "webhooks"}

func (s *Sandbox) count(what WaitFor) (n int) {
	switch what.What {
	case "accepted":
		if what.Order == "" && what.Key == "" {
			return len(s.messageSeq)
		}
		for _, m := range s.messages {
			if (what.Order == "" || m.Order() == what.Order) && (what.Key == "" || m.Key == what.Key) {
				n++
			}
		}
	case "calls":
		for key, k := range s.calls {
			if what.Key == "" || key == what.Key {
				n += k.calls
			}
		}
	case "retrieves":
		for _, reads := range []map[string]int{s.retrieves, s.creem.counts.Retrieves} {
			for id, times := range reads {
				if what.Session == "" || id == what.Session {
					n += times
				}
			}
		}
	case "fired", "waiting":
		for _, f := range s.faults {
			if what.Fault == "" || f.ID == what.Fault {
				n += map[string]int{"fired": f.Fired, "waiting": f.Waiting}[what.What]
			}
		}
	case "webhooks":
		return s.taken
	}
	return n
}
