package loadgen

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"slices"
	"strconv"
	"time"
)

const (
	// headBytes bounds one line of an answer's head, and is how much is read at a time: a whole page, or the load generator takes
	// more of a shared machine than it needs.
	headBytes = 32 << 10
	// keepBytes bounds a body that is kept: with all its role changes, a thousand messages' answer is shorter.
	keepBytes = 16 << 20
)

// conn is one persistent HTTP/1.1 connection for one request at a time. net/http's client hands each exchange between three
// goroutines; without that an exchange costs about half of the CPU, the server's part included (BenchmarkExchange), which
// matters where the load shares the service's cores. It is not for concurrent use.
type conn struct {
	net.Conn
	r *bufio.Reader
	// last says that the answer was the connection's last.
	last bool
	etag []byte
	// keep says that answers' bodies are kept, in body.
	keep bool
	body []byte
}

// answer is what is kept of an answer; its body was read, and is here only on a connection that keeps it.
type answer struct {
	status     int
	etag, body []byte // valid until the next exchange; empty for none
}

// unknown says that nobody can tell whether the service did what was asked: no answer came, or one that does not say.
func (a answer) unknown() bool { return a.status < 200 || a.status >= 500 }

var (
	errMalformed = errors.New("the answer is not HTTP/1.1")
	errTooLong   = errors.New("the answer is too long")
)

func newConn(c net.Conn) *conn { return &conn{Conn: c, r: bufio.NewReaderSize(c, headBytes)} }

// exchange sends a complete request and reads the whole answer, until the deadline at the latest. After an error the
// connection is of no more use, and whether the service did what was asked is unknown.
func (c *conn) exchange(request []byte, deadline time.Time) (answer, error) {
	if err := c.SetDeadline(deadline); err != nil {
		return answer{}, err
	}
	if _, err := c.Write(request); err != nil {
		return answer{}, err
	}
	for {
		h, err := c.readHead()
		if err != nil {
			return answer{}, err
		}
		if h.status < 200 && h.status != 101 {
			continue // an interim answer; the final one follows
		}
		if err := c.readBody(h); err != nil {
			return answer{}, err
		}
		return answer{status: h.status, etag: c.etag, body: c.body}, nil
	}
}

// head is what an answer's head says about its body.
type head struct {
	status  int
	length  int64 // -1 when it is not said
	chunked bool
}

func (c *conn) readHead() (head, error) {
	h := head{length: -1}
	c.etag = c.etag[:0]
	line, err := c.line()
	if err != nil {
		return h, err
	}
	// "HTTP/1.1 200 OK"
	if len(line) < 12 || string(line[:7]) != "HTTP/1." || line[8] != ' ' {
		return h, errMalformed
	}
	if h.status, err = strconv.Atoi(string(line[9:12])); err != nil || h.status < 100 {
		return h, errMalformed
	}
	c.last = line[7] != '1'
	for {
		line, err := c.line()
		if err != nil {
			return h, err
		}
		if len(line) == 0 {
			return h, nil
		}
		if err := c.readHeader(&h, line); err != nil {
			return h, err
		}
	}
}

// readHeader keeps what matters of one header, and tells names apart by their length first.
func (c *conn) readHeader(h *head, line []byte) error {
	colon := bytes.IndexByte(line, ':')
	if colon < 1 {
		return errMalformed
	}
	name, value := line[:colon], bytes.Trim(line[colon+1:], " \t")
	switch {
	case is(name, "Content-Length"):
		n, err := strconv.ParseUint(string(value), 10, 40)
		if err != nil {
			return errMalformed
		}
		h.length = int64(n)
	case is(name, "Transfer-Encoding"):
		if h.chunked = is(value, "chunked"); !h.chunked {
			return fmt.Errorf("the answer's transfer encoding %q is not known", value)
		}
	case is(name, "Connection"):
		c.last = c.last || is(value, "close")
	case is(name, "ETag"):
		c.etag = append(c.etag, value...)
	}
	return nil
}

func is(got []byte, want string) bool {
	return len(got) == len(want) && bytes.EqualFold(got, []byte(want))
}

// readBody reads the body to its end, which is where the next answer begins.
func (c *conn) readBody(h head) error {
	c.body = c.body[:0]
	switch {
	case h.status == 204 || h.status == 304:
		return nil
	case h.chunked:
		if err := c.drain(httputil.NewChunkedReader(c.r)); err != nil {
			return unexpected(err)
		}
		for { // trailers
			line, err := c.line()
			if err != nil || len(line) == 0 {
				return err
			}
		}
	case h.length > keepBytes && c.keep:
		return errTooLong
	case h.length >= 0 && c.keep:
		c.body = slices.Grow(c.body, int(h.length))[:h.length]
		_, err := io.ReadFull(c.r, c.body)
		return unexpected(err)
	case h.length >= 0:
		_, err := c.r.Discard(int(h.length))
		return unexpected(err)
	default:
		c.last = true
		return c.drain(c.r)
	}
}

// drain reads r to its end.
func (c *conn) drain(r io.Reader) error {
	if !c.keep {
		_, err := io.Copy(io.Discard, r)
		return err
	}
	kept := bytes.NewBuffer(c.body)
	n, err := kept.ReadFrom(io.LimitReader(r, keepBytes+1))
	c.body = kept.Bytes()
	if err == nil && n > keepBytes {
		err = errTooLong
	}
	return err
}

// line returns the next line without its end; it is valid until the next read.
func (c *conn) line() ([]byte, error) {
	line, err := c.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, errMalformed
	}
	if err != nil {
		return nil, unexpected(err)
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}

// unexpected is err for a place where no answer ends.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
