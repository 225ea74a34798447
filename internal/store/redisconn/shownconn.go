package redisconn

import (
	"errors"
	"net"
	"syscall"
)

// shownConn shows the connection below it to the pool, which looks there whether the server has hung up before it lends the
// connection out. Without that a server that restarts costs a failed request for each connection.
type shownConn struct {
	net.Conn
	tcp syscall.Conn
}

// SyscallConn implements syscall.Conn.
func (c *shownConn) SyscallConn() (syscall.RawConn, error) { return c.tcp.SyscallConn() }

// Write returns what the server objects to, if it said that before it hung up: with TLS 1.3 it may reject a client's certificate only when
// the handshake is over for the client.
func (c *shownConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		var alert *net.OpError
		if _, said := c.Conn.Read(make([]byte, 1)); errors.As(said, &alert) && alert.Op == "remote error" {
			err = said
		}
	}
	return n, err
}
