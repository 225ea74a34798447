package plainhttp_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"levelboard/internal/plainhttp"
)

type temporary struct{ error }

func (temporary) Timeout() bool   { return false }
func (temporary) Temporary() bool { return true }

var tooManyFiles = temporary{errors.New("too many files")}

// What is open is served while the listener has no more, here and by net/http, without a wait, and then new ones are.
func TestNobodyWaitsForTheListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m, _ := start(t, newRest(says("hello")), everything)
		var before []*client
		for range 10 {
			before = append(before, newClient(m.dial(t)))
		}
		for i, client := range before {
			m.failures <- tooManyFiles
			synctest.Wait()
			began := time.Now()
			client.ask(t, ask)
			client.ask(t, "BREW"+ask[3:])
			if took := time.Since(began); took != 0 {
				t.Errorf("after %d errors requests take %v", i+1, took)
			}
		}
		newClient(m.dial(t)).ask(t, ask)
		newClient(m.dial(t)).ask(t, "BREW"+ask[3:])
	})
}

// The listener is asked again as often as by net/http, and the log says the same.
func TestTemporaryErrorsOfTheListener(t *testing.T) {
	times := func(serve func(rest *http.Server, l net.Listener) error) (pauses []time.Duration, logged string) {
		synctest.Test(t, func(t *testing.T) {
			var text strings.Builder
			rest, m, served := newRest(says("hello")), newMemory(), make(chan error, 1)
			rest.ErrorLog = log.New(&text, "", 0)
			go func() { served <- serve(rest, m) }()
			fail := func(n int) {
				for range n {
					began := time.Now()
					m.failures <- tooManyFiles
					pauses = append(pauses, time.Since(began))
				}
			}
			fail(12)
			newClient(m.dial(t)).ask(t, ask)
			fail(3)
			_ = rest.Close()
			<-served
			logged = text.String()
		})
		return pauses, logged
	}
	theirs, theyLog := times((*http.Server).Serve)
	ours, weLog := times(func(rest *http.Server, l net.Listener) error { return plainhttp.New(rest, everything).Serve(l) })
	if !slices.Equal(theirs, ours) {
		t.Errorf("net/http waits %v, plainhttp %v", theirs, ours)
	}
	if theyLog != weLog {
		t.Errorf("net/http logs\n%s\nplainhttp logs\n%s", theyLog, weLog)
	}
}

// Who stops the server while the listener is left alone does not wait for that.
func TestAStopEndsThePauseOfTheListener(t *testing.T) {
	for name, stop := range map[string]func(*plainhttp.Server) error{
		"Shutdown": func(s *plainhttp.Server) error { return s.Shutdown(context.Background()) },
		"Close":    (*plainhttp.Server).Close,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, m, served := start(t, newRest(says("hello")), everything)
				for range 9 {
					m.failures <- tooManyFiles
				}
				synctest.Wait()
				began := time.Now()
				if err := stop(s); err != nil {
					t.Error(err)
				}
				if err := <-served; !errors.Is(err, http.ErrServerClosed) {
					t.Errorf("Serve returned %v", err)
				}
				if took := time.Since(began); took != 0 {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// An error that only holds a temporary one is none, as for net/http.
func TestAnErrorThatHoldsATemporaryOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m, served := start(t, newRest(says("hello")), everything)
		wrapped := fmt.Errorf("accept: %w", tooManyFiles)
		m.failures <- wrapped
		if err := <-served; err != wrapped {
			t.Errorf("Serve returned %v", err)
		}
	})
}

type nameless struct{ net.Conn }

func (nameless) RemoteAddr() net.Addr { return nil }

// A connection that cannot say where it comes from is served, as by net/http.
func TestAConnectionWithoutAnAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m, _ := start(t, newRest(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprintf(w, "%v %q", plainly(r), r.RemoteAddr)
		})), everything)
		c, theirs := net.Pipe()
		defer c.Close()
		m.accepted <- nameless{theirs}
		client := newClient(c)
		if _, body := client.ask(t, ask); body != `true ""` {
			t.Errorf("answered %s", body)
		}
		if _, body := client.ask(t, "BREW"+ask[3:]); body != `false ""` {
			t.Errorf("net/http answered %s", body)
		}
	})
}
