package app

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/pprof"
	"time"

	"levelboard/internal/httpapi"
	"levelboard/internal/metrics"
	"levelboard/internal/snapshot"
)

// probeTime is how long a dependency may take to be called well.
const probeTime = 800 * time.Millisecond

// opsHandler serves what operators and their tools ask. It has no limits and no keys: keep its listener private.
func (a *App) opsHandler() http.Handler {
	registry := metrics.NewRegistry(a.opts.Version)
	registry.MustRegister(httpapi.Collectors()...)
	registry.MustRegister(snapshot.Collectors()...)
	registry.MustRegister(a.stores.observe, a.limiter)
	registry.MustRegister(a.stores.archive.Collector(), a.writer.Collector())

	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics.Handler(registry))
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", a.ready)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

// ready is 200 while /v2 can serve, so it looks at Redis. Without the archive /v2 goes on with what is cached, so that is
// only told with ?verbose.
func (a *App) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), probeTime)
	defer cancel()
	redisState := probe(ctx, a.stores.live.Ping)
	status := http.StatusOK
	if redisState != "ok" {
		status = http.StatusServiceUnavailable
	}
	if !r.URL.Query().Has("verbose") {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(redisState + "\n"))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"redis": redisState, "archive": probe(ctx, a.stores.archive.Ping)})
}

// probe does not repeat the error: it may name hosts, and the log has it.
func probe(ctx context.Context, ping func(context.Context) error) string {
	if err := ping(ctx); err != nil {
		return "unreachable"
	}
	return "ok"
}
