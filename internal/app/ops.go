package app

import (
	"context"
	"errors"
	"net/http"
	"net/http/pprof"

	"levelboard/internal/http/httpapi"
	"levelboard/internal/platform/health"
	"levelboard/internal/platform/metrics"
	"levelboard/internal/usecase/signin"
	"levelboard/internal/usecase/snapshot"
)

// opsHandler serves what operators and their tools ask. It has no limits and no keys: keep its listener private. It is up
// before the stores are open, so that a start that takes its time can be told from a process that hangs.
func (a *App) opsHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics.Handler(a.registry))
	mux.HandleFunc("GET /livez", health.Live)
	mux.HandleFunc("GET /readyz", a.health.Ready)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

// registerMetrics shows the metrics of what is open by now.
func (a *App) registerMetrics() {
	a.registry.MustRegister(connectionsOpen, connectionsRefused, acceptErrors)
	a.registry.MustRegister(httpapi.Collectors()...)
	a.registry.MustRegister(snapshot.Collectors()...)
	a.registry.MustRegister(signin.Collectors()...)
	a.registry.MustRegister(a.stores.client.Metrics(), a.limiter, a.writer.Collector())
	a.registry.MustRegister(a.stores.queries.collectors(a.stores.archive)...)
}

// dependencies are what /readyz tells of. Without the archive /v2 goes on with what is cached, so only Redis is needed.
func (a *App) dependencies() []health.Dependency {
	return []health.Dependency{
		{Name: "redis", Needed: true, Ping: whyNot(a.stores.live.Ping, a.cfg.RedisURLNow), RefusesChanges: a.stores.client.RefusesChanges},
		{Name: "archive", Ping: whyNot(a.stores.archive.Ping, a.cfg.PostgresURLNow)},
	}
}

// whyNot adds to the failure of a ping that the URL's file is no good: then the user and the password from before are still in use.
func whyNot(ping func(context.Context) error, url func() (string, error)) func(context.Context) error {
	return func(ctx context.Context) error {
		err := ping(ctx)
		if err == nil {
			return nil
		}
		_, unusable := url()
		return errors.Join(err, unusable)
	}
}
