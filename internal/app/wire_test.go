package app_test

import (
	"net"
	"sync"
	"testing"
	"time"

	"levelboard/internal/testing/testenv"
)

// wire is the network between the service and Redis, which the test makes bad. It passes everything on as it is at first.
type wire struct {
	t        *testing.T
	target   string
	address  string
	listener net.Listener
	all      sync.WaitGroup
	cut      chan struct{} // closed when the test ends

	mu    sync.Mutex
	delay time.Duration // before each piece of a reply
	piece int           // bytes of a reply that are one piece; 0 is what arrived together
	open  chan struct{} // closed while anything passes at all
	conns map[net.Conn]bool
}

func startWire(t *testing.T, server *testenv.RedisServer) *wire {
	t.Helper()
	w := &wire{t: t, target: server.Addr(), cut: make(chan struct{}), open: make(chan struct{}), conns: map[net.Conn]bool{}}
	close(w.open)
	w.address = testenv.FreeAddr(t)
	w.listen()
	t.Cleanup(func() {
		close(w.cut)
		_ = w.listener.Close()
		w.drop()
		w.all.Wait()
	})
	return w
}

func (w *wire) url() string { return "redis://" + w.address + "/0" }

// slow holds every piece of so many bytes of every reply up for d; 0 bytes is a reply as a whole.
func (w *wire) slow(d time.Duration, piece int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.delay, w.piece = d, piece
}

func (w *wire) listen() {
	w.t.Helper()
	listener, err := net.Listen("tcp", w.address)
	if err != nil {
		w.t.Fatal(err)
	}
	w.listener = listener
	w.all.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			w.all.Go(func() { w.serve(client) })
		}
	})
}

func (w *wire) serve(client net.Conn) {
	server, err := net.Dial("tcp", w.target)
	if err != nil {
		_ = client.Close()
		return
	}
	w.mu.Lock()
	w.conns[client], w.conns[server] = true, true
	w.mu.Unlock()
	w.all.Go(func() { w.pump(server, client, false) })
	w.pump(client, server, true)
}

func (w *wire) pump(to, from net.Conn, replies bool) {
	defer w.forget(from)
	defer w.forget(to)
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		for rest := buffer[:n]; len(rest) > 0; {
			delay, piece := w.state(replies)
			if piece == 0 || piece > len(rest) {
				piece = len(rest)
			}
			select {
			case <-w.cut:
				return
			case <-time.After(delay):
			}
			if _, err := to.Write(rest[:piece]); err != nil {
				return
			}
			rest = rest[piece:]
		}
	}
}

// state waits until anything passes.
func (w *wire) state(replies bool) (delay time.Duration, piece int) {
	w.mu.Lock()
	open := w.open
	w.mu.Unlock()
	select {
	case <-open:
	case <-w.cut:
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !replies {
		return 0, 0
	}
	return w.delay, w.piece
}

func (w *wire) forget(c net.Conn) {
	w.mu.Lock()
	delete(w.conns, c)
	w.mu.Unlock()
	_ = c.Close()
}

func (w *wire) drop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		_ = c.Close()
	}
}
