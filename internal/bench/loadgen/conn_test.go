package loadgen

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

func dialTest(tb testing.TB, base string) *conn {
	tb.Helper()
	t, err := newTarget(base)
	if err != nil {
		tb.Fatal(err)
	}
	c, err := t.dial(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close() })
	return c
}

// connect connects to a server with TLS or without.
func connect(t *testing.T, server *httptest.Server) *conn {
	t.Helper()
	if server.TLS == nil {
		return dialTest(t, server.URL)
	}
	c, err := tls.Dial("tcp", server.Listener.Addr().String(), server.Client().Transport.(*http.Transport).TLSClientConfig)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return newConn(c)
}

func soon() time.Time { return time.Now().Add(10 * time.Second) }

func get(path string) []byte { return []byte("GET " + path + " HTTP/1.1\r\nHost: test\r\n\r\n") }

// Every framing that net/http's server uses, one after another on one connection.
func TestExchangeReadsEachAnswerToItsEnd(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/length", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		fmt.Fprint(w, "short")
	})
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(100_000))
		w.Write(bytes.Repeat([]byte("HTTP/1.1 200 OK\r\n\r\n    "), 100_000/23+1)[:100_000])
	})
	mux.HandleFunc("/chunked", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		for range 5 {
			fmt.Fprint(w, strings.Repeat("x", 3000))
			w.(http.Flusher).Flush()
		}
		w.Header().Set("X-Sum", "1")
	})
	mux.HandleFunc("/none", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/unchanged", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) })
	mux.HandleFunc("/early", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	for name, server := range map[string]*httptest.Server{"plain": httptest.NewServer(mux), "tls": httptest.NewTLSServer(mux)} {
		t.Run(name, func(t *testing.T) {
			defer server.Close()
			c := connect(t, server)
			for range 2 {
				for path, status := range map[string]int{"/length": 200, "/large": 200, "/chunked": 200, "/none": 204, "/unchanged": 304, "/early": 503} {
					a, err := c.exchange(get(path), soon())
					if err != nil || a.status != status {
						t.Fatalf("%s: %d, %v", path, a.status, err)
					}
					if (string(a.etag) == `"v1"`) != (path == "/length") {
						t.Errorf("%s: ETag %q", path, a.etag)
					}
					if c.last {
						t.Errorf("%s: taken for the last answer", path)
					}
				}
			}
			if _, err := c.exchange([]byte("GET /length HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"), soon()); err != nil || !c.last {
				t.Errorf("an answer that says close: last %v, %v", c.last, err)
			}
		})
	}
}

// answering serves one connection: it reads a request's head and answers with text.
func answering(t *testing.T, text string) *conn {
	t.Helper()
	client, server := net.Pipe()
	t.Cleanup(func() { client.Close() })
	go func() {
		defer server.Close()
		buf := make([]byte, 1024)
		if _, err := server.Read(buf); err == nil {
			io.WriteString(server, text)
		}
	}()
	return newConn(client)
}

func TestExchangeRefusesWhatIsNoAnswer(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":           "",
		"half a head":       "HTTP/1.1 200 OK\r\nContent-Le",
		"half a body":       "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
		"half a chunk":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
		"no chunk":          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nab\r\n",
		"another protocol":  "SSH-2.0-OpenSSH_9.2\r\n\r\n",
		"no status":         "HTTP/1.1 abc OK\r\n\r\n",
		"a negative length": "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"a header unended":  "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", headBytes) + "\r\n\r\n",
		"no header":         "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
		"an encoding":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			if a, err := answering(t, text).exchange(get("/"), soon()); err == nil || errors.Is(err, io.EOF) {
				t.Errorf("%d, %v", a.status, err)
			}
		})
	}
}

func TestAnAnswerMayBeItsConnectionsLast(t *testing.T) {
	for _, text := range []string{
		"HTTP/1.1 200 OK\r\n\r\nall of it",
		"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nfour",
		"HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 4\r\n\r\nfour",
	} {
		c := answering(t, text)
		if a, err := c.exchange(get("/"), soon()); err != nil || a.status != 200 || !c.last {
			t.Errorf("%q: %d, last %v, %v", text, a.status, c.last, err)
		}
	}
}

func TestExchangeEndsAtItsDeadline(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer server.Close()
	c := dialTest(t, server.URL)
	if _, err := c.exchange(get("/"), time.Now().Add(20*time.Millisecond)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v", err)
	}
	c.Close()
}

// BenchmarkExchange compares one connection's exchange with that of net/http's client, CPU of the server included.
func BenchmarkExchange(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"level":{"level":12,"messageCount":0,"xp":6070}}`)
	}))
	defer server.Close()
	const body = `{"xp":{"increment":7}}`
	b.Run("conn", func(b *testing.B) {
		c := dialTest(b, server.URL)
		request := fmt.Appendf(nil, "PATCH /v2 HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		b.ReportAllocs()
		for b.Loop() {
			if a, err := c.exchange(request, soon()); err != nil || a.status != 200 {
				b.Fatal(a.status, err)
			}
		}
	})
	b.Run("net_http", func(b *testing.B) {
		client := server.Client()
		b.ReportAllocs()
		for b.Loop() {
			ctx, cancel := context.WithTimeout(b.Context(), answerTime)
			request, err := http.NewRequestWithContext(ctx, http.MethodPatch, server.URL+"/v2", strings.NewReader(body))
			if err != nil {
				b.Fatal(err)
			}
			response, err := client.Do(request)
			if err != nil {
				b.Fatal(err)
			}
			io.Copy(io.Discard, response.Body)
			response.Body.Close()
			cancel()
		}
	})
}
