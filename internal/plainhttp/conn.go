package plainhttp

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

// plainBytes is how large a request may be, with its body.
const plainBytes = 4 << 10

// conn is a connection that is not net/http's. It is used by one goroutine, but for idle and Close.
type conn struct {
	net.Conn
	server *Server
	remote string
	r      *bufio.Reader
	idle   atomic.Bool // nothing of a request was read that is not answered
	posted bool        // the request before was a POST

	readBy, writeBy deadline

	last    lastHead
	request http.Request // what again makes; the handler has a copy

	// What the next answer is made in.
	header     http.Header
	head, body []byte
}

func (s *Server) newConn(c net.Conn) *conn {
	remote := ""
	if address := c.RemoteAddr(); address != nil { // net/http takes connections without one, too
		remote = address.String()
	}
	return &conn{Conn: c, server: s, remote: remote, r: bufio.NewReaderSize(c, plainBytes), header: make(http.Header, 16)}
}

// requests answers plain requests, until the connection has ended or one is not plain. It returns what was read of that; nil when
// the connection has ended.
func (c *conn) requests() (left []byte) {
	rest := c.server.rest
	patience, begin := cmp.Or(rest.ReadHeaderTimeout, rest.ReadTimeout), 1
	for c.wait(patience, begin) {
		if c.posted {
			c.skipLines()
		}
		x := &exchange{}
		r, read := c.read(x)
		if r == nil {
			return bytes.Clone(read)
		}
		if !c.serve(x, r) {
			return nil
		}
		// net/http, too, is idle until it has four bytes.
		patience, begin = cmp.Or(rest.IdleTimeout, rest.ReadTimeout), 4
	}
	return nil
}

// wait waits for the first bytes of the next request, and reports whether it may begin.
func (c *conn) wait(patience time.Duration, begin int) bool {
	if c.r.Buffered() >= begin {
		// The answer before does not say that the connection ends when its head was sent before the stop.
		return !c.server.stopping.Load()
	}
	if c.readBy.move(time.Now(), patience) {
		_ = c.SetReadDeadline(c.readBy.Time)
	}
	c.idle.Store(true)
	if c.server.stopping.Load() { // after idle: whoever stops the server sees one of the two
		return false
	}
	_, err := c.r.Peek(begin)
	// Who stops the server may have taken it for idle, and closed it: a request that came at that moment is not begun, or it would be done
	// and not answered.
	return c.takeIdle() && err == nil
}

// takeIdle reports whether the connection was idle. It is not from then on, for one caller only.
func (c *conn) takeIdle() bool { return c.idle.CompareAndSwap(true, false) }

// skipLines skips empty lines, which old clients send after a body. net/http looks at as many bytes, and after a POST only.
func (c *conn) skipLines() {
	for begin, _ := c.r.Peek(4); len(begin) > 0 && (begin[0] == '\r' || begin[0] == '\n'); begin = begin[1:] {
		_, _ = c.r.Discard(1)
	}
}

// read reads a request whose beginning is there. It is nil when it is not plain; read is what was there in any case, valid until
// more is read.
func (c *conn) read(x *exchange) (r *http.Request, read []byte) {
	read, _ = c.r.Peek(c.r.Buffered())
	if r = c.again(x, read); r == nil {
		if r = c.anew(read); r == nil {
			return nil, read
		}
	}
	if !c.server.plain(r) {
		return nil, read
	}
	r.RemoteAddr = c.remote
	return r, read
}

func (c *conn) anew(read []byte) *http.Request {
	if !wholeHead(read) {
		return nil
	}
	c.last.begin(read)
	r, err := http.ReadRequest(c.r)
	if err != nil || !ordinary(r) || r.ContentLength > int64(c.r.Buffered()) {
		return nil
	}
	c.last.end(r)
	return r
}

// serve has the handler answer, and reports whether the connection goes on.
func (c *conn) serve(x *exchange, r *http.Request) bool {
	x.context.conn, x.context.began = c, time.Now()
	if c.writeBy.move(x.context.began, c.server.rest.WriteTimeout) {
		_ = c.SetWriteDeadline(c.writeBy.Time)
	}
	x.answer.begin(c, x.context.began)
	defer x.end()
	ctx := context.Context(&x.context)
	if c.server.Context != nil {
		ctx = c.server.Context(ctx, x.context.began)
	}
	c.server.rest.Handler.ServeHTTP(&x.answer, r.WithContext(ctx))
	goesOn := x.answer.finish()
	c.posted = r.Method == http.MethodPost
	// What the handler left of the body is read by closing it, and who kept it reads nothing after that.
	if r.Body == io.ReadCloser(&x.body) {
		_, _ = c.r.Discard(int(r.ContentLength))
	}
	return r.Body.Close() == nil && goesOn
}

// exchange is what one request needs, in one piece of memory.
type exchange struct {
	context requestContext
	answer  answer
	url     url.URL
	body    body
}

func (x *exchange) end() {
	x.context.end()
	x.answer.end()
}
