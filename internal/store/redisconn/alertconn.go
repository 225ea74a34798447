package redisconn

import (
	"errors"
	"net"
	"syscall"
)

// alertConn is a connection over TLS whose writes fail with what the server objects to. It does not implement syscall.Conn: the pool would take a
// record of TLS itself, such as a session ticket, for the begin of a reply, and wait for the rest for ever.
type alertConn struct{ net.Conn }

// Write returns the server's alert, if it sent one before it hung up: with TLS 1.3 it may reject a client's certificate only when the handshake
// is over for the client.
func (c alertConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		var alert *net.OpError
		if _, said := c.Conn.Read(make([]byte, 1)); errors.As(said, &alert) && alert.Op == "remote error" {
			err = said
		}
	}
	return n, err
}
