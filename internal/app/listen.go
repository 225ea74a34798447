package app

import (
	"context"
	"errors"
	"fmt"
	stdlog "log"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"golang.org/x/net/netutil"

	"levelboard/internal/domain/id"
	"levelboard/internal/http/httpapi"
	"levelboard/internal/http/web"
	"levelboard/internal/platform/health"
	"levelboard/internal/platform/metrics"
	"levelboard/internal/usecase/announce"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/keys"
	"levelboard/internal/usecase/signin"
	"levelboard/internal/usecase/snapshot"
)

// Bounds on a client's requests.
const (
	headerBytes = 32 << 10
	headerTime  = 5 * time.Second
	readTime    = 10 * time.Second // of the headers and the body
	idleTime    = 2 * time.Minute  // between two requests
)

// Bounds on the time from the end of a request's headers to the end of its answer.
const (
	// apiWriteTime is 10 seconds for the work on a request and 10 more for a client that
	// reads the answer slowly. Endless answers set their own times (package endless).
	apiWriteTime = 20 * time.Second
	// opsWriteTime leaves time for pprof's profiles, which take 30 seconds by default.
	opsWriteTime = 60 * time.Second
)

// listen binds and serves. It binds before it returns, so that a taken port fails
// the start. It binds before it builds the handler, which may need the address.
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
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       readTime,
		WriteTimeout:      writeTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerBytes,
		ErrorLog:          stdlog.New(serverErrors{log}, "", 0),
	}
}

// boundAPI bounds the API's connections.
func (a *App) boundAPI(l net.Listener) net.Listener {
	return boundConnections(l, a.cfg.ConnectionsPerAddress, a.cfg.ProxyPrefixes(), a.log)
}

// opsConnections is how many connections the ops listener serves at once; more wait. They are part of descriptorReserve.
const opsConnections = 64

// boundOps bounds the ops listener's connections. They do not count among the API's, so a busy API does not block the ops listener.
func boundOps(l net.Listener) net.Listener { return netutil.LimitListener(l, opsConnections) }

// opsHandler serves operators and their tools. It has no limits and needs no key, so keep its listener private. It runs
// before the stores are open, so that operators can tell a slow start from a process that hangs.
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

// registerMetrics registers the metrics of all parts that are open.
func (a *App) registerMetrics() {
	a.registry.MustRegister(connectionsOpen, connectionsRefused, acceptErrors)
	a.registry.MustRegister(httpapi.Collectors()...)
	a.registry.MustRegister(snapshot.Collectors()...)
	a.registry.MustRegister(hydrate.Collectors()...)
	a.registry.MustRegister(signin.Collectors()...)
	a.registry.MustRegister(announce.Collectors()...)
	a.registry.MustRegister(a.periods.Collectors()...)
	a.registry.MustRegister(a.stores.client.Metrics(), a.limiter, a.writer.Collector())
	a.registry.MustRegister(a.stores.queries.collectors(a.stores.archive)...)
}

// dependencies lists what /readyz reports. Only Redis is needed: without the archive, /v2 still serves from its caches.
func (a *App) dependencies() []health.Dependency {
	return []health.Dependency{
		{Name: "redis", Needed: true, Ping: whyNot(a.stores.client.Alive, a.cfg.RedisURLNow)},
		{Name: "archive", Ping: whyNot(a.stores.archive.Ping, a.cfg.PostgresURLNow)},
	}
}

// whyNot adds an unreadable URL file to the error of a failed ping, since the old user and password are then still in use.
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

// pages builds the pages on the use cases in deps. address is the listener's; it stands in for the public address if none is set.
func (a *App) pages(address string, apiKeys *keys.Keys, deps web.Deps) (*web.Site, error) {
	public := a.urlAt(address)
	deps.Keys, deps.Limiter, deps.Log, deps.Now = apiKeys, a.limiter, a.log, time.Now
	deps.PublicURL, deps.IdentityLimit, deps.Version = public, a.cfg.RateLimitIdentity, a.opts.Version
	deps.Watch, deps.KeepAlive = a.watching, a.opts.KeepAlive
	o := a.signInOptions(address, public)
	o.Refreshed = func(ctx context.Context, user id.User, managed []id.Guild) error {
		return apiKeys.Refreshed(ctx, keys.User(user, managed...))
	}
	if o.Provider != nil || len(o.Locals) > 0 {
		deps.SignIn = signin.NewSessions(a.stores.live, o)
	}
	return web.New(deps)
}

// signInOptions returns the configured ways to sign in. Sign-in without a provider needs an embedded service that only this machine can reach.
func (a *App) signInOptions(address, public string) signin.Options {
	o := signin.Options{Log: a.log, Now: time.Now}
	if a.cfg.OAuthClientID != "" {
		o.Provider = signin.NewProvider(signin.ProviderOptions{
			ClientID: a.cfg.OAuthClientID, ClientSecret: a.cfg.OAuthClientSecret,
			AuthURL: a.cfg.OAuthAuthURL, TokenURL: a.cfg.OAuthTokenURL, APIURL: a.cfg.OAuthAPIURL,
			RedirectURL: web.RedirectURL(public),
		})
		a.closers = append(a.closers, closer{"the connections to the provider of sign-in", func() error { o.Provider.Close(); return nil }})
	}
	if len(a.opts.LocalSignIn) > 0 {
		if a.cfg.Embedded() && web.Loopback(address) {
			o.Locals = a.opts.LocalSignIn
		} else {
			a.log.Warn("the demo's sign-in is off, because other machines can reach this service")
		}
	}
	return o
}
