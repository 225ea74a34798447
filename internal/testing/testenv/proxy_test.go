//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package testenv

import (
	"io"
	"net"
	"testing"
	"time"
)

// increment sends INCR n through the proxy, on a connection of its own, and
// returns what arrived until the connection ended or a whole reply was there.
func increment(t *testing.T, p *Proxy) string {
	t.Helper()
	conn, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "INCR n\r\n"); err != nil {
		t.Fatal(err)
	}
	arrived := make([]byte, len(":1\r\n"))
	n, err := io.ReadFull(conn, arrived)
	if ne, ok := err.(net.Error); ok && ne.Timeout() {
		t.Error("the proxy neither answered nor ended the connection")
	}
	return string(arrived[:n])
}

func TestProxyLosesRequestsAndReplies(t *testing.T) {
	s := Redis(t)
	p := NewProxy(t, s.Addr())
	p.Next(NoFault, NotSent, NoReply, HalfAReply)
	for i, want := range []struct{ arrived, carriedOut string }{
		{":1\r\n", "1"}, {"", "1"}, {"", "2"}, {":3", "3"}, {":4\r\n", "4"},
	} {
		if arrived := increment(t, p); arrived != want.arrived {
			t.Errorf("request %d: %q arrived, want %q", i, arrived, want.arrived)
		}
		if n := redisDo(t, s, "GET", "n"); n != want.carriedOut {
			t.Errorf("after request %d n is %s, want %s", i, n, want.carriedOut)
		}
	}
	if p.Requests() != 5 || p.Faults() != 3 || p.Count(NotSent) != 1 {
		t.Errorf("%d requests, %d faults, %d not sent, want 5, 3 and 1", p.Requests(), p.Faults(), p.Count(NotSent))
	}
}
