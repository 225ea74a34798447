package plainhttp_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"

	"levelboard/internal/plainhttp"
)

// memory is a listener for connections in memory, so that servers can be tried in bubbles of synctest.
type memory struct {
	accepted chan net.Conn
	failures chan error
	once     sync.Once
	closed   chan struct{}
}

func newMemory() *memory {
	return &memory{accepted: make(chan net.Conn), failures: make(chan error), closed: make(chan struct{})}
}

func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.accepted:
		return c, nil
	case err := <-m.failures:
		return nil, err
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

func (m *memory) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (m *memory) dial(t *testing.T) net.Conn {
	t.Helper()
	c, theirs := net.Pipe()
	select {
	case m.accepted <- theirs:
	case <-m.closed:
		t.Fatal("nobody listens")
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// start serves until the test ends, or before.
func start(t *testing.T, rest *http.Server, plain func(*http.Request) bool) (s *plainhttp.Server, m *memory, served chan error) {
	t.Helper()
	s, m, served = plainhttp.New(rest, plain), newMemory(), make(chan error, 1)
	go func() {
		served <- s.Serve(m)
		close(served)
	}()
	t.Cleanup(func() {
		_ = s.Close()
		<-served
	})
	return s, m, served
}

// listen serves on loopback until the test ends, or before. Each connection that is accepted is first given to wrap.
func listen(t *testing.T, rest *http.Server, wrap func(*net.TCPConn) net.Conn) (s *plainhttp.Server, address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s = plainhttp.New(rest, everything)
	served := make(chan error, 1)
	go func() { served <- s.Serve(wrapping{l, wrap}) }()
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serve: %v", err)
		}
	})
	return s, l.Addr().String()
}

type wrapping struct {
	net.Listener
	wrap func(*net.TCPConn) net.Conn
}

func (w wrapping) Accept() (net.Conn, error) {
	c, err := w.Listener.Accept()
	if err == nil && w.wrap != nil {
		c = w.wrap(c.(*net.TCPConn))
	}
	return c, err
}

func dial(t *testing.T, address string) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c.(*net.TCPConn)
}

// client is the other end of a connection.
type client struct {
	net.Conn
	r *bufio.Reader
}

func newClient(c net.Conn) *client { return &client{c, bufio.NewReader(c)} }

func (c *client) send(t *testing.T, request string) {
	t.Helper()
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatalf("send %q: %v", request, err)
	}
}

// answer is the next one, with its body read.
func (c *client) answer(t *testing.T) (*http.Response, string) {
	t.Helper()
	answer, err := http.ReadResponse(c.r, nil)
	if err != nil {
		t.Fatalf("read an answer: %v", err)
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatalf("read a body: %v", err)
	}
	return answer, string(body)
}

// ask sends a request and returns what is answered.
func (c *client) ask(t *testing.T, request string) (*http.Response, string) {
	t.Helper()
	c.send(t, request)
	return c.answer(t)
}

// ended fails the test if the server says anything more before it closes the connection, which it waits for.
func (c *client) ended(t *testing.T) {
	t.Helper()
	if more, err := io.ReadAll(c.r); len(more) > 0 || err != nil {
		t.Errorf("want the end of the connection, got %q, %v", more, err)
	}
}
