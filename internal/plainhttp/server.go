// Package plainhttp answers plain requests with less work than net/http's server, and leaves everything else to that.
//
// A request is plain when all of it arrived together, it is small, and nothing in it is out of the ordinary: nearly all that
// bots and dashboards send. For each of them net/http starts a goroutine that waits for the client to hang up, and sets eight
// deadlines; where the work on a request is next to nothing that is a fifth of what it costs the machine (docs/benchmarks.md).
// Here a connection has one goroutine, its deadlines are set once a second, and a client that hangs up is noticed when
// somebody asks.
//
// At the first request that is not plain, the connection goes to net/http with all that was read of it, and stays there: it
// refuses what is malformed, reads large and slow bodies, streams. Requests are read by net/http's ReadRequest here too, so
// there is one reader of HTTP in the program, and nothing is taken for plain that it does not understand.
package plainhttp

import (
	"cmp"
	"context"
	"log"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Server is an http.Server that answers some requests in a shorter way. Its times, its handler and its log are those of the http.Server.
// Of the plain requests that one knows nothing: the context has no values, ConnState and ConnContext are not called. It is safe for
// concurrent use.
type Server struct {
	rest  *http.Server
	plain func(*http.Request) bool

	// Context, when set, returns the context of a plain request that began then, made of ctx, which ends with the request. It is as
	// ConnContext of an http.Server, for each request, and set before Serve.
	Context func(ctx context.Context, began time.Time) context.Context

	stopping atomic.Bool
	ended    chan struct{} // closed when Serve has returned, with all its connections ended
	started  atomic.Bool
	group    sync.WaitGroup

	mu    sync.Mutex
	conns map[*conn]struct{}
}

// New returns a server for which plain says of which requests the handler answers at once, in a body that fits into memory: it
// does not flush, hijack, set deadlines, send trailers, or answer after it has returned. Nor does it change the headers of the request, which
// the next one may share. All others are for rest, which is not changed from here on.
func New(rest *http.Server, plain func(*http.Request) bool) *Server {
	return &Server{rest: rest, plain: plain, ended: make(chan struct{}), conns: map[*conn]struct{}{}}
}

// Serve is http.Server.Serve. It is called once, and returns when all connections that were not left to net/http have ended. When
// its listener fails, they end as soon as they are idle, so that it can say so.
func (s *Server) Serve(l net.Listener) error {
	s.started.Store(true)
	defer close(s.ended)
	h := &handover{Listener: l, conns: make(chan net.Conn), failed: make(chan error), closed: make(chan struct{})}
	s.group.Go(func() { s.accept(h) })
	err := s.rest.Serve(h)
	_ = h.Close()
	s.stop((*conn).takeIdle)
	s.group.Wait()
	return err
}

// serve answers the plain requests of a connection, and leaves it to net/http at one that is not.
func (s *Server) serve(c net.Conn, h *handover) {
	p := s.newConn(c)
	s.track(p, true)
	var left []byte
	defer func() { // be it that the handler panics or ends the goroutine: then nothing more is answered, as with net/http
		if panicked := recover(); panicked != nil && panicked != http.ErrAbortHandler {
			s.logf("http: panic serving %s: %v\n%s", p.remote, panicked, debug.Stack())
		}
		s.track(p, false)
		if left == nil {
			_ = c.Close()
			return
		}
		_ = c.SetDeadline(time.Time{}) // net/http sets its own
		h.leave(c, left)
	}()
	left = p.requests()
}

func (s *Server) logf(format string, args ...any) {
	if s.rest.ErrorLog != nil {
		s.rest.ErrorLog.Printf(format, args...)
	} else {
		log.Printf(format, args...)
	}
}

// Shutdown is http.Server.Shutdown.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stop((*conn).takeIdle)
	err := s.rest.Shutdown(ctx)
	if !s.started.Load() {
		return err
	}
	select {
	case <-s.ended:
		return err
	case <-ctx.Done():
		return cmp.Or(err, ctx.Err())
	}
}

// Close is http.Server.Close.
func (s *Server) Close() error {
	s.stop(func(*conn) bool { return true })
	return s.rest.Close()
}

// stop lets no connection begin another request, and closes those that which says.
func (s *Server) stop(which func(*conn) bool) {
	s.stopping.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		if which(c) {
			_ = c.Close()
		}
	}
}

func (s *Server) track(c *conn, is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if is {
		s.conns[c] = struct{}{}
	} else {
		delete(s.conns, c)
	}
}
