package app

import (
	"errors"
	"fmt"
	stdlog "log"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// How long a request may take, from the end of its headers until its answer is with the client.
const (
	// apiWriteTime is the 10 seconds that the work on a request may take, and as much again for a client that is slow to take the
	// answer. Answers without an end set times of their own (package endless).
	apiWriteTime = 20 * time.Second
	// opsWriteTime is for pprof's profiles, which take 30 seconds unless they are asked for others.
	opsWriteTime = 60 * time.Second
)

// listen binds before it returns, so that a port that is taken is an error at start, and before the handler is built, which
// may have to know the address.
func (a *App) listen(address string, writeTime time.Duration, bound func(net.Listener) net.Listener, build func(address string) (http.Handler, error)) (*http.Server, string, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, "", fmt.Errorf("listen on %s: %w", address, err)
	}
	handler, err := build(listener.Addr().String())
	if err != nil {
		return nil, "", errors.Join(err, listener.Close())
	}
	server := newServer(handler, writeTime, a.log)
	serves := bound(listener)
	a.serving.Go(func() {
		if err := server.Serve(serves); !errors.Is(err, http.ErrServerClosed) {
			a.failed <- fmt.Errorf("serve on %s: %w", address, err)
		}
	})
	return server, listener.Addr().String(), nil
}

func newServer(handler http.Handler, writeTime time.Duration, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      writeTime,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          stdlog.New(serverErrors{log}, "", 0),
	}
}

// boundAPI bounds the API's connections.
func (a *App) boundAPI(l net.Listener) net.Listener {
	return boundConnections(l, a.cfg.ConnectionsPerAddress, a.cfg.TrustedProxies, a.log)
}

// unbound is for the ops listener, which always answers.
func unbound(l net.Listener) net.Listener { return l }
