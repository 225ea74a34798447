package plainhttp

import (
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// together is up to how long a body is copied behind the head, so that both are one write.
	together = 4 << 10
	// keepBytes is how much memory a connection keeps from one answer to the next.
	keepBytes = 16 << 10
)

// answer is the http.ResponseWriter of a plain request. What the handler writes is kept until it returns, unless it says the length
// of the body and writes it at once. Nothing of it may be used after the handler has returned.
type answer struct {
	conn   *conn
	began  time.Time // the request; the Date of the answer
	header http.Header
	status int
	body   []byte
	head   []byte
	sent   bool
	failed bool // to write
	closes bool
}

func (a *answer) begin(began time.Time) {
	if a.header == nil {
		a.header = make(http.Header, 16)
	}
	clear(a.header)
	if cap(a.body) > keepBytes {
		a.body = nil
	}
	a.began, a.status, a.body, a.sent, a.closes = began, 0, a.body[:0], false, false
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter. Only the first status counts.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= 200 {
		a.status = status
	}
}

// Write implements http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	switch {
	case !hasBody(a.status):
		return 0, http.ErrBodyNotAllowed
	case a.sent && len(p) > 0:
		return 0, http.ErrContentLength
	case len(a.body) == 0 && len(p) > together && a.saysLength(len(p)):
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

func (a *answer) saysLength(n int) bool {
	said := a.header["Content-Length"]
	return len(said) == 1 && said[0] == strconv.Itoa(n)
}

func hasBody(status int) bool {
	return status >= 200 && status != http.StatusNoContent && status != http.StatusNotModified
}

// finish sends what is left to send, and reports whether the connection goes on.
func (a *answer) finish() bool {
	a.WriteHeader(http.StatusOK)
	if !a.sent {
		if said := a.header["Content-Length"]; said != nil && hasBody(a.status) && !a.saysLength(len(a.body)) {
			return false // less than it says; net/http gives up the connection, too
		}
		a.send(a.body)
	}
	return !a.failed && !a.closes
}

// send writes the head and the body, and reports whether it could.
func (a *answer) send(body []byte) bool {
	a.sent = true
	a.writeHead(len(body), body)
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

func (a *answer) writeHead(length int, body []byte) {
	b := append(a.head[:0], statusLine(a.status)...)
	for name, values := range a.header {
		switch name {
		case "Connection":
			a.closes = a.closes || len(values) > 0 && strings.EqualFold(values[0], "close")
		case "Content-Length":
			continue // below
		case "Transfer-Encoding":
			continue
		case "Content-Type":
			if a.status == http.StatusNotModified {
				continue
			}
		}
		for _, v := range values {
			b = append(append(b, name...), ": "...)
			b = append(appendValue(b, v), "\r\n"...)
		}
	}
	if hasBody(a.status) {
		if _, said := a.header["Content-Type"]; !said && length > 0 {
			b = append(append(append(b, "Content-Type: "...), http.DetectContentType(body)...), "\r\n"...)
		}
		b = append(strconv.AppendInt(append(b, "Content-Length: "...), int64(length), 10), "\r\n"...)
	}
	if _, said := a.header["Date"]; !said {
		b = append(append(append(b, "Date: "...), date(a.began)...), "\r\n"...)
	}
	a.head = append(b, "\r\n"...)
}

// appendValue keeps a value from ending its line, as net/http does.
func appendValue(b []byte, v string) []byte {
	begin := len(b)
	b = append(b, v...)
	if strings.ContainsAny(v, "\r\n") {
		for i := begin; i < len(b); i++ {
			if b[i] == '\r' || b[i] == '\n' {
				b[i] = ' '
			}
		}
	}
	return b
}

func statusLine(status int) string {
	switch status {
	case http.StatusOK:
		return "HTTP/1.1 200 OK\r\n"
	case http.StatusNotModified:
		return "HTTP/1.1 304 Not Modified\r\n"
	}
	text := http.StatusText(status)
	if text == "" {
		text = "status code " + strconv.Itoa(status)
	}
	return "HTTP/1.1 " + strconv.Itoa(status) + " " + text + "\r\n"
}

// date is a time for the Date header, which counts in seconds.
func date(now time.Time) string {
	if d := lastDate.Load(); d != nil && d.second == now.Unix() {
		return d.text
	}
	d := &second{now.Unix(), now.UTC().Format(http.TimeFormat)}
	lastDate.Store(d)
	return d.text
}

type second struct {
	second int64
	text   string
}

var lastDate atomic.Pointer[second]
