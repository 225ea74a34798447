package plainhttp_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
)

// Many clients at once, of all kinds, until the server stops in the midst of it: whatever is answered is the answer to what was asked
// on that connection, in its order, and nothing is left in the end.
func TestManyClients(t *testing.T) {
	var plain, others atomic.Int64
	s, address := listen(t, newRest(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if plainly(r) {
			plain.Add(1)
		} else {
			others.Add(1)
		}
		if r.URL.Path == "/waits" {
			_ = r.Context().Done()
		}
		w.Header().Set("X-Asked", r.Header.Get("X-Asked"))
		if r.URL.Path == "/unread" {
			return
		}
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/large" {
			body = append(body, make([]byte, 20_000)...)
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = w.Write(body)
	})), nil)
	var clients sync.WaitGroup
	var answered atomic.Int64
	var stopping atomic.Bool
	enough := make(chan bool)
	for id := range 8 {
		clients.Go(func() {
			for n := 0; ; n++ {
				c, err := net.Dial("tcp", address)
				if err != nil {
					return // the server has stopped
				}
				err = converse(t, newClient(c), rand.New(rand.NewPCG(uint64(id), uint64(n))), func() {
					if answered.Add(1) == 5000 {
						close(enough)
					}
				})
				if err != nil && !stopping.Load() {
					t.Errorf("a connection was cut: %v", err)
				}
				_ = c.Close()
			}
		})
	}
	<-enough
	stopping.Store(true)
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if n := s.Conns(); n != 0 {
		t.Errorf("%d connections are left", n)
	}
	clients.Wait()
	if plain.Load() == 0 || others.Load() == 0 {
		t.Errorf("%d requests were plain and %d were not", plain.Load(), others.Load())
	}
}

// converse asks a few times, some requests at once or in pieces, and may leave without the last answers.
func converse(t *testing.T, c *client, random *rand.Rand, answered func()) error {
	for batch := range 1 + random.IntN(10) {
		var packet []byte
		var asked []string
		for i := range 1 + random.IntN(3) {
			asked = append(asked, fmt.Sprintf("%d.%d", batch, i))
			method := []string{"GET", "POST", "PUT", "POST", "GET", "GET", "BREW"}[random.IntN(7)]
			path := []string{"/", "/unread", "/large", "/waits"}[random.IntN(4)]
			body := "GET / HTTP/1.1\r\nHost: h\r\n\r\n"[:random.IntN(28)]
			packet = fmt.Appendf(packet, "%s %s HTTP/1.1\r\nHost: h\r\nX-Asked: %s\r\nContent-Length: %d\r\n\r\n%s", method, path, asked[i], len(body), body)
		}
		if random.IntN(10) == 0 { // in two pieces
			cut := random.IntN(len(packet))
			_, _ = c.Write(packet[:cut])
			packet = packet[cut:]
		}
		if _, err := c.Write(packet); err != nil || random.IntN(20) == 0 {
			return err
		}
		for _, want := range asked {
			answer, err := http.ReadResponse(c.r, nil)
			if err != nil {
				return err
			}
			if _, err := io.Copy(io.Discard, answer.Body); err != nil {
				return err
			}
			if got := answer.Header.Get("X-Asked"); got != want {
				t.Errorf("asked %s, the answer is to %q", want, got)
			}
			answered()
		}
	}
	return nil
}
