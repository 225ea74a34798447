package plainhttp

import (
	"net"
	"sync"

	"levelboard/internal/httpconn"
)

// handover is the listener of net/http's server: it accepts what is left to it.
type handover struct {
	net.Listener
	conns  chan net.Conn
	failed chan error // those after which nothing more is accepted

	once   sync.Once
	closed chan struct{}
}

// Accept implements net.Listener.
func (h *handover) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case err := <-h.failed:
		return nil, err
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (h *handover) Close() (err error) {
	h.once.Do(func() {
		close(h.closed)
		err = h.Listener.Close()
	})
	return err
}

// leave gives the connection to net/http, with what was read of it.
func (h *handover) leave(c net.Conn, read []byte) {
	select {
	case h.conns <- httpconn.Begun(c, read):
	case <-h.closed:
		_ = c.Close()
	}
}
