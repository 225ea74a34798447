package testenv

import (
	"net"
	"syscall"
	"time"
)

// Vanish makes the server act like a host that is gone: nothing passes, nothing closes, and a new connection is neither accepted nor
// refused. Linux does so when a listener's queue is full. It returns a function that ends this.
func (p *Proxy) Vanish() (back func()) {
	p.tb.Helper()
	p.Hold()
	address := p.Addr()
	_ = p.listener.Close()
	deaf, err := net.Listen("tcp", address)
	if err != nil {
		p.tb.Fatal(err)
	}
	raw, err := deaf.(*net.TCPListener).SyscallConn()
	if err != nil {
		p.tb.Fatal(err)
	}
	var listenErr error
	if err := raw.Control(func(fd uintptr) { listenErr = syscall.Listen(int(fd), 0) }); err != nil || listenErr != nil {
		p.tb.Fatal(err, listenErr)
	}
	var taken []net.Conn
	for {
		conn, err := net.DialTimeout("tcp", address, 200*time.Millisecond)
		if err != nil {
			break
		}
		if taken = append(taken, conn); len(taken) > 16 {
			p.tb.Fatal("a listener with a full queue still accepts connections")
		}
	}
	return func() {
		p.tb.Helper()
		_ = deaf.Close()
		for _, conn := range taken {
			_ = conn.Close()
		}
		p.listen(address)
		p.Release()
	}
}
