package redisconn

import (
	"net"
	"sync"
	"syscall"
)

// masterConns are the open connections to masters, so that those to one that is no longer the master can be closed. Who
// waits for a reply on one then hears that it is lost; the pool throws away the others before it lends them out.
type masterConns struct {
	mu   sync.Mutex
	open map[*masterConn]struct{}
}

// masterConn is a connection to what was the master when it was made.
type masterConn struct {
	net.Conn
	to  string
	all *masterConns
}

func (m *masterConns) add(conn net.Conn, to string) net.Conn {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.open == nil {
		m.open = map[*masterConn]struct{}{}
	}
	c := &masterConn{Conn: conn, to: to, all: m}
	m.open[c] = struct{}{}
	if tcp, ok := conn.(syscall.Conn); ok {
		return &shownConn{c, tcp}
	}
	return c
}

// only closes the connections to other addresses.
func (m *masterConns) only(address string) {
	m.mu.Lock()
	var others []*masterConn
	for c := range m.open {
		if c.to != address {
			others = append(others, c)
		}
	}
	m.mu.Unlock()
	for _, c := range others {
		_ = c.Close()
	}
}

// Close implements net.Conn.
func (c *masterConn) Close() error {
	c.all.mu.Lock()
	delete(c.all.open, c)
	c.all.mu.Unlock()
	return c.Conn.Close()
}
