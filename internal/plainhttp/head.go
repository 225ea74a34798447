package plainhttp

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// The lines of an answer's head.

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

// appendHeader leaves out a header whose name is none, and keeps a value from ending its line, as net/http does.
func appendHeader(b []byte, name string, values []string) []byte {
	if !isToken(name) {
		return b
	}
	for _, v := range values {
		b = append(append(b, name...), ": "...)
		begin := len(b)
		b = append(b, v...)
		if strings.IndexByte(v, '\n') >= 0 || strings.IndexByte(v, '\r') >= 0 {
			for i := begin; i < len(b); i++ {
				if b[i] == '\r' || b[i] == '\n' {
					b[i] = ' '
				}
			}
		}
		b = append(b, "\r\n"...)
	}
	return b
}

func isToken(name string) bool {
	for i := range len(name) {
		if !tokens[name[i]] {
			return false
		}
	}
	return name != ""
}

// tokens are the bytes of a header's name (RFC 9110, section 5.6.2).
var tokens = func() (is [256]bool) {
	for _, b := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~") {
		is[b] = true
	}
	return is
}()

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
