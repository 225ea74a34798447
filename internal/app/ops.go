package app

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/pprof"
	"sync"

	"levelboard/internal/httpapi"
	"levelboard/internal/metrics"
	"levelboard/internal/snapshot"
)

// probeTime is how long a dependency may take to be called well: as long as a request is patient with Redis.
const probeTime = livePatience

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

// ready is 200 while /v2 can serve, so it looks at Redis, and not any more once the service stops. Without the archive /v2
// goes on with what is cached, so that is only told with ?verbose.
func (a *App) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), probeTime)
	defer cancel()
	verbose := r.URL.Query().Has("verbose")
	var redisState, archiveState string
	var probes sync.WaitGroup
	probes.Go(func() { redisState = probe(ctx, a.stores.live.Ping) })
	if verbose {
		probes.Go(func() { archiveState = probe(ctx, a.stores.archive.Ping) })
	}
	probes.Wait()
	status, stopping := http.StatusOK, a.stopping.Load()
	if stopping || redisState != "ok" {
		status = http.StatusServiceUnavailable
	}
	if verbose {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		states := map[string]string{"redis": redisState, "archive": archiveState}
		if stopping {
			states["service"] = "stopping"
		}
		_ = json.NewEncoder(w).Encode(states)
		return
	}
	text := redisState
	if stopping {
		text = "stopping"
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n"))
}

// probe does not repeat the error: it may name hosts, and the log has it.
func probe(ctx context.Context, ping func(context.Context) error) string {
	if err := ping(ctx); err != nil {
		return "unreachable"
	}
	return "ok"
}
