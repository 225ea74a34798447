package plainhttp

import (
	"net"
	"time"
)

// How long the listener is left alone after an error that passes, such as that of too many open files: the first time, and at most. The times
// are those of net/http.
const (
	firstPause = 5 * time.Millisecond
	mostPause  = time.Second
)

// accept serves each connection until the listener is closed, or fails for good: what to do then is for net/http to decide.
func (s *Server) accept(h *handover) {
	var pause time.Duration
	for {
		c, err := h.Listener.Accept()
		switch {
		case err == nil:
			pause = 0
			s.group.Go(func() { s.serve(c, h) })
		case passes(err):
			// Not left to net/http: while it sleeps it takes none of the connections that are left to it.
			pause = min(max(2*pause, firstPause), mostPause)
			s.logf("http: Accept error: %v; retrying in %v", err, pause)
			select {
			case <-time.After(pause):
			case <-h.closed:
				return
			}
		default:
			select {
			case h.failed <- err:
			case <-h.closed:
			}
			return
		}
	}
}

// passes reports whether net/http would ask the listener again after the error. It does not unwrap it, so neither does this: of what is left to
// net/http it must sleep for none.
func passes(err error) bool {
	e, ok := err.(interface {
		net.Error
		Temporary() bool // the one of net.Error is deprecated, and net/http goes by it all the same
	})
	return ok && e.Temporary()
}
