package testenv

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Fault is what a [Proxy] does to a request. Every fault but NoFault closes the
// connection.
type Fault int

// The faults.
const (
	NoFault    Fault = iota // the request and its reply pass
	NotSent                 // the server does not get the request
	NoReply                 // the server executes the request, and its reply is lost
	HalfAReply              // as NoReply, but half of the reply arrives
	faults
)

// Proxy is between clients and a server. It loses requests and replies on purpose, and makes the network slow or silent. It takes whatever
// arrives in one piece for one request or reply, as is true for a Redis client that waits for each reply.
type Proxy struct {
	tb       testing.TB
	target   string
	listener net.Listener
	all      sync.WaitGroup

	requests, muted atomic.Int64
	counts          [faults]atomic.Int64

	mu     sync.Mutex
	conns  map[net.Conn]bool // nil once closed
	random *rand.Rand
	share  float64
	kinds  []Fault
	next   []Fault
	only   []byte // the text of requests that get faults and count
	mute   []byte
	delay  time.Duration
	piece  int
	held   chan struct{} // closed by Release; nil if nothing is held
}

// NewProxy starts a proxy to the server at target, a host:port. It ends with the
// test, and so do its connections.
func NewProxy(tb testing.TB, target string) *Proxy {
	tb.Helper()
	p := &Proxy{tb: tb, target: target, conns: map[net.Conn]bool{}}
	p.listen("127.0.0.1:0")
	tb.Cleanup(p.close)
	return p
}

func (p *Proxy) listen(address string) {
	p.tb.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		p.tb.Fatalf("starting a proxy: %v", err)
	}
	p.listener = listener
	p.all.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			p.all.Go(func() { p.serve(client) })
		}
	})
}

// Addr returns the host:port that clients connect to.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// In returns a server's URL with the proxy in the server's place.
func (p *Proxy) In(server string) string {
	p.tb.Helper()
	u, err := url.Parse(server)
	if err != nil {
		p.tb.Fatal("a server's URL cannot be parsed")
	}
	u.Host = p.Addr()
	return u.String()
}

// Next sets the faults of the next requests, one each. They come before those of
// [Proxy.Fail].
func (p *Proxy) Next(next ...Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = next
	p.requests.Store(0)
}

// Fail gives this share of all requests a fault of one of the kinds (any without kinds), from now on. The seed decides which requests. A
// share of 0 ends it.
func (p *Proxy) Fail(seed uint64, share float64, kinds ...Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(kinds) == 0 {
		kinds = []Fault{NotSent, NoReply, HalfAReply}
	}
	p.random, p.share, p.kinds = rand.New(rand.NewPCG(seed, 0)), share, kinds
}

// Only passes requests without text in them and does not count them, from now on. It excludes requests that a client makes by itself.
func (p *Proxy) Only(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.only = []byte(text)
}

// Mute drops every piece of a reply that contains text, from now on, and keeps the
// connection open, so that the client does not notice.
func (p *Proxy) Mute(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mute = []byte(text)
}

// Muted returns the number of dropped pieces.
func (p *Proxy) Muted() int64 { return p.muted.Load() }

// swallows reports whether a piece of a reply must be dropped.
func (p *Proxy) swallows(reply []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.mute) == 0 || !bytes.Contains(reply, p.mute) {
		return false
	}
	p.muted.Add(1)
	return true
}

// Slow delays every piece of this many bytes of every reply by d, from now on. With 0 bytes a piece is what arrives together.
func (p *Proxy) Slow(d time.Duration, piece int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay, p.piece = d, piece
}

// Hold holds every byte until Release. Connections stay open.
func (p *Proxy) Hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held == nil {
		p.held = make(chan struct{})
	}
}

// Release lets everything pass again.
func (p *Proxy) Release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held != nil {
		close(p.held)
		p.held = nil
	}
}

// Cut closes all connections and drops what is held.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

// Requests returns the number of requests since the last [Proxy.Next].
func (p *Proxy) Requests() int64 { return p.requests.Load() }

// Count returns the number of faults of this kind.
func (p *Proxy) Count(f Fault) int64 { return p.counts[f].Load() }

// Faults returns the number of faults of all kinds.
func (p *Proxy) Faults() int64 {
	return p.Count(NotSent) + p.Count(NoReply) + p.Count(HalfAReply)
}

func (p *Proxy) serve(client net.Conn) {
	defer p.forget(client)
	if !p.remember(client) {
		return
	}
	server, err := net.DialTimeout("tcp", p.target, 10*time.Second)
	if err != nil {
		return
	}
	defer p.forget(server)
	if !p.remember(server) {
		return
	}
	var pending atomic.Int64 // the Fault of the next reply
	p.all.Go(func() {
		defer p.forget(server)
		p.pump(server, client, false, func(request []byte) []byte {
			fault := p.fault(request)
			if fault == NotSent {
				return nil
			}
			pending.CompareAndSwap(int64(NoFault), int64(fault))
			return request
		})
	})
	p.pump(client, server, true, func(reply []byte) []byte {
		switch Fault(pending.Load()) {
		case NoReply:
			return nil
		case HalfAReply:
			_, _ = client.Write(reply[:len(reply)/2])
			return nil
		}
		if p.swallows(reply) {
			return reply[:0]
		}
		return reply
	})
}

// fault decides what happens to a request.
func (p *Proxy) fault(request []byte) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !bytes.Contains(request, p.only) {
		return NoFault
	}
	p.requests.Add(1)
	var fault Fault
	if len(p.next) > 0 {
		fault, p.next = p.next[0], p.next[1:]
	} else if p.share > 0 && p.random.Float64() < p.share {
		fault = p.kinds[p.random.IntN(len(p.kinds))]
	}
	if fault != NoFault {
		p.counts[fault].Add(1)
	}
	return fault
}

// pump copies what through makes of each piece, until an end closes or through
// returns nil.
func (p *Proxy) pump(to io.Writer, from io.Reader, replies bool, through func([]byte) []byte) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		rest := through(buf[:n])
		if rest == nil {
			return
		}
		for len(rest) > 0 {
			n := p.pace(len(rest), replies)
			if _, err := to.Write(rest[:n]); err != nil {
				return
			}
			rest = rest[n:]
		}
	}
}

// pace waits until the next bytes may pass, and returns how many of the n.
func (p *Proxy) pace(n int, replies bool) int {
	p.mu.Lock()
	held, delay, piece := p.held, p.delay, p.piece
	p.mu.Unlock()
	if held != nil {
		<-held
	}
	if !replies || delay == 0 {
		return n
	}
	time.Sleep(delay)
	if piece == 0 {
		return n
	}
	return min(n, piece)
}

func (p *Proxy) remember(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		return false
	}
	p.conns[c] = true
	return true
}

func (p *Proxy) forget(c net.Conn) {
	p.mu.Lock()
	delete(p.conns, c)
	p.mu.Unlock()
	_ = c.Close()
}

func (p *Proxy) close() {
	_ = p.listener.Close()
	p.Cut()
	p.Release()
	p.mu.Lock()
	for c := range p.conns { // some are new
		_ = c.Close()
	}
	p.conns = nil
	p.mu.Unlock()
	p.all.Wait()
}
