package plainhttp

import (
	"bytes"
	"net/http"
	"strings"
)

// wholeHead reports whether the whole head of a request is there, without anything that net/http's server would look at twice:
// it takes other bytes, too, and refuses some of them.
func wholeHead(read []byte) bool {
	end := bytes.Index(read, headEnd)
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
	if methodOf(r.Method) == "" || r.ProtoMajor != 1 || r.ProtoMinor != 1 || r.Close || r.TransferEncoding != nil || r.ContentLength < 0 || !strings.HasPrefix(r.RequestURI, "/") {
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
