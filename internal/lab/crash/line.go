package crash

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Line is the connection between a process and a server, which the test can cut: what a network does to a machine that
// has frozen or gone, and what tells the server at once that nobody is there any more.
type Line struct {
	listener net.Listener
	to       string

	mu   sync.Mutex
	open map[net.Conn]struct{}
}

func openLine(t testing.TB, to string) *Line {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &Line{listener: listener, to: to, open: map[net.Conn]struct{}{}}
	go l.serve()
	t.Cleanup(func() {
		_ = listener.Close()
		l.Cut()
	})
	return l
}

// Address is where the process connects to.
func (l *Line) Address() string { return l.listener.Addr().String() }

// Cut breaks every connection that is open. A new one goes through.
func (l *Line) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for conn := range l.open {
		_ = conn.Close()
	}
}

func (l *Line) serve() {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", l.to)
		if err != nil {
			_ = near.Close()
			continue
		}
		go l.copy(near, far)
		go l.copy(far, near)
	}
}

func (l *Line) copy(to, from net.Conn) {
	l.mu.Lock()
	l.open[to] = struct{}{}
	l.mu.Unlock()
	_, _ = io.Copy(to, from)
	_ = from.Close()
	_ = to.Close()
	l.mu.Lock()
	delete(l.open, to)
	l.mu.Unlock()
}
