package app_test

import (
	"net"
	"syscall"
	"time"
)

// vanish makes the other end what a host is that is not there: nothing passes, nothing closes, and a new connection is
// neither taken nor refused. Linux treats a connection so when its listener has no room. It returns what ends it.
func (w *wire) vanish() (back func()) {
	w.t.Helper()
	w.mu.Lock()
	w.open = make(chan struct{})
	w.mu.Unlock()
	_ = w.listener.Close()
	deaf, err := net.Listen("tcp", w.address)
	if err != nil {
		w.t.Fatal(err)
	}
	raw, err := deaf.(*net.TCPListener).SyscallConn()
	if err != nil {
		w.t.Fatal(err)
	}
	var listenErr error
	if err := raw.Control(func(fd uintptr) { listenErr = syscall.Listen(int(fd), 0) }); err != nil || listenErr != nil {
		w.t.Fatal(err, listenErr)
	}
	var taken []net.Conn
	for {
		conn, err := net.DialTimeout("tcp", w.address, 200*time.Millisecond)
		if err != nil {
			break
		}
		if taken = append(taken, conn); len(taken) > 16 {
			w.t.Fatal("a listener without room takes connections")
		}
	}
	return func() {
		w.t.Helper()
		_ = deaf.Close()
		for _, conn := range taken {
			_ = conn.Close()
		}
		w.listen()
		w.mu.Lock()
		close(w.open)
		w.mu.Unlock()
	}
}
