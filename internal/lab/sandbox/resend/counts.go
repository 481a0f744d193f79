package resend

import (
	"maps"
	"slices"

	"handover/internal/lab/sandbox/core"
)

// Counts counts messages that were accepted, and the calls behind them.
type Counts struct {
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

// Counts returns the numbers of this moment.
func (s *Resend) Counts() Counts {
	s.core.Lock()
	defer s.core.Unlock()
	c := Counts{Accepted: s.messages.Len(), ByOrder: map[string]int{}, ByKey: map[string]KeyCount{}}
	for key, k := range s.calls {
		c.ByKey[key] = KeyCount{Calls: k.calls, Bodies: len(k.bodies), SHA256: slices.Sorted(maps.Keys(k.bodies))}
	}
	for m := range s.messages.Oldest() {
		if o := m.Order(); o != "" {
			c.ByOrder[o]++
		}
		k := c.ByKey[m.Key]
		k.Accepted++
		c.ByKey[m.Key] = k
	}
	return c
}

func (s *Resend) countAccepted(what core.WaitFor) (n int) {
	if what.Order == "" && what.Key == "" {
		return s.messages.Len()
	}
	for m := range s.messages.Oldest() {
		if (what.Order == "" || m.Order() == what.Order) && (what.Key == "" || m.Key == what.Key) {
			n++
		}
	}
	return n
}

func (s *Resend) countCalls(what core.WaitFor) (n int) {
	for key, k := range s.calls {
		if what.Key == "" || key == what.Key {
			n += k.calls
		}
	}
	return n
}
