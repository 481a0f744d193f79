package pages

import (
	"net/http"
	"sync"
	"time"
)

// What counts as opening the emailed link: mail scanners fetch pages, they do not stay.
const (
	stay      = 5 * time.Second // between the page and its asking for the status again
	stayLimit = time.Hour       // after which the page is forgotten
	mostStays = 10_000
)

// stays remembers when the page behind a link was fetched first.
type stays struct {
	mu    sync.Mutex
	since map[string]time.Time
}

// stayed says that a request shows a person: it asks for the status, and the page was fetched a while before.
func (s *stays) stayed(token string, r *http.Request, json bool, now time.Time) bool {
	if r.Method != http.MethodGet || r.Header.Get("Sec-Purpose") != "" || r.Header.Get("Purpose") != "" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	since, known := s.since[token]
	if known && now.Sub(since) < stayLimit {
		return json && now.Sub(since) >= stay
	}
	if s.since == nil || len(s.since) >= mostStays {
		s.since = map[string]time.Time{}
	}
	s.since[token] = now
	return false
}
