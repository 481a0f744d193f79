package harness

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"time"

	"handover/internal/lab/await"
	"handover/internal/lab/stack"
)

// failpoints holds the shop's processes at the points that are armed, see package failpoint.
type failpoints struct {
	url    string
	server *httptest.Server
	over   chan struct{}

	mu    sync.Mutex
	armed map[string]int
	held  []*Held
}

// Held is a process that has hit a failpoint and goes no further. Only what led it there is held: the rest of the process
// runs on.
type Held struct {
	Point   string
	Process *stack.Process

	pid     int
	taken   bool
	release chan struct{}
	once    sync.Once
}

// Release lets it go on. Once is enough, and a second time does no harm.
func (h *Held) Release() { h.once.Do(func() { close(h.release) }) }

func openFailpoints() *failpoints {
	f := &failpoints{armed: map[string]int{}, over: make(chan struct{})}
	f.server = httptest.NewServer(http.HandlerFunc(f.hit))
	f.url = f.server.URL
	return f
}

func (f *failpoints) close() {
	close(f.over)
	f.server.CloseClientConnections()
	f.server.Close()
}

// hit answers a process that has come to a failpoint when it may go on.
func (f *failpoints) hit(_ http.ResponseWriter, r *http.Request) {
	pid, _ := strconv.Atoi(r.PostFormValue("pid"))
	held := f.hold(r.PostFormValue("point"), pid)
	if held == nil {
		return
	}
	select {
	case <-held.release:
	case <-r.Context().Done(): // the process is gone
	case <-f.over:
	}
}

func (f *failpoints) hold(point string, pid int) *Held {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.armed[point] == 0 {
		return nil
	}
	f.armed[point]--
	held := &Held{Point: point, pid: pid, release: make(chan struct{})}
	f.held = append(f.held, held)
	return held
}

// take returns what is held at the point and was not taken before, nil while there is nothing.
func (f *failpoints) take(point string) *Held {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, held := range f.held {
		if held.Point == point && !held.taken {
			held.taken = true
			return held
		}
	}
	return nil
}

// Arm holds the next n that come to the failpoint, in whichever process.
func (s *Shop) Arm(point string, n int) {
	s.failpoints.mu.Lock()
	defer s.failpoints.mu.Unlock()
	s.failpoints.armed[point] += n
}

// Hit waits until some process is held at the failpoint.
func (s *Shop) Hit(ctx context.Context, point string) (*Held, error) {
	if s.failpoints == nil {
		return nil, errors.New("this shop's programs have no failpoints: open it as Holdable")
	}
	ctx, cancel := context.WithTimeout(ctx, await.Limit)
	defer cancel()
	var held *Held
	err := await.Until(ctx, 25*time.Millisecond, func(context.Context) (bool, error) {
		held = s.failpoints.take(point)
		return held != nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("no process comes to %s: %w", point, err)
	}

	processes := s.Processes()
	at := slices.IndexFunc(processes, func(p *stack.Process) bool { return p.PID() == held.pid })
	if at < 0 {
		return nil, fmt.Errorf("process %d at %s is none of the shop's", held.pid, point)
	}
	held.Process = processes[at]
	return held, nil
}
