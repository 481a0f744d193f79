package visit

import (
	"sync"
	"time"

	"handover/internal/order"
)

// The bounds of what strangers can make Handover ask. What a flood crowds out is left to the reconciliation.
const (
	grace        = 2 * time.Second  // for the webhook, after the first visit
	firstPause   = 10 * time.Second // between two checks of one session; it doubles
	longestPause = 10 * time.Minute
	forgetAfter  = time.Minute // of an id that the provider does not know
	perMinute    = 60          // new ids of one environment
	perClient    = 10          // new ids of one client's address, in a minute
)

// bounds decide when a session is asked for.
type bounds struct {
	mu       sync.Mutex
	sessions map[order.Key]*session
	new      map[string]*counter // by environment, and by client's address
}

// session is what is known of one whose page was opened.
type session struct {
	checking bool
	pause    time.Duration // before the next check
	next     time.Time     // when a visit may start it
}

// counter counts within a minute.
type counter struct {
	since time.Time
	n     int
}

func newBounds() bounds {
	return bounds{sessions: map[order.Key]*session{}, new: map[string]*counter{}}
}

// seen says whether a visit starts a check, and how long that waits for the webhook.
func (b *bounds) seen(key order.Key, client string, now time.Time) (wait time.Duration, due bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.sessions[key]
	if s == nil {
		b.forget(now)
		environment, address := b.counter("environment "+key.Environment, now), b.counter("client "+client, now)
		if environment.n >= perMinute || address.n >= perClient {
			return 0, false
		}
		environment.n++
		address.n++
		b.sessions[key] = &session{checking: true, pause: firstPause}
		return grace, true
	}
	if s.checking || now.Before(s.next) {
		return 0, false
	}
	s.checking = true
	return 0, true
}

func (b *bounds) counter(name string, now time.Time) *counter {
	c := b.new[name]
	if c == nil || now.Sub(c.since) >= time.Minute {
		c = &counter{since: now}
		b.new[name] = c
	}
	return c
}

// checked notes what a check came to.
func (b *bounds) checked(key order.Key, r result, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.sessions[key]
	if s == nil {
		return
	}
	s.checking = false
	switch r {
	case unknown:
		s.next = now.Add(forgetAfter)
	default:
		s.next = now.Add(s.pause)
		s.pause = min(2*s.pause, longestPause)
	}
}

// forget drops what is over, so that the memory is bounded by the rate of new ids.
func (b *bounds) forget(now time.Time) {
	for key, s := range b.sessions {
		if !s.checking && now.After(s.next.Add(longestPause)) {
			delete(b.sessions, key)
		}
	}
	for name, c := range b.new {
		if now.Sub(c.since) >= time.Minute {
			delete(b.new, name)
		}
	}
}
