//go:build linux || darwin || freebsd

package plainhttp_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// hangUps are the ways in which a client, or the server itself, ends a connection. As with net/http, half of an end is one.
var hangUps = map[string]func(c *net.TCPConn, closeServer func() error){
	"closed":        func(c *net.TCPConn, _ func() error) { _ = c.Close() },
	"reset":         func(c *net.TCPConn, _ func() error) { _ = c.SetLinger(0); _ = c.Close() },
	"half closed":   func(c *net.TCPConn, _ func() error) { _ = c.CloseWrite() },
	"by the server": func(_ *net.TCPConn, closeServer func() error) { _ = closeServer() },
}

func TestAHandlerHearsThatItsClientHangsUp(t *testing.T) {
	waits := map[string]func(ctx context.Context){
		"Done": func(ctx context.Context) { <-ctx.Done() },
		"Err": func(ctx context.Context) {
			for ctx.Err() == nil {
				runtime.Gosched()
			}
		},
		"Err, after Done was asked for": func(ctx context.Context) {
			_ = ctx.Done()
			for ctx.Err() == nil {
				runtime.Gosched()
			}
		},
		"WithCancel": func(ctx context.Context) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			<-ctx.Done()
		},
		"WithTimeout": func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			<-ctx.Done()
		},
		"AfterFunc": func(ctx context.Context) {
			ended := make(chan bool)
			context.AfterFunc(ctx, func() { close(ended) })
			<-ended
		},
	}
	for how, hangUp := range hangUps {
		for wait, until := range waits {
			t.Run(how+"/"+wait, func(t *testing.T) {
				runs, heard := make(chan bool, 1), make(chan error, 1)
				s, address := listen(t, newRest(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					runs <- true
					until(r.Context())
					heard <- context.Cause(r.Context())
				})), nil)
				c := dial(t, address)
				newClient(c).send(t, ask)
				<-runs
				hangUp(c, s.Close)
				if err := inTime(t, heard, "the handler to hear of it"); err != context.Canceled {
					t.Errorf("the context says %v", err)
				}
			})
		}
	}
}

// A handler that asks is told nothing of a connection that is fine, and after its answer that all is over.
func TestTheContextEndsWithTheAnswer(t *testing.T) {
	contexts := make(chan context.Context, 10)
	_, address := listen(t, newRest(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if _, ok := ctx.Deadline(); ok {
			t.Error("the context has a deadline")
		}
		contexts <- ctx
		if r.URL.Path == "/derived" {
			for range 3 {
				derived, cancel := context.WithCancel(ctx)
				t.Cleanup(cancel) // long after the end of the request
				contexts <- derived
			}
		}
		for began := time.Now(); time.Since(began) < 30*time.Millisecond; runtime.Gosched() { // until it looks at the connection
			if err := ctx.Err(); err != nil {
				t.Errorf("%s: %v while the client waits", r.URL.Path, err)
			}
		}
	})), nil)
	client := newClient(dial(t, address))
	for path, want := range map[string]int{"/": 1, "/derived": 4} {
		client.ask(t, "GET "+path+" HTTP/1.1\r\nHost: h\r\n\r\n")
		for range want {
			ctx := <-contexts
			inTime(t, ctx.Done(), "the end of the request's context")
			if err := ctx.Err(); err != context.Canceled {
				t.Errorf("%s: %v after the answer", path, err)
			}
		}
	}
}

// recorder notes the read deadline of a connection.
type recorder struct {
	*net.TCPConn
	readBy *atomic.Pointer[time.Time]
}

func (r recorder) SetReadDeadline(by time.Time) error {
	r.readBy.Store(&by)
	return r.TCPConn.SetReadDeadline(by)
}

// The time for the next request is not one for the answer to this one: while somebody waits for a client to hang up there is no read
// deadline, and after it the right one, although the wait was ended by another.
func TestDeadlinesAroundAWait(t *testing.T) {
	var readBy atomic.Pointer[time.Time]
	_, address := listen(t, newRest(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if by := readBy.Load(); by.IsZero() {
			t.Error("no deadline for the request")
		}
		_ = r.Context().Done()
		if by := readBy.Load(); !by.IsZero() {
			t.Errorf("the wait ends at %v", by)
		}
	})), func(c *net.TCPConn) net.Conn { return recorder{c, &readBy} })
	client := newClient(dial(t, address))
	for range 3 {
		client.ask(t, ask)
		for began := time.Now(); time.Until(*readBy.Load()) < 100*time.Second; runtime.Gosched() {
			if time.Since(began) > 20*time.Second {
				t.Fatalf("an idle connection's deadline is %v, want it in two minutes", readBy.Load())
			}
		}
	}
}

