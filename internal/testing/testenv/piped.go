package testenv

import (
	"errors"
	"net"
	"net/http"
	"testing"
)

// Server is what Piped needs of an http.Server.
type Server interface {
	Serve(l net.Listener) error
	Close() error
}

// Piped serves on one connection in memory, until the test ends, and returns the client's end of it. In a bubble of
// testing/synctest the server's times are the bubble's. A write waits until the other end has read it.
func Piped(t *testing.T, server Server) net.Conn {
	t.Helper()
	client, accepted := net.Pipe()
	listener := make(piped, 1)
	listener <- accepted
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		close(listener)
		_ = client.Close()
		_ = server.Close()
		if err := <-served; !errors.Is(err, net.ErrClosed) && !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serve: %v", err)
		}
	})
	return client
}

// piped is a listener for what is put into it.
type piped chan net.Conn

func (p piped) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p piped) Close() error   { return nil }
func (p piped) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }
