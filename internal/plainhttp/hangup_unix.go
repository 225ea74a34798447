//go:build linux || darwin || freebsd

package plainhttp

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"
)

// hungUp reports whether the other end has closed the connection. It reads nothing and does not wait.
func hungUp(c net.Conn) (gone bool) {
	if raw := rawOf(c); raw != nil {
		_ = raw.Control(func(fd uintptr) { _, gone = peek(fd) })
	}
	return gone
}

// watch waits until the other end of a connection hangs up.
type watch struct {
	conn  net.Conn
	ended chan struct{}
}

// startWatch calls leave when the other end hangs up. It is nil for a connection that cannot be watched.
func startWatch(c net.Conn, leave context.CancelFunc) *watch {
	raw := rawOf(c)
	if raw == nil {
		return nil
	}
	w := &watch{conn: c, ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		gone := false
		// It also ends, with nothing to tell, at the deadline and when the next request comes.
		_ = raw.Read(func(fd uintptr) (ready bool) {
			ready, gone = peek(fd)
			return ready
		})
		if gone {
			leave()
		}
	}()
	return w
}

// stop ends the watch. The connection has a read deadline in the past then.
func (w *watch) stop() {
	_ = w.conn.SetReadDeadline(time.Unix(1, 0))
	<-w.ended
}

func rawOf(c net.Conn) syscall.RawConn {
	if c, ok := c.(syscall.Conn); ok {
		if raw, err := c.SyscallConn(); err == nil {
			return raw
		}
	}
	return nil
}

// peek looks at what is there to be read: ready when there is anything, be it the end.
func peek(fd uintptr) (ready, gone bool) {
	var one [1]byte
	n, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	switch {
	case errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR):
		return false, false
	case err != nil || n == 0:
		return true, true
	}
	return true, false
}