// What the client sends while somebody waits for it to hang up is for the next request, which can wait, too.
func TestRequestsThatArriveDuringAWait(t *testing.T) {
	runs, may := make(chan string, 1), make(chan bool)
	gone := make(chan bool, 1)
	_, address := listen(t, newRest(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		done := r.Context().Done()
		runs <- r.URL.Path
		select {
		case <-may:
		case <-done:
			gone <- true
		}
		body, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, "%s %s", r.URL.Path, body)
	})), nil)
	client := newClient(dial(t, address))
	post := func(i int) string {
		return fmt.Sprintf("POST /%d HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody", i)
	}
	client.send(t, post(0))
	for i := range 10 {
		if path := inTime(t, runs, "the request"); path != fmt.Sprintf("/%d", i) {
			t.Fatalf("request %d: got %s", i, path)
		}
		switch i {
		case 9:
		case 3, 6: // two in a packet, and the second is watched as well
			client.send(t, post(i+1)+post(i+2))
		case 4, 7:
		default:
			client.send(t, post(i+1))
		}
		if i == 9 {
			break
		}
		may <- true
		if _, body := client.answer(t); body != fmt.Sprintf("/%d body", i) {
			t.Errorf("answer %d: %q", i, body)
		}
	}
	_ = client.Close()
	inTime(t, gone, "the last handler to hear that its client hung up")
}

// The second of two requests that arrived together hears of its client, too, although the first one's wait left a deadline behind.
func TestTheSecondOfTwoRequestsHears(t *testing.T) {
	heard := make(chan bool, 1)
	_, address := listen(t, newRest(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		done := r.Context().Done()
		if r.Method == http.MethodPost {
			<-done
			heard <- true
		}
	})), nil)
	client := newClient(dial(t, address))
	client.send(t, ask+"POST"+ask[3:])
	client.answer(t)
	_ = client.Close()
	inTime(t, heard, "the second handler to hear that its client hung up")
}

// Whoever keeps a context and asks it from anywhere at any time hears nothing of the connection's next requests, and disturbs none.
func TestContextsThatAreKept(t *testing.T) {
	var asking sync.WaitGroup
	var stop atomic.Bool
	_, address := listen(t, newRest(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		first := make(chan bool)
		for i := range 4 {
			asking.Go(func() {
				ended := false
				for n := 0; !stop.Load() && n < 200; n++ {
					if (i+n)%2 == 0 {
						select {
						case <-ctx.Done():
							ended = true
						default:
							if ended {
								t.Error("a context that had ended goes on")
							}
						}
					} else if ctx.Err() != nil {
						ended = true
					} else if ended {
						t.Error("a context that had ended has no error")
					}
					if n == 5 && i == 0 {
						close(first)
					}
					runtime.Gosched()
				}
				if i == 3 && !stop.Load() {
					derived, cancel := context.WithTimeout(ctx, time.Hour)
					defer cancel()
					<-derived.Done()
				}
			})
		}
		<-first
		_, _ = io.Copy(w, r.Body)
	})), nil)
	var clients sync.WaitGroup
	for range 4 {
		client := newClient(dial(t, address))
		clients.Go(func() {
			for i := range 100 {
				want := fmt.Sprintf("%04d", i)
				client.send(t, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n"+want)
				if _, body := client.answer(t); body != want {
					t.Errorf("request %d is answered %q", i, body)
				}
			}
		})
	}
	clients.Wait()
	stop.Store(true)
	asking.Wait()
}

// The context of a request is over for the next one of its connection, also for who never waited and asks at once.
func TestAContextIsOverForTheNextRequest(t *testing.T) {
	var before context.Context
	_, address := listen(t, newRest(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if before != nil && before.Err() != context.Canceled {
			t.Errorf("the context of the request before says %v", before.Err())
		}
		if r.Context().Err() != nil {
			t.Error("this one is over")
		}
		before = r.Context()
	})), nil)
	client := newClient(dial(t, address))
	for range 3 {
		client.ask(t, ask)
	}
}

// One wait of a request has one goroutine, whatever is derived from its context, and none is left after the answer.
func TestGoroutinesOfAWait(t *testing.T) {
	var before, more []int
	_, address := listen(t, newRest(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		began := runtime.NumGoroutine()
		for range 50 {
			_, cancel := context.WithCancel(r.Context())
			t.Cleanup(cancel) // long after the end of the request
		}
		before, more = append(before, began), append(more, runtime.NumGoroutine()-began)
	})), nil)
	client := newClient(dial(t, address))
	for range 3 {
		client.ask(t, ask)
	}
	for i := range more {
		if more[i] > 1 {
			t.Errorf("request %d has %d goroutines more", i, more[i])
		}
	}
	if before[2] > before[0] {
		t.Errorf("%d goroutines became %d", before[0], before[2])
	}
}
