package httpconn_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// ask sends a request as it stands and returns the answer with its body, and whether the connection was closed after it.
func ask(t *testing.T, address, request string) (answer *http.Response, body string, closed bool) {
	t.Helper()
	c := dial(t, address)
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(c)
	answer, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	read, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Close {
		rest, _ := io.ReadAll(r) // to the end, or a reset of what was not read of the request
		closed = len(rest) == 0
	}
	return answer, string(read), closed
}

// What net/http refuses by itself is refused as the API refuses.
func TestRefusalsOfTheServerAreJSON(t *testing.T) {
	address := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the handler has got a request that cannot be read") })
	const get = "GET / HTTP/1.1\r\nHost: h\r\n"
	for name, c := range map[string]struct {
		request string
		status  int
		says    string
	}{
		"malformed escape":   {"GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n", 400, "hexadecimal digits"},
		"no host":            {"GET / HTTP/1.1\r\n\r\n", 400, "Host"},
		"two hosts":          {get + "Host: i\r\n\r\n", 400, "Host"},
		"no request":         {"nonsense\r\n\r\n", 400, "cannot be read"},
		"a broken header":    {get + "A B: c\r\n\r\n", 400, "headers"},
		"two lengths":        {get + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, "headers"},
		"unknown encoding":   {get + "Transfer-Encoding: gzip\r\n\r\n", 501, "Content-Length"},
		"unknown version":    {"GET / HTTP/3.1\r\nHost: h\r\n\r\n", 505, "HTTP/1.1"},
		"unknown expect":     {get + "Expect: much\r\n\r\n", 417, "Expect"},
		"too much of a head": {get + "A: " + strings.Repeat("a", 64<<10) + "\r\n\r\n", 431, "32 KiB"},
	} {
		answer, body, closed := ask(t, address, c.request)
		var said struct{ Message string }
		if err := json.Unmarshal([]byte(body), &said); err != nil || !strings.Contains(said.Message, c.says) || answer.StatusCode != c.status || !closed {
			t.Errorf("%s: %d %q (%v), closed %v", name, answer.StatusCode, body, err, closed)
		}
		for header, want := range map[string]string{
			"Content-Type": "application/json", "Cache-Control": "private, no-store", "X-RateLimit-Limit": "2147483647",
			"X-RateLimit-Remaining": "2147483647", "X-RateLimit-Reset": "0",
		} {
			if got := answer.Header.Get(header); got != want {
				t.Errorf("%s: %s is %q, want %q", name, header, got, want)
			}
		}
	}
}

// What a handler says stays as it is, however much it looks like a refusal of the server's.
func TestAHandlersAnswerStays(t *testing.T) {
	const text = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request"
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, text)
	})
	answer, body, _ := ask(t, address, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	if answer.StatusCode != 400 || body != text || answer.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("%d %v %q", answer.StatusCode, answer.Header, body)
	}
	c := dial(t, address)
	if _, err := fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\na"); err != nil {
		t.Fatal(err)
	}
	if answer, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || answer.StatusCode != 400 {
		t.Errorf("an Expect that is known: %v, %v", answer, err)
	}
}
