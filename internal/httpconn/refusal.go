package httpconn

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
)

// refusals are what to tell a client whom net/http refuses before there is a request to give to a handler.
var refusals = map[int]string{
	http.StatusBadRequest:                  "The request cannot be read. Check its address, where two hexadecimal digits must follow a %, its Host and its other headers.",
	http.StatusExpectationFailed:           "The Expect header may ask for 100-continue only. Leave it out.",
	http.StatusRequestHeaderFieldsTooLarge: "The address and the headers are too long. Send at most 32 KiB of them.",
	http.StatusNotImplemented:              "The Transfer-Encoding is not supported. Send the body chunked, or with a Content-Length.",
	http.StatusHTTPVersionNotSupported:     "The version of HTTP is not supported. Use HTTP/1.1.",
}

// How net/http writes a refusal, each in one write: as plain text right after the status, which no handler's answer is, since that has a
// date; and for an Expect without a body, with a status that no handler has.
const (
	plainText = "Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
	noBody    = "\r\nContent-Length: 0\r\n\r\n"
)

// refusal is what to write instead of a refusal of net/http's; of anything else, nil. Nothing was charged for it, so the limits'
// headers are those of a request without limits.
func refusal(p []byte) []byte {
	line, ok := bytes.CutPrefix(p, []byte("HTTP/1.1 "))
	if !ok || len(line) < 3 || line[0] < '4' {
		return nil
	}
	line, rest, _ := bytes.Cut(line, []byte("\r\n"))
	code, err := strconv.Atoi(string(line[:min(len(line), 3)]))
	text, plain := bytes.CutPrefix(rest, []byte(plainText))
	switch {
	case err != nil:
		return nil
	case plain && !bytes.ContainsAny(text, "\r\n"):
	case code == http.StatusExpectationFailed && bytes.HasSuffix(p, []byte(noBody)):
	default:
		return nil
	}
	message, known := refusals[code]
	if !known {
		message = "The request cannot be answered: " + http.StatusText(code) + "."
	}
	body := fmt.Sprintf(`{"message":%q}`, message)
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nCache-Control: private, no-store\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\n"+
		"X-Ratelimit-Limit: 2147483647\r\nX-Ratelimit-Remaining: 2147483647\r\nX-Ratelimit-Reset: 0\r\n"+
		"Content-Length: %d\r\nConnection: close\r\n\r\n%s", code, http.StatusText(code), len(body), body)
}
