package plainhttp

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

// lastHead is what a connection's last request had below its first line. A client sends the same headers again and again, and what is
// byte for byte the same is not read again: that would take a tenth of what a small answer takes.
type lastHead struct {
	lines  []byte // with the empty one at the end; none before the first request
	header http.Header
	host   string
	length int64
}

// changing are the headers that may have another value than the last time: all but the last one mean nothing to who reads a request.
var changing = [...]string{"If-None-Match", "Idempotency-Key", "X-Api-Key", contentLength}

const contentLength = "Content-Length"

var crlf, headEnd, space, colon = []byte("\r\n"), []byte("\r\n\r\n"), []byte(" "), []byte(":")

// begin notes the lines of a head, before ReadRequest writes their names in its own way into what was read.
func (l *lastHead) begin(read []byte) {
	first, last := bytes.Index(read, crlf)+len(crlf), bytes.Index(read, headEnd)+len(headEnd)
	l.lines = append(l.lines[:0], read[first:last]...)
}

// end notes what ReadRequest made of them. A head of which it left a line out is not kept: it takes two equal lengths for one. Nor is one to
// which it adds a line, as it does to Pragma.
func (l *lastHead) end(r *http.Request) {
	lines := 2 // the host's, and the empty one
	for _, values := range r.Header {
		lines += len(values)
	}
	if bytes.Count(l.lines, crlf) != lines || r.Header["Pragma"] != nil {
		l.lines = l.lines[:0]
	}
	l.header, l.host, l.length = r.Header, r.Host, r.ContentLength
}

// again reports whether a head's lines, which begin what was read, are these, but for values that may change; these are them then. What was
// read is what ReadRequest would make of it.
func (l *lastHead) again(read []byte) bool {
	if len(l.lines) == 0 {
		return false
	}
	if bytes.HasPrefix(read, l.lines) {
		return true
	}
	header, length := http.Header(nil), l.length
	before, rest := l.lines, read
	for len(before) > 0 {
		var line, was []byte
		var whole bool
		was, before, _ = bytes.Cut(before, crlf)
		if line, rest, whole = bytes.Cut(rest, crlf); !whole {
			return false
		}
		if bytes.Equal(was, line) {
			continue
		}
		name, value, changed := changedLine(was, line)
		if !changed || len(l.header[name]) != 1 {
			return false
		}
		if name == contentLength {
			if length = lengthIn(value); length < 0 {
				return false
			}
		}
		if header == nil {
			header = maps.Clone(l.header) // the other one is the last request's
		}
		header[name] = []string{value}
	}
	l.lines = append(l.lines[:0], read[:len(read)-len(rest)]...)
	l.header, l.length = header, length
	return true
}

// changedLine reads a line that has another value than it had.
func changedLine(was, line []byte) (name, value string, ok bool) {
	before, _, _ := bytes.Cut(was, colon)
	given, text, whole := bytes.Cut(line, colon)
	if !whole || !bytes.Equal(before, given) || !printable(text, ' ') {
		return "", "", false
	}
	for _, name := range changing {
		if strings.EqualFold(string(given), name) {
			return name, string(bytes.Trim(text, " ")), true
		}
	}
	return "", "", false
}

// lengthIn is a length that may be a plain request's; -1 if it is none.
func lengthIn(value string) int64 {
	for i := range len(value) {
		if value[i] < '0' || value[i] > '9' {
			return -1
		}
	}
	if n, err := strconv.Atoi(value); err == nil && n <= plainBytes {
		return int64(n)
	}
	return -1
}

// again reads a request whose head is, but for its first line, that of the one before. It is nil, with nothing taken, when that is not so or
// the request may not be plain.
func (c *conn) again(x *exchange, read []byte) *http.Request {
	line, rest, _ := bytes.Cut(read, crlf)
	named, after, _ := bytes.Cut(line, space)
	target, version, _ := bytes.Cut(after, space)
	method := methodOf(named)
	if method == "" || string(version) != "HTTP/1.1" || !printable(target, '!') || !c.last.again(rest) {
		return nil
	}
	length, body := int(c.last.length), rest[len(c.last.lines):]
	uri := string(target)
	if len(body) < length || !parseURI(&x.url, uri) {
		return nil
	}
	x.body.rest = body[:length]
	c.request = http.Request{
		Method: method, URL: &x.url, RequestURI: uri, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: c.last.header, Host: c.last.host, ContentLength: c.last.length, Body: http.NoBody,
	}
	if length > 0 {
		c.request.Body = &x.body
	}
	_, _ = c.r.Discard(len(line) + len(crlf) + len(c.last.lines))
	return &c.request
}

// methodOf is a method that a plain request may have, or "".
func methodOf[T string | []byte](name T) string {
	switch string(name) {
	case http.MethodGet:
		return http.MethodGet
	case http.MethodPost:
		return http.MethodPost
	case http.MethodPatch:
		return http.MethodPatch
	case http.MethodDelete:
		return http.MethodDelete
	case http.MethodPut:
		return http.MethodPut
	}
	return ""
}

// printable reports whether all bytes are from least on, and printable.
func printable(text []byte, least byte) bool {
	for _, b := range text {
		if b < least || b > '~' {
			return false
		}
	}
	return true
}

// parseURI is url.ParseRequestURI for what begins with a slash, of printable characters.
func parseURI(u *url.URL, uri string) bool {
	path, query, asks := strings.Cut(uri, "?")
	if !strings.HasPrefix(uri, "/") {
		return false
	}
	for i := range len(path) {
		if b := path[i]; !('a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '/' || b == '-' || b == '_' || b == '.') {
			return parseAny(u, uri)
		}
	}
	u.Path, u.RawQuery, u.ForceQuery = path, query, asks && query == ""
	return true
}

func parseAny(u *url.URL, uri string) bool {
	parsed, err := url.ParseRequestURI(uri)
	if err == nil {
		*u = *parsed
	}
	return err == nil
}

// body is that of a request which again reads: all of it is there.
type body struct {
	mu   sync.Mutex // the handler may read it where it likes
	rest []byte     // in the connection's buffer
	over bool
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return 0, http.ErrBodyReadAfterClose
	}
	if len(b.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// Close implements io.Closer. After it nobody reads what is in the buffer.
func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over, b.rest = true, nil
	return nil
}
