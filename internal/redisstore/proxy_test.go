package redisstore_test

import (
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"levelboard/internal/testenv"
)

// droppingProxy stands between a client and Redis. When armed it lets one request through, waits until Redis has answered
// it, and then cuts the connection without passing the answer on.
type droppingProxy struct {
	listener net.Listener
	target   string
	armed    atomic.Bool
	requests atomic.Int64 // pieces of requests passed on since it was armed
	all      sync.WaitGroup
}

func startDroppingProxy(t *testing.T, server *testenv.RedisServer) *droppingProxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &droppingProxy{listener: l, target: server.Addr()}
	p.all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p.all.Go(func() { p.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		p.all.Wait()
	})
	return p
}

func (p *droppingProxy) url() string {
	u := url.URL{Scheme: "redis", Host: p.listener.Addr().String(), Path: "/0"}
	return u.String()
}

func (p *droppingProxy) arm() {
	p.requests.Store(0)
	p.armed.Store(true)
}

func (p *droppingProxy) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	p.all.Go(func() {
		defer func() { _ = server.Close() }()
		_ = pump(server, client, func() bool { p.requests.Add(1); return true })
	})
	_ = pump(client, server, func() bool { return !p.armed.CompareAndSwap(true, false) })
}

// pump copies until an end closes or pass refuses a piece.
func pump(to io.Writer, from io.Reader, pass func() bool) error {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return err
		}
		if !pass() {
			return io.ErrClosedPipe
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return err
		}
	}
}
