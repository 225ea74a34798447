package plainhttp

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// together is up to how long a body is copied behind the head, so that both are one write.
	together = 4 << 10
	// keepBytes is how much memory a connection keeps of each of its buffers from one answer to the next.
	keepBytes = 16 << 10
)

// errOver is what a handler gets that writes after it has returned.
var errOver = errors.New("plainhttp: the request was answered")

// answer is the http.ResponseWriter of one plain request. What the handler writes is kept until it returns, unless it says the
// length of the body and writes it at once. Informational answers are left out, as are the trailers and encodings of a handler.
//
// A handler that keeps it, or leaves it to another goroutine, can write nothing after it has returned, into whosever answer. The
// map that Header returned is for the connection's next request then: nobody may touch it any more.
type answer struct {
	// mu keeps who writes while the handler returns from what is another answer's after it. Only who writes for the handler needs it:
	// once over is set under it, the rest is the connection's alone.
	mu   sync.Mutex
	over atomic.Bool // the handler has returned

	sent, failed, closes bool
	typed                bool // the type of the body is none to find out
	dated                bool

	conn   *conn
	began  time.Time   // the request; the Date of its answer
	header http.Header // the handler's, which is written when it says the status
	status int         // 0 until then

	length     int64    // of the body, as the handler says; -1 if it does not
	written    int64    // of the body, be it too much
	connection []string // the header

	head, body []byte
}

// begin takes the connection's memory.
func (a *answer) begin(c *conn, began time.Time) {
	a.conn, a.began, a.length = c, began, -1
	a.header, a.head, a.body = c.header, c.head, c.body
}

// stop waits for a write that has begun, and lets the handler begin no other.
func (a *answer) stop() {
	a.mu.Lock()
	a.over.Store(true)
	a.mu.Unlock()
}

// end gives the memory back, without what was in it. The header stays, for Header may look at it at the same time.
func (a *answer) end() {
	if !a.over.Load() { // the handler did not return
		a.stop()
	}
	clear(a.header)
	a.conn.head, a.conn.body = kept(a.head), kept(a.body)
	a.conn, a.head, a.body, a.connection = nil, nil, nil, nil
}

func kept(b []byte) []byte {
	if cap(b) > keepBytes {
		return nil
	}
	return b[:0]
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header {
	if a.over.Load() {
		return http.Header{}
	}
	return a.header
}

// WriteHeader implements http.ResponseWriter. Only the first status counts, with the headers as they are then.
func (a *answer) WriteHeader(status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.over.Load() {
		a.setStatus(status)
	}
}

func (a *answer) setStatus(status int) {
	switch {
	case a.status != 0:
		return
	case status < 100 || status > 999:
		panic(fmt.Sprintf("invalid WriteHeader code %v", status)) // as net/http does
	case status < 200:
		return
	}
	a.status = status
	a.writeHeaders()
}

// Write implements http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over.Load() {
		return 0, errOver
	}
	if a.status == 0 {
		a.setStatus(http.StatusOK)
	}
	switch {
	case len(p) == 0:
		return 0, nil
	case !hasBody(a.status):
		return 0, http.ErrBodyNotAllowed
	}
	a.written += int64(len(p))
	switch {
	case a.length >= 0 && a.written > a.length:
		return 0, http.ErrContentLength
	case len(p) > together && int64(len(p)) == a.length: // all of it
		if !a.send(p) {
			return 0, net.ErrClosed
		}
		return len(p), nil
	}
	a.body = append(a.body, p...)
	return len(p), nil
}

// WriteString implements io.StringWriter.
func (a *answer) WriteString(s string) (int, error) { return a.Write([]byte(s)) }

func hasBody(status int) bool {
	return status != http.StatusNoContent && status != http.StatusNotModified
}

// finish sends what is left to send, and reports whether the connection goes on: not after a body that is not as long as it was
// said to be.
func (a *answer) finish() bool {
	a.stop()
	if a.status == 0 {
		a.setStatus(http.StatusOK)
	}
	if !a.sent {
		a.send(a.body)
	}
	asSaid := a.length < 0 || a.length == a.written || !hasBody(a.status)
	return asSaid && !a.failed && !a.closes
}

// send writes the head and the body, and reports whether it could.
func (a *answer) send(body []byte) bool {
	a.sent = true
	a.endHead(body)
	var err error
	if len(body) <= together {
		a.head = append(a.head, body...)
		_, err = a.conn.Write(a.head)
	} else {
		both := net.Buffers{a.head, body}
		_, err = both.WriteTo(a.conn.Conn)
	}
	a.failed = err != nil
	return err == nil
}

// writeHeaders begins the head with what the handler says, so that what it says later does not count.
func (a *answer) writeHeaders() {
	b := append(a.head, statusLine(a.status)...)
	for name, values := range a.header {
		switch name {
		case "Connection": // in the end
			a.connection = values
			continue
		case "Content-Length":
			a.length = lengthOf(values)
			continue
		case "Transfer-Encoding":
			continue
		case "Content-Type":
			a.typed = true
			if a.status == http.StatusNotModified {
				continue
			}
		case "Content-Encoding": // then the body does not show its type
			a.typed = a.typed || len(values) > 0 && values[0] != ""
		case "Date":
			a.dated = true
		}
		b = appendHeader(b, name, values)
	}
	a.head = b
}

// endHead ends the head with what is known once the body is.
func (a *answer) endHead(body []byte) {
	b := a.head
	if hasBody(a.status) {
		if !a.typed && len(body) > 0 {
			b = append(append(append(b, "Content-Type: "...), http.DetectContentType(body)...), "\r\n"...)
		}
		length := a.length
		if length < 0 {
			length = int64(len(body))
		}
		b = append(strconv.AppendInt(append(b, "Content-Length: "...), length, 10), "\r\n"...)
	}
	if !a.dated {
		b = append(append(append(b, "Date: "...), date(a.began)...), "\r\n"...)
	}
	a.closes = len(a.connection) > 0 && a.connection[0] == "close"
	if !a.closes && a.conn.server.stopping.Load() {
		a.closes, a.connection = true, []string{"close"}
	}
	a.head = append(appendHeader(b, "Connection", a.connection), "\r\n"...)
}

// lengthOf is what a Content-Length says; -1 if that is none, or nothing.
func lengthOf(values []string) int64 {
	if len(values) > 0 {
		if n, err := strconv.ParseInt(values[0], 10, 64); err == nil && n >= 0 {
			return n
		}
	}
	return -1
}
