package crash

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"

	"handover/internal/lab/stack"
)

// points holds the shop's processes at the points that a test has armed, see package crashpoint.
type points struct {
	url string

	mu       sync.Mutex
	armed    map[string]int
	standing []*Stand
	over     chan struct{}
}

// Stand is a process that has come to a point and goes no further. Only what led it there is held: the rest of the
// process runs on.
type Stand struct {
	Point   string
	Process *stack.Process

	pid     int
	told    bool
	release chan struct{}
}

// Release lets it go on. Once is enough, and a second time does no harm.
func (s *Stand) Release() {
	select {
	case <-s.release:
	default:
		close(s.release)
	}
}

func openPoints(t testing.TB) *points {
	p := &points{armed: map[string]int{}, over: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(p.reached))
	p.url = server.URL
	t.Cleanup(func() {
		close(p.over)
		server.CloseClientConnections()
		server.Close()
	})
	return p
}

// reached answers a process that has come to a point, when it may go on.
func (p *points) reached(_ http.ResponseWriter, r *http.Request) {
	pid, _ := strconv.Atoi(r.PostFormValue("pid"))
	stand := p.take(r.PostFormValue("point"), pid)
	if stand == nil {
		return
	}
	select {
	case <-stand.release:
	case <-r.Context().Done(): // the process is gone
	case <-p.over:
	}
}

func (p *points) take(point string, pid int) *Stand {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.armed[point] == 0 {
		return nil
	}
	p.armed[point]--
	stand := &Stand{Point: point, pid: pid, release: make(chan struct{})}
	p.standing = append(p.standing, stand)
	return stand
}

// next is a stand at the point that nobody was told of before, nil while there is none.
func (p *points) next(point string) *Stand {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, stand := range p.standing {
		if stand.Point == point && !stand.told {
			stand.told = true
			return stand
		}
	}
	return nil
}

// Arm holds the next n that come to the point, in whichever process.
func (s *Shop) Arm(point string, n int) {
	s.t.Helper()
	if s.points == nil {
		s.t.Fatal("this shop's programs have no points: open it with Options.Points")
	}
	s.points.mu.Lock()
	defer s.points.mu.Unlock()
	s.points.armed[point] += n
}

// At waits until some process stands at the point.
func (s *Shop) At(point string) *Stand {
	s.t.Helper()
	var stand *Stand
	s.Eventually("a process stands at "+point, func() bool {
		stand = s.points.next(point)
		return stand != nil
	})
	for _, p := range s.processes {
		if p.PID() == stand.pid {
			stand.Process = p
		}
	}
	if stand.Process == nil {
		s.t.Fatalf("process %d at %s is none of the shop's", stand.pid, point)
	}
	return stand
}
