package plainhttp_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"levelboard/internal/plainhttp"
)

// blocked is a handler that says when it runs and answers when it may.
func blocked() (h http.Handler, runs, may chan bool) {
	runs, may = make(chan bool), make(chan bool)
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		runs <- true
		<-may
		_, _ = io.WriteString(w, "at last")
	}), runs, may
}

func TestShutdownClosesIdleConnectionsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m, served := start(t, newRest(says("hello")), everything)
		fresh, used, begun := newClient(m.dial(t)), newClient(m.dial(t)), newClient(m.dial(t))
		used.ask(t, ask)
		begun.ask(t, ask)
		begun.send(t, ask[:3])
		synctest.Wait()
		began := time.Now()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		for _, c := range []*client{fresh, used, begun} {
			c.ended(t)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("Serve returned %v", err)
		}
		if took := time.Since(began); took > 10*time.Millisecond { // net/http looks every few of them
			t.Errorf("it took %v", took)
		}
	})
}

// A request that runs is answered and told that the connection ends, and Shutdown waits for it; one behind it is not begun.
func TestShutdownWaitsForAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler, runs, may := blocked()
		s, m, _ := start(t, newRest(handler), everything)
		client := newClient(m.dial(t))
		client.send(t, ask+ask)
		<-runs
		stopped := make(chan error, 1)
		go func() { stopped <- s.Shutdown(t.Context()) }()
		time.Sleep(10 * time.Second)
		select {
		case err := <-stopped:
			t.Fatalf("Shutdown did not wait: %v", err)
		default:
		}
		may <- true
		if answer, body := client.answer(t); body != "at last" || !answer.Close {
			t.Errorf("%q, Connection: %q", body, answer.Header["Connection"])
		}
		client.ended(t)
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
}

// An answer that began before the stop does not say that the connection ends, which it does all the same: also when the next request is there
// already, which is not begun.
func TestShutdownAfterTheHead(t *testing.T) {
	for name, requests := range map[string]string{"one request": ask, "two at once": ask + ask, "one and a part": ask + ask[:10]} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				runs, may, begun := make(chan bool), make(chan bool), 0
				s, m, _ := start(t, newRest(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					if begun++; begun > 1 {
						return
					}
					w.Header().Set("Content-Length", "100000")
					_, _ = w.Write(make([]byte, 100_000)) // is sent at once
					runs <- true
					<-may
				})), everything)
				client := newClient(m.dial(t))
				if answer, _ := client.ask(t, requests); answer.Close {
					t.Error("a connection ends before the stop")
				}
				<-runs
				stopped := make(chan error, 1)
				go func() { stopped <- s.Shutdown(t.Context()) }()
				synctest.Wait()
				began := time.Now()
				may <- true
				client.ended(t)
				if err := <-stopped; err != nil || time.Since(began) > time.Second {
					t.Errorf("Shutdown: %v after %v", err, time.Since(began))
				}
				if begun != 1 {
					t.Errorf("%d requests were begun", begun)
				}
			})
		})
	}
}

// It waits as long as it may, for what runs here and for what runs in net/http, and Close ends what is left.
func TestShutdownGivesUp(t *testing.T) {
	for name, method := range map[string]string{"plain": "GET", "not plain": "HEAD"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				handler, runs, may := blocked()
				s, m, served := start(t, newRest(handler), everything)
				client := newClient(m.dial(t))
				client.send(t, method+ask[3:])
				<-runs
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				began := time.Now()
				if err := s.Shutdown(ctx); err != context.DeadlineExceeded {
					t.Errorf("Shutdown: %v", err)
				}
				if took := time.Since(began); took != 3*time.Second {
					t.Errorf("gave up after %v", took)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				client.ended(t)
				if method == "GET" {
					synctest.Wait()
					select {
					case <-served:
						t.Error("Serve returned while a request was still answered here")
					default:
					}
				}
				may <- true
				<-served
			})
		})
	}
}

func TestCloseCutsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler, runs, may := blocked()
		s, m, served := start(t, newRest(handler), everything)
		idle, running, handed := newClient(m.dial(t)), newClient(m.dial(t)), newClient(m.dial(t))
		running.send(t, ask)
		<-runs
		handed.send(t, "HEAD"+ask[3:])
		<-runs
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		for _, c := range []*client{idle, running, handed} {
			c.ended(t)
		}
		may <- true
		may <- true
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("Serve returned %v", err)
		}
	})
}

func TestShutdownBeforeServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := plainhttp.New(newRest(says("hello")), everything), newMemory()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		theirs, c := net.Pipe()
		go func() { // a connection is there already
			select {
			case m.accepted <- theirs:
			case <-m.closed:
				_ = theirs.Close()
			}
		}()
		if err := s.Serve(m); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("Serve returned %v", err)
		}
		newClient(c).ended(t)
		if _, err := m.Accept(); err == nil {
			t.Error("the listener is open")
		}
	})
}

// Whoever serves hears that the listener is broken at once, and not when the last client has left.
func TestServeReturnsTheErrorOfTheListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler, runs, may := blocked()
		_, m, served := start(t, newRest(handler), everything)
		idle, running := newClient(m.dial(t)), newClient(m.dial(t))
		running.send(t, ask)
		<-runs
		broken := errors.New("broken")
		m.failures <- broken
		idle.ended(t)
		if _, err := m.Accept(); err == nil {
			t.Error("the listener is open")
		}
		may <- true
		if answer, body := running.answer(t); body != "at last" || !answer.Close {
			t.Errorf("%q, Connection: %q", body, answer.Header["Connection"])
		}
		if err := <-served; err != broken {
			t.Errorf("Serve returned %v", err)
		}
	})
}

func TestServeEndsWithItsListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m, served := start(t, newRest(says("hello")), everything)
		synctest.Wait()
		_ = m.Close()
		if err := <-served; !errors.Is(err, net.ErrClosed) {
			t.Errorf("Serve returned %v", err)
		}
	})
}

// closedAsItReads is a connection on which a request arrives at the moment when the server is stopped and closes it.
type closedAsItReads struct {
	net.Conn
	stop   func()
	closed chan struct{}
	once   sync.Once
}

func (c *closedAsItReads) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		go c.stop()
		<-c.closed
	}
	return n, err
}

func (c *closedAsItReads) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// What cannot be answered any more is not done.
func TestNoRequestBeginsOnAConnectionThatWasClosedAsIdle(t *testing.T) {
	begun := false
	s, m, served := start(t, newRest(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { begun = true })), everything)
	c, theirs := net.Pipe()
	defer c.Close()
	m.accepted <- &closedAsItReads{Conn: theirs, closed: make(chan struct{}), stop: func() { _ = s.Shutdown(context.Background()) }}
	if _, err := io.WriteString(c, get+"\r\n"); err != nil {
		t.Fatal(err)
	}
	inTime(t, served, "the server to stop")
	if begun {
		t.Error("a request was begun whose connection was closed before")
	}
}
