package plainhttp

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// plainBytes is how large a request may be, with its body.
	plainBytes = 4 << 10
	// deadlineSlack is how much sooner than it says a deadline may come, so that it is not set anew for each request.
	deadlineSlack = time.Second
)

// conn is a connection that is not net/http's. It is used by one goroutine, but for idle and Close.
type conn struct {
	net.Conn
	server *Server
	remote string
	r      *bufio.Reader
	idle   atomic.Bool // nothing of a request was read that is not answered

	readBy, writeBy time.Time // the deadlines that are set; zero for none
	answer          answer
}

// serve answers the plain requests of a connection, until it ends or a request is not plain.
func (s *Server) serve(c net.Conn, rest *handover) {
	p := &conn{Conn: c, server: s, remote: c.RemoteAddr().String(), r: bufio.NewReaderSize(c, plainBytes)}
	p.answer.conn = p
	s.track(p, true)
	left := p.requests()
	s.track(p, false)
	if left == nil {
		_ = c.Close()
		return
	}
	_ = c.SetDeadline(time.Time{}) // net/http sets its own
	rest.leave(c, left)
}

// requests returns what was read of a request that is for net/http, or nil when the connection has ended.
func (c *conn) requests() (left []byte) {
	c.arm(time.Now(), c.server.rest.ReadHeaderTimeout)
	for c.wait() {
		r, read := c.read()
		if r == nil {
			return bytes.Clone(read)
		}
		if !c.serve(r) {
			return nil
		}
	}
	return nil
}

// wait waits for the beginning of the next request: for the first as long as headers may take, for others until the connection has been
// idle for too long since the beginning of the one before. To look at the clock here would show in what a request takes.
func (c *conn) wait() bool {
	if c.r.Buffered() > 0 {
		return true
	}
	if c.readBy.IsZero() {
		c.arm(time.Now(), c.server.rest.IdleTimeout)
	}
	c.idle.Store(true)
	if c.server.stopping.Load() { // after idle: whoever stops the server sees one of the two
		return false
	}
	_, err := c.r.Peek(1)
	c.idle.Store(false)
	return err == nil
}

// arm sets the deadlines of a connection from which something is read within patience, and to which an answer is written in the time for
// that: at most deadlineSlack too soon.
func (c *conn) arm(now time.Time, patience time.Duration) {
	if by := now.Add(patience); patience > 0 && (c.readBy.IsZero() || by.Sub(c.readBy).Abs() >= deadlineSlack) {
		c.readBy = by
		_ = c.SetReadDeadline(by)
	}
	if by := now.Add(c.server.rest.WriteTimeout); c.server.rest.WriteTimeout > 0 && by.Sub(c.writeBy) >= deadlineSlack {
		c.writeBy = by
		_ = c.SetWriteDeadline(by)
	}
}

// read reads a request whose beginning is there. It is nil when it is not plain; read is what was there in any case, valid until
// more is read.
func (c *conn) read() (r *http.Request, read []byte) {
	read, _ = c.r.Peek(c.r.Buffered())
	if !wholeHead(read) {
		return nil, read
	}
	r, err := http.ReadRequest(c.r)
	if err != nil || !ordinary(r) || r.ContentLength > int64(c.r.Buffered()) || !c.server.plain(r) {
		return nil, read
	}
	r.RemoteAddr = c.remote
	return r, read
}

// wholeHead reports whether the whole head of a request is there, without anything that net/http's server would look at twice:
// it takes other bytes, too, and refuses some of them.
func wholeHead(read []byte) bool {
	end := bytes.Index(read, []byte("\r\n\r\n"))
	if end < 0 {
		return false
	}
	name := false // in the name of a header, where only letters, digits and - are ordinary
	for i, b := range read[:end] {
		switch {
		case b == '\n':
			if i == 0 || read[i-1] != '\r' {
				return false
			}
			name = true
		case b == '\r':
			if read[i+1] != '\n' {
				return false
			}
		case b < ' ' || b > '~':
			return false
		case name && b == ':':
			name = false
		case name && !('a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '-'):
			return false
		}
	}
	return true
}

// ordinary reports whether nothing of the request is out of the ordinary: no other version, no body but one of a known length, and
// no wish about the connection.
func ordinary(r *http.Request) bool {
	if r.ProtoMajor != 1 || r.ProtoMinor != 1 || r.Close || r.TransferEncoding != nil || r.ContentLength < 0 || !strings.HasPrefix(r.RequestURI, "/") {
		return false
	}
	switch r.Method {
	case http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete, http.MethodPut:
	default:
		return false
	}
	for name, values := range r.Header {
		switch name {
		case "Connection":
			if len(values) != 1 || !strings.EqualFold(values[0], "keep-alive") {
				return false
			}
		case "Expect", "Upgrade", "Trailer", "Te", "Http2-Settings", "Keep-Alive", "Proxy-Connection":
			return false
		}
	}
	return ordinaryHost(r.Host)
}

func ordinaryHost(host string) bool {
	for _, b := range []byte(host) {
		if !('a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '-' || b == '.' || b == ':' || b == '[' || b == ']') {
			return false
		}
	}
	return host != ""
}

// serve has the handler answer, and reports whether the connection goes on.
func (c *conn) serve(r *http.Request) (goesOn bool) {
	after := c.r.Buffered() - int(r.ContentLength)
	ctx := &requestContext{conn: c, began: time.Now()}
	c.arm(ctx.began, c.server.rest.IdleTimeout)
	c.answer.begin(ctx.began)
	defer ctx.end()
	defer func() {
		if panicked := recover(); panicked != nil {
			goesOn = false // and nothing is answered
			if panicked != http.ErrAbortHandler && c.server.rest.ErrorLog != nil {
				c.server.rest.ErrorLog.Printf("panic serving %s: %v\n%s", c.remote, panicked, debug.Stack())
			}
		}
	}()
	c.server.rest.Handler.ServeHTTP(&c.answer, r.WithContext(ctx))
	if c.server.stopping.Load() {
		c.answer.header.Set("Connection", "close")
	}
	if !c.answer.finish() {
		return false
	}
	_, err := c.r.Discard(c.r.Buffered() - after) // what the handler left of the body
	return err == nil
}
