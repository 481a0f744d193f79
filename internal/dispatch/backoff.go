package dispatch

import (
	"sync"
	"time"
)

// The pauses of what could not be dispatched: each event and each request has its own, so that one that never goes holds
// up nothing else.
const (
	firstRetry   = 2 * time.Second
	longestRetry = 5 * time.Minute
)

// inARow is how many failures one after the other mean that Temporal is away, and not that one of them is bad.
const inARow = 3

// backoff remembers what failed, and when it is tried again. A process that forgets it tries everything once more.
type backoff struct {
	mu     sync.Mutex
	failed map[string]retry
}

type retry struct {
	wait time.Duration
	at   time.Time
}

// fail notes one more failure.
func (b *backoff) fail(id string, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed == nil {
		b.failed = map[string]retry{}
	}
	wait := min(max(2*b.failed[id].wait, firstRetry), longestRetry)
	b.failed[id] = retry{wait, now.Add(wait)}
}

// waiting lists what is not tried yet. What has not come back for a while, as another process has dispatched it, is
// forgotten.
func (b *backoff) waiting(now time.Time) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	ids := []string{}
	for id, r := range b.failed {
		switch {
		case r.at.After(now):
			ids = append(ids, id)
		case now.Sub(r.at) > longestRetry:
			delete(b.failed, id)
		}
	}
	return ids
}

func (b *backoff) done(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.failed, id)
}
