package harness

import (
	"io"
	"net"
	"sync"
)

// Proxy is the connection between a process and a server, which can be cut: what a network does to a machine that has
// frozen or gone, which the server notices at once.
type Proxy struct {
	listener net.Listener
	to       string

	mu   sync.Mutex
	open map[net.Conn]struct{}
}

func openProxy(to string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, to: to, open: map[net.Conn]struct{}{}}
	go p.serve()
	return p, nil
}

func (p *Proxy) close() {
	_ = p.listener.Close()
	p.Cut()
}

// Address is where the process connects to.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Cut breaks every connection that is open. A new one goes through.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.open {
		_ = conn.Close()
	}
}

func (p *Proxy) serve() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", p.to)
		if err != nil {
			_ = near.Close()
			continue
		}
		go p.copy(near, far)
		go p.copy(far, near)
	}
}

func (p *Proxy) copy(to, from net.Conn) {
	p.mu.Lock()
	p.open[to] = struct{}{}
	p.mu.Unlock()
	_, _ = io.Copy(to, from)
	_ = from.Close()
	_ = to.Close()
	p.mu.Lock()
	delete(p.open, to)
	p.mu.Unlock()
}
