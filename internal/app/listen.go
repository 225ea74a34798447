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

// What a client may send, and how long it may take for that.
const (
	headerBytes = 32 << 10
	headerTime  = 5 * time.Second
	readTime    = 10 * time.Second // of the headers and the body
	idleTime    = 2 * time.Minute  // between two requests
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

// opsConnections are served by the ops listener at the same time; more wait. They are a part of descriptorReserve.
const opsConnections = 64

// boundOps bounds the ops listener's connections, apart from the API's, so that it always answers.
func boundOps(l net.Listener) net.Listener { return netutil.LimitListener(l, opsConnections) }

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
	a.registry.MustRegister(hydrate.Collectors()...)
	a.registry.MustRegister(signin.Collectors()...)
	a.registry.MustRegister(announce.Collectors()...)
	a.registry.MustRegister(a.periods.Collectors()...)
	a.registry.MustRegister(a.stores.client.Metrics(), a.limiter, a.writer.Collector())
	a.registry.MustRegister(a.stores.queries.collectors(a.stores.archive)...)
}

// dependencies lists what /readyz reports. Without the archive /v2 still serves what is cached, so only Redis is needed.
func (a *App) dependencies() []health.Dependency {
	return []health.Dependency{
		{Name: "redis", Needed: true, Ping: whyNot(a.stores.client.Alive, a.cfg.RedisURLNow)},
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

// pages builds the pages for people on the use cases in deps. address is where they are listened for, which is their public address if none is set.
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

// signInOptions leaves both ways to sign in off unless they were asked for. The one without a provider is for an embedded
// service that only this machine can reach, whoever asks for it.
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
