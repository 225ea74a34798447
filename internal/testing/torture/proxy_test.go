package torture

import (
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"
)

// proxy stands between the replicas and a server. It can cut every connection, hold all bytes back, and cut a connection
// instead of passing an answer on, so that what was asked for has happened and nobody was told.
type proxy struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	rng   *rand.Rand
	drop  float64 // how likely an answer is dropped, with its connection
	held  chan struct{}
	conns map[net.Conn]bool
	all   sync.WaitGroup
}

func startProxy(t *testing.T, target string, rng *rand.Rand) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener, target: target, rng: rng, conns: map[net.Conn]bool{}}
	p.all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			p.all.Go(func() { p.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		p.release()
		p.cut()
		p.all.Wait()
	})
	return p
}

// in is a server's URL with the proxy in the server's place.
func (p *proxy) in(t *testing.T, raw string) string {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal("a server's URL cannot be read")
	}
	u.Host = p.listener.Addr().String()
	return u.String()
}

// cut ends all connections that there are.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		_ = conn.Close()
	}
}

// dropping sets how likely each answer is dropped from now on.
func (p *proxy) dropping(likely float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop = likely
}

// hold keeps every byte back until release; connections stay open.
func (p *proxy) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held == nil {
		p.held = make(chan struct{})
	}
}

func (p *proxy) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held != nil {
		close(p.held)
		p.held = nil
	}
}

func (p *proxy) serve(client net.Conn) {
	defer p.forget(p.remember(client))
	server, err := net.DialTimeout("tcp", p.target, time.Second)
	if err != nil {
		return
	}
	defer p.forget(p.remember(server))
	p.all.Go(func() {
		p.pump(server, client, false)
		_ = server.Close()
	})
	p.pump(client, server, true)
}

func (p *proxy) remember(conn net.Conn) net.Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[conn] = true
	return conn
}

func (p *proxy) forget(conn net.Conn) {
	_ = conn.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
}

// pump copies until an end closes or an answer is dropped.
func (p *proxy) pump(to io.Writer, from io.Reader, answers bool) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil || !p.pass(answers) {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// pass waits while bytes are held back, and reports whether a piece continues.
func (p *proxy) pass(answer bool) bool {
	p.mu.Lock()
	held := p.held
	dropped := answer && p.drop > 0 && p.rng.Float64() < p.drop
	p.mu.Unlock()
	if held != nil {
		<-held
	}
	return !dropped
}
