package testenv

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// The ports are below those that Linux (32768) and macOS (49152) use for
// outgoing connections, because a stopped server's port must stay free.
const (
	firstPort = 20000
	lastPort  = 31999
)

// port is a TCP port on 127.0.0.1. It is reserved among all test binaries of this
// machine by holding the UDP port of the same number, so the reservation ends
// with the process.
type port struct {
	number int
	hold   net.PacketConn
}

func reservePort() (*port, error) {
	for range 1000 {
		number := firstPort + rand.IntN(lastPort-firstPort+1)
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(number))
		hold, err := net.ListenPacket("udp", address)
		if err != nil {
			continue
		}
		probe, err := net.Listen("tcp", address)
		if err != nil {
			_ = hold.Close()
			continue
		}
		_ = probe.Close()
		return &port{number: number, hold: hold}, nil
	}
	return nil, errors.New("reserve a port: none free on 127.0.0.1 from " + fmt.Sprint(firstPort, " to ", lastPort))
}

func (p *port) addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(p.number)) }

func (p *port) release() { _ = p.hold.Close() }

// FreeAddr returns a host:port of the loopback on which nothing listens. Until
// the test ends no outgoing connection and no other test gets it. Use it for
// refused connections, or to listen more than once.
func FreeAddr(tb testing.TB) string {
	tb.Helper()
	p, err := reservePort()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(p.release)
	return p.addr()
}

// startOnFreePort sets p and starts a server on it. It tries another port if the server could not bind it, because a program that does not
// reserve ports took it.
func startOnFreePort(p **port, start func() error) error {
	var err error
	if *p, err = reservePort(); err != nil {
		return err
	}
	if err = start(); err != nil {
		(*p).release()
		*p = nil
	}
	return err
}
