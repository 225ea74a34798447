package testenv

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Fault is what a [Proxy] does to a request. Each but NoFault ends the
// connection.
type Fault int

// The faults.
const (
	NoFault    Fault = iota // the request and its reply are passed on
	NotSent                 // the server never gets the request
	NoReply                 // the server carries the request out, and its reply is lost
	HalfAReply              // the same, and half of the reply arrives
	faults
)

// Proxy stands between clients and a server, and loses requests and replies on
// purpose. It takes whatever arrives in one piece for one request or one reply,
// which is so for a client of Redis that waits for each reply.
type Proxy struct {
	listener net.Listener
	target   string
	all      sync.WaitGroup

	delay    atomic.Int64 // a time.Duration
	requests atomic.Int64
	counts   [faults]atomic.Int64

	mu     sync.Mutex
	conns  map[net.Conn]bool // nil once the proxy is closed
	random *rand.Rand
	share  float64
	next   []Fault
	only   []byte // what requests have in them that meet faults and count
	mute   []byte
	muted  atomic.Int64
}

// NewProxy starts a proxy to the server at target, a host:port. It ends with
// the test, and its connections with it.
func NewProxy(tb testing.TB, target string) *Proxy {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatalf("start a proxy: %v", err)
	}
	p := &Proxy{listener: listener, target: target, conns: map[net.Conn]bool{}}
	p.all.Go(p.accept)
	tb.Cleanup(p.close)
	return p
}

// Addr is the host:port that clients connect to.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Next sets the faults that the next requests meet, one each. They come before
// those of [Proxy.Fail].
func (p *Proxy) Next(next ...Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = next
	p.requests.Store(0)
}

// Fail makes this share of all requests meet a fault of any kind, from now on.
// The seed decides which; with a share of 0 there are no more.
func (p *Proxy) Fail(seed uint64, share float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.random, p.share = rand.New(rand.NewPCG(seed, 0)), share
}

// Only lets requests without text in them pass, and does not count them, from now on: those that a client makes by itself.
func (p *Proxy) Only(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.only = []byte(text)
}

// Mute swallows every piece of a reply that has text in it, from now on, and
// leaves the connection as it is: nobody learns that anything is missing.
func (p *Proxy) Mute(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mute = []byte(text)
}

// Muted counts the pieces that were swallowed.
func (p *Proxy) Muted() int64 { return p.muted.Load() }

// swallows reports whether a piece of a reply is not passed on.
func (p *Proxy) swallows(reply []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.mute) == 0 || !bytes.Contains(reply, p.mute) {
		return false
	}
	p.muted.Add(1)
	return true
}

// Slow holds everything that the server says up for so long, from now on.
func (p *Proxy) Slow(d time.Duration) { p.delay.Store(int64(d)) }

// Requests counts the requests that arrived since the last [Proxy.Next].
func (p *Proxy) Requests() int64 { return p.requests.Load() }

// Count counts the faults of this kind.
func (p *Proxy) Count(f Fault) int64 { return p.counts[f].Load() }

// Faults counts the faults of all kinds.
func (p *Proxy) Faults() int64 {
	return p.Count(NotSent) + p.Count(NoReply) + p.Count(HalfAReply)
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.all.Go(func() { p.serve(client) })
	}
}

func (p *Proxy) serve(client net.Conn) {
	defer p.forget(client)
	if !p.remember(client) {
		return
	}
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer p.forget(server)
	if !p.remember(server) {
		return
	}
	var pending atomic.Int64 // the Fault that the next reply meets
	p.all.Go(func() {
		defer p.forget(server)
		pump(server, client, func(request []byte) []byte {
			fault := p.fault(request)
			if fault == NotSent {
				return nil
			}
			pending.CompareAndSwap(int64(NoFault), int64(fault))
			return request
		})
	})
	pump(client, server, func(reply []byte) []byte {
		time.Sleep(time.Duration(p.delay.Load()))
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

// fault decides what happens to a request that arrived.
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
		fault = NotSent + Fault(p.random.IntN(int(faults-NotSent)))
	}
	if fault != NoFault {
		p.counts[fault].Add(1)
	}
	return fault
}

// pump copies what through makes of each piece, until an end closes or through
// returns nil.
func pump(to io.Writer, from io.Reader, through func([]byte) []byte) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		piece := through(buf[:n])
		if piece == nil {
			return
		}
		if _, err := to.Write(piece); err != nil {
			return
		}
	}
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
	p.mu.Lock()
	for c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
	p.mu.Unlock()
	p.all.Wait()
}
