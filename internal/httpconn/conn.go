// Package httpconn changes what net/http writes to a connection: a large answer goes with one system call, and what net/http
// answers by itself is JSON as all else.
package httpconn

import (
	"bytes"
	"context"
	"net"
)

type key struct{}

// Begun is for a server whose answers go in one write where Hold says so: c, of which read was read before.
func Begun(c net.Conn, read []byte) net.Conn {
	if tcp, ok := c.(*net.TCPConn); ok {
		return &conn{TCPConn: tcp, read: read}
	}
	return &begun{Conn: c, read: read}
}

// begun is what Begun returns for a connection that is not TCP's.
type begun struct {
	net.Conn
	read []byte
}

func (c *begun) Read(p []byte) (int, error) { return readFirst(&c.read, c.Conn, p) }

func readFirst(before *[]byte, c net.Conn, p []byte) (int, error) {
	if len(*before) == 0 {
		*before = nil
		return c.Read(p)
	}
	n := copy(p, *before)
	*before = (*before)[n:]
	return n, nil
}

// Context is an http.Server's ConnContext.
func Context(ctx context.Context, c net.Conn) context.Context {
	if c, ok := c.(*conn); ok {
		return context.WithValue(ctx, key{}, c)
	}
	return ctx
}

// Hold keeps the next write on the connection of a request back until the one after it, and sends both together, or until
// release is called, which must be before the handler returns. Of a connection that is not Begun's nothing is held. An
// error of what was held is that of the write after it.
//
// net/http writes through a buffer of 4 KB, which a larger answer fills: a first write for those 4 KB, and another for what is
// left of the body. Each costs both ends about as much as all the rest of a small answer (docs/benchmarks.md).
func Hold(ctx context.Context) (release func()) {
	c, ok := ctx.Value(key{}).(*conn)
	if !ok {
		return func() {}
	}
	c.hold = true
	return c.release
}

// conn is used by one goroutine at a time, that of the request: net/http writes from no other one.
type conn struct {
	*net.TCPConn
	read []byte // before, and not by this
	hold bool
	held []byte // a copy, for whoever writes uses their buffer again
}

func (c *conn) Read(p []byte) (int, error) { return readFirst(&c.read, c.TCPConn, p) }

func (c *conn) Write(p []byte) (int, error) {
	if instead := refusal(p); instead != nil {
		if _, err := c.TCPConn.Write(instead); err != nil {
			return 0, err
		}
		return len(p), nil
	}
	if c.hold {
		c.hold, c.held = false, bytes.Clone(p)
		return len(p), nil
	}
	if c.held == nil {
		return c.TCPConn.Write(p)
	}
	before := len(c.held)
	both := net.Buffers{c.held, p}
	c.held = nil
	n, err := both.WriteTo(c.TCPConn)
	return max(int(n)-before, 0), err
}

func (c *conn) release() {
	c.hold = false
	if c.held != nil {
		_, _ = c.Write(nil) // a connection that is broken is so for whatever is written next, too
	}
}
