package plainhttp_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"

	"levelboard/internal/plainhttp"
	"levelboard/internal/testenv"
)

// BenchmarkPlain is a small and a large answer over one connection of loopback TCP, with the client's end in it. What the two
// servers differ by is what the package is for.
func BenchmarkPlain(b *testing.B) {
	for _, size := range []int{100, 25_000} {
		body := make([]byte, size)
		handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			h := w.Header()
			h["Content-Type"] = []string{"application/json"}
			h["X-Request-Id"] = []string{"abcdefghijklmnopqrstuvwxyz"}
			h["Content-Length"] = []string{strconv.Itoa(len(body))}
			_, _ = w.Write(body)
		})
		b.Run("nethttp/"+strconv.Itoa(size), func(b *testing.B) { requests(b, newRest(handler)) })
		b.Run("plain/"+strconv.Itoa(size), func(b *testing.B) { requests(b, plainhttp.New(newRest(handler), everything)) })
	}
}

func requests(b *testing.B, server testenv.Server) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	r := bufio.NewReaderSize(c, 64<<10)
	request := []byte("GET /v2/levels/1 HTTP/1.1\r\nHost: localhost:8080\r\nUser-Agent: bench\r\nAccept-Encoding: gzip\r\nX-Api-Key: abcdefghijklmnop\r\n\r\n")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Write(request); err != nil {
			b.Fatal(err)
		}
		length := 0
		for {
			line, err := r.ReadSlice('\n')
			if err != nil {
				b.Fatal(err)
			}
			if len(line) == 2 {
				break
			}
			if string(line[:min(len(line), 16)]) == "Content-Length: " {
				length, _ = strconv.Atoi(string(line[16 : len(line)-2]))
			}
		}
		if _, err := io.CopyN(io.Discard, r, int64(length)); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	_ = c.Close()
	_ = server.Close()
	<-served
}
