//go:build linux || darwin || freebsd

package plainhttp

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

// hungUp reports whether one of the two ends has closed the connection. It reads nothing and does not wait.
func hungUp(c net.Conn) (gone bool) {
	if raw := rawOf(c); raw != nil {
		err := raw.Control(func(fd uintptr) { _, gone = peek(fd) })
		gone = gone || err != nil // closed here
	}
	return gone
}

// watch waits until one of the two ends of a connection hangs up.
type watch struct {
	conn  net.Conn
	ended chan struct{}
}

// startWatch calls leave when one of the two ends hangs up. It is nil for a connection that cannot be watched.
func startWatch(c net.Conn, leave context.CancelFunc) *watch {
	raw := rawOf(c)
	if raw == nil {
		return nil
	}
	_ = c.SetReadDeadline(time.Time{}) // the one for the wait for this request, which may come before its answer
	w := &watch{conn: c, ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		gone := false
		// It also ends, with nothing to tell, when it is stopped and when the next request comes.
		err := raw.Read(func(fd uintptr) (ready bool) {
			ready, gone = peek(fd)
			return ready
		})
		if gone || err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			leave()
		}
	}()
	return w
}

// stop ends the watch, and returns the connection's read deadline, which is in the past then.
func (w *watch) stop() (readBy time.Time) {
	readBy = time.Unix(1, 0)
	_ = w.conn.SetReadDeadline(readBy)
	<-w.ended
	return readBy
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
