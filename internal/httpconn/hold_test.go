package httpconn_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"levelboard/internal/httpconn"
)

// serve runs a server whose handler is told its request's connection, and returns its address.
func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler, ConnContext: httpconn.Context, ReadHeaderTimeout: time.Minute, MaxHeaderBytes: 32 << 10}
	done := make(chan error, 1)
	go func() { done <- server.Serve(begunListener{l}) }()
	t.Cleanup(func() {
		_ = server.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serve: %v", err)
		}
	})
	return l.Addr().String()
}

type begunListener struct{ net.Listener }

func (l begunListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return httpconn.Begun(c, nil), nil
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Whatever the size of an answer, it arrives whole, and the connection goes on.
func TestAnswersArriveWhole(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789"), 10_000)
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		size, _ := strconv.Atoi(r.URL.Query().Get("size"))
		w.Header().Set("Content-Length", strconv.Itoa(size))
		defer httpconn.Hold(r.Context())()
		for rest := body[:size]; len(rest) > 0; {
			n, err := w.Write(rest[:min(len(rest), 70_000)])
			if err != nil || n != min(len(rest), 70_000) {
				t.Errorf("wrote %d of %d: %v", n, len(rest), err)
			}
			rest = rest[n:]
		}
	})
	c := dial(t, address)
	r := bufio.NewReader(c)
	get := func(method string, size int) {
		t.Helper()
		if _, err := fmt.Fprintf(c, "%s /?size=%d HTTP/1.1\r\nHost: h\r\n\r\n", method, size); err != nil {
			t.Fatal(err)
		}
		request, _ := http.NewRequest(method, "/", nil)
		answer, err := http.ReadResponse(r, request)
		if err != nil {
			t.Fatalf("%s of %d bytes: %v", method, size, err)
		}
		got, err := io.ReadAll(answer.Body)
		if method == "HEAD" {
			size = 0
		}
		if err != nil || !bytes.Equal(got, body[:size]) {
			t.Fatalf("%s of %d bytes: got %d, %v", method, size, len(got), err)
		}
	}
	for size := 3900; size < 4200; size++ { // the head and the body fill net/http's buffer to the last byte, and not quite
		get("GET", size)
	}
	for _, size := range []int{0, 1, 2047, 2048, 2049, 25_000, 100_000} {
		get("GET", size)
		get("HEAD", size)
	}
}

// What is held is sent by the write after it, and by the release, and not before.
func TestHeldUntilTheNextWrite(t *testing.T) {
	proceed, wrote := make(chan bool), make(chan bool)
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "9")
		release := httpconn.Hold(r.Context())
		for range 3 {
			_, _ = io.WriteString(w, "abc")
			_ = http.NewResponseController(w).Flush()
			wrote <- true
			<-proceed
		}
		release()
	})
	c := dial(t, address)
	if _, err := io.WriteString(c, "GET / HTTP/1.0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	arrived := make([]byte, 4096)
	<-wrote
	_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := c.Read(arrived); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("what is held was sent: %q, %v", arrived[:n], err)
	}
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	proceed <- true
	<-wrote
	n, err := c.Read(arrived)
	if err != nil || !bytes.HasSuffix(arrived[:n], []byte("\r\n\r\nabcabc")) {
		t.Errorf("the next write brought %q, %v", arrived[:n], err)
	}
	proceed <- true
	<-wrote
	if n, err = c.Read(arrived); err != nil || string(arrived[:n]) != "abc" {
		t.Errorf("the write after it brought %q, %v", arrived[:n], err)
	}
	proceed <- true
}

func TestReleaseSendsWhatIsHeld(t *testing.T) {
	proceed := make(chan bool)
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "6")
		release := httpconn.Hold(r.Context())
		_, _ = io.WriteString(w, "abc")
		_ = http.NewResponseController(w).Flush()
		release()
		<-proceed // the client has the first part
		_, _ = io.WriteString(w, "def")
	})
	c := dial(t, address)
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(c)
	answer, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	part := make([]byte, 3)
	if _, err := io.ReadFull(answer.Body, part); err != nil || string(part) != "abc" {
		t.Fatalf("%q, %v", part, err)
	}
	close(proceed)
	if _, err := io.ReadFull(answer.Body, part); err != nil || string(part) != "def" {
		t.Errorf("%q, %v", part, err)
	}
}

func TestAClientThatLeaves(t *testing.T) {
	failed := make(chan error, 1)
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done() // the client is gone
		large := make([]byte, 64<<10)
		var err error
		for i := 0; err == nil && i < 1000; i++ {
			release := httpconn.Hold(r.Context())
			_, err = w.Write(large)
			release()
		}
		failed <- err
	})
	c := dial(t, address)
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	_ = c.Close()
	if err := <-failed; err == nil {
		t.Error("64 MB were written to nobody")
	}
}
