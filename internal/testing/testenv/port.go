package testenv

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// Ports below those that Linux (32768) and macOS (49152) hand to outgoing
// connections: a stopped server's port must still be free when it comes back.
const (
	firstPort = 20000
	lastPort  = 31999
)

// port is a TCP port on 127.0.0.1, reserved among all test binaries of this
// machine by holding the UDP port of the same number. The reservation ends
// with the process, so a killed test leaves no stale lock.
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

// FreeAddr is a host:port of the loopback on which nothing listens, and which
// no outgoing connection and no other test is given until this test ends: one
// to be refused at, or to listen on more than once.
func FreeAddr(tb testing.TB) string {
	tb.Helper()
	p, err := reservePort()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(p.release)
	return p.addr()
}

// startOnFreePort sets p and starts a server on it. It keeps the port only if the server could bind it: someone who
// does not reserve ports may have taken it in between.
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
