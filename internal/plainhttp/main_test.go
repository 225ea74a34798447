package plainhttp_test

import (
	"io"
	"log"
	"net/http"
	"testing"
	"time"

	"levelboard/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func everything(*http.Request) bool { return true }

// plainly reports whether a request did not come through net/http's server, which says so in its context.
func plainly(r *http.Request) bool { return r.Context().Value(http.ServerContextKey) == nil }

// newRest returns a server with times like those of the service.
func newRest(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      20 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
}

// inTime fails the test if nothing arrives for longer than any machine takes.
func inTime[T any](t *testing.T, c <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(20 * time.Second):
		t.Errorf("waited in vain for %s", what)
	}
	return v
}
