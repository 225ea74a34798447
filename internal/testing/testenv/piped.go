package testenv

import (
	"errors"
	"net"
	"net/http"
	"testing"
)

// Server is the part of http.Server that Piped needs.
type Server interface {
	Serve(l net.Listener) error
	Close() error
}

// Piped serves one connection in memory until the test ends, and returns the client's end. Under testing/synctest the server uses its time. A
// write waits until the other end has read it.
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
			t.Errorf("serving the connection: %v", err)
		}
	})
	return client
}

// piped is a listener for the connections sent to it.
type piped chan net.Conn

func (p piped) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p piped) Close() error   { return nil }
func (p piped) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }
