// Package app is the only place that wires the service together. main and the tests need only New, Start and Stop. The package has no rules
// of its own about boards, keys or answers.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"levelboard/docs"
	"levelboard/internal/config"
	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/http/card"
	"levelboard/internal/http/httpapi"
	"levelboard/internal/http/web"
	"levelboard/internal/platform/changes"
	"levelboard/internal/platform/health"
	"levelboard/internal/platform/logs"
	"levelboard/internal/platform/metrics"
	"levelboard/internal/platform/outbound"
	"levelboard/internal/platform/tracing"
	"levelboard/internal/store/ratelimit"
	"levelboard/internal/usecase/announce"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/erasure"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/guilds"
	"levelboard/internal/usecase/hiding"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/jobs"
	"levelboard/internal/usecase/keys"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
	"levelboard/internal/usecase/signin"
	"levelboard/internal/usecase/snapshot"
	"levelboard/internal/usecase/watch"
)

const (
	// guildsCached bounds the cached guilds. The settings of one take 1 KB with few rules, and 100
	// KB with as many as allowed. Each request for a guild that is not cached reads the archive.
	guildsCached = 50_000
	// keysCached bounds the cached keys, which take less than 1 KB each.
	keysCached = 50_000
	// followInterval is how soon a replica sees a change whose nudge it missed.
	// It is half of the promised second, to leave time for a slow archive.
	followInterval = 500 * time.Millisecond
)

// Options are settings beside those of package config.
type Options struct {
	// KeepAlive is how long a stream of events is silent before it gets a keep-alive; 0 is 15 seconds.
	KeepAlive time.Duration
	// LocalSignIn is for the demo: anyone who reaches the pages can sign in as these users,
	// without a provider. It has no effect unless the service is embedded and listens on loopback.
	LocalSignIn []signin.Local
	Logger      *slog.Logger // nil discards
	Version     string
	Untraced    bool // no traces, even if the OTEL_ variables ask for them
}

// App is one running service.
type App struct {
	cfg     config.Config
	opts    Options
	log     *slog.Logger
	closers []closer // in the order of opening

	stores     *stores
	writer     *snapshot.Writer
	hydrator   *hydrate.Hydrator
	hiding     *hiding.Hiding
	periods    *periods.Closer
	meter      *apikey.Meter
	limiter    *ratelimit.Limiter
	feed       *events.Feed
	watching   *watch.Feed
	adminToken string

	announcements atomic.Pointer[announce.Announcer]

	health   *health.Monitor
	registry *prometheus.Registry
	tracing  *tracing.Tracing // nil when off

	api, ops               *http.Server
	apiAddress, opsAddress string
	failed                 chan error // the error of a server that ended by itself
	background, serving    sync.WaitGroup
	stopBackground         context.CancelFunc
	stopOnce               sync.Once
	stopErr                error
}

type closer struct {
	name  string
	close func() error
}

// New returns a service that has not started. cfg must come from config.Load.
func New(cfg config.Config, opts Options) *App {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	log := slog.New(logs.NewHandler(opts.Logger.Handler(), time.Now))
	return &App{
		cfg: cfg, opts: opts, log: log, adminToken: cfg.AdminToken, failed: make(chan error, 2),
		health: health.New(log, cfg.RedisTimeout), registry: metrics.NewRegistry(opts.Version),
	}
}

// Start opens the stores, applies migrations, binds the listeners and returns when requests are served. If it fails, it closes
// everything that it had opened.
func (a *App) Start(ctx context.Context) error {
	if err := a.start(ctx); err != nil {
		stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.cfg.ShutdownTimeout)
		defer cancel()
		return errors.Join(err, a.Stop(stopCtx))
	}
	return nil
}

func (a *App) start(ctx context.Context) error {
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	a.stopBackground = cancel
	a.startTracing(ctx)
	fonts, err := card.OpenFonts(a.cfg.FontDir, a.log)
	if err != nil {
		return fmt.Errorf("%sFONT_DIR: %w", config.Prefix, err)
	}
	if a.ops, a.opsAddress, err = a.listen(a.cfg.OpsListen, opsWriteTime, boundOps, func(string) (http.Handler, error) { return a.opsHandler(), nil }); err != nil {
		return err
	}
	a.ops.SetKeepAlivesEnabled(false) // idle connections would use up those that scrapes need
	if err := a.openStores(ctx); err != nil {
		return err
	}
	store := a.stores.live
	hosts, _ := outbound.ParseHosts(a.cfg.AllowedPrivateHosts) // config.Load has checked them
	guildCache := guild.NewCache(a.stores.archive, guildsCached)
	a.meter = apikey.NewMeter(a.stores.archive, time.Now, a.log)
	keyCache := apikey.NewCache(a.stores.archive, keysCached, time.Now, a.meter)
	notify, err := a.follow(ctx, background, guildCache, keyCache)
	if err != nil {
		return err
	}
	a.hydrator = hydrate.New(store, a.stores.archive, a.log)
	a.writer = snapshot.NewWriter(store, a.stores.archive, a.hydrator,
		snapshot.WriterOptions{
			Holder: a.holderName(), Interval: a.cfg.SnapshotInterval, Idle: a.cfg.GuildIdle, HistoryDays: a.cfg.HistoryDays, AuditDays: a.cfg.AuditDays,
			OnceTTL: a.cfg.IdempotencyTTL, Log: a.log,
		})
	a.background.Go(func() { a.writer.Run(background) })
	a.background.Go(func() { store.NoteChanges(background, a.log) })
	a.periods = periods.NewCloser(store, a.stores.archive, a.hydrator,
		periods.CloserOptions{Lease: a.writer.Lease, Interval: a.cfg.SnapshotInterval, Log: a.log, Now: time.Now})
	a.background.Go(func() { a.periods.Run(background) })
	a.background.Go(func() { a.meter.Run(background) })

	a.limiter = ratelimit.New(a.stores.client)
	used := a.noteUses(background)
	board := leaderboard.New(store, a.hydrator, guildCache, leaderboard.Options{Used: used, Hide: func(ctx context.Context, g id.Guild, flag hidden.Flags, users []id.User) error {
		_, err := a.hiding.Set(ctx, g, hiding.Step{By: flag, Hidden: true, Users: users})
		return err
	}})
	a.feed = events.NewFeed(store, board, events.FeedOptions{Log: a.log, Used: used})
	a.background.Go(func() { a.feed.Run(background) })
	a.watching = watch.NewFeed(board, watch.FeedOptions{Log: a.log, Guild: guildCache.ByID, Now: time.Now})
	announcements := announce.New(announce.Deps{
		Archive: a.stores.archive, Live: store, ByID: guildCache.ByID, Board: board, Lease: a.writer.Lease, Hosts: hosts, Log: a.log,
	})
	a.announcements.Store(announcements)
	a.background.Go(func() { announcements.Run(background) })
	apiKeys := keys.New(a.stores.archive, notify, time.Now)
	settings := guilds.New(a.stores.archive, board, notify)
	settings.AllowedHost = hosts.Name
	finder := leaderboard.NewFinder(board, a.stores.archive)
	kept := checkpoints.New(a.stores.archive, store, a.hydrator, notify, checkpoints.Options{OnceTTL: a.cfg.IdempotencyTTL})
	log := audit.NewLog(a.stores.archive, store)
	tasks := jobs.New(jobs.Options{Checkpoints: kept, Settings: settings, Board: board, Dir: a.temporaryDir(), Log: a.log, Now: time.Now})
	a.background.Go(func() { tasks.Run(background) })
	users := erasure.New(a.stores.archive, store, a.hydrator, notify, erasure.Options{Lease: a.writer.Lease, Interval: a.cfg.SnapshotInterval, Log: a.log})
	a.background.Go(func() { users.Run(background) })
	a.hiding = hiding.New(a.stores.archive, a.hydrator, board, notify, a.log)
	boards := periods.NewBoards(board, a.stores.archive, time.Now)
	a.registerMetrics()
	a.api, a.apiAddress, err = a.listen(a.cfg.Listen, apiWriteTime, a.boundAPI, func(address string) (http.Handler, error) {
		pages, err := a.pages(address, apiKeys, web.Deps{
			Guilds: guildCache, Board: board, Finder: finder, Periods: boards, Settings: settings, Users: users, Jobs: tasks, Checkpoints: kept, Audit: log, Fonts: fonts,
			Hiding: a.hiding, Announcements: announcements,
		})
		if err != nil {
			return nil, fmt.Errorf("build the pages: %w", err)
		}
		return httpapi.New(httpapi.Deps{
			Keys: keyCache, Limiter: a.limiter, Guilds: guildCache, Board: board, Periods: boards, Events: a.feed, Settings: settings, APIKeys: apiKeys, Pages: pages,
			Finder: finder, Checkpoints: kept, Audit: log, Users: users, Fonts: fonts, Hiding: a.hiding, Announcements: announcements,

			AdminToken: a.adminToken, KeyLimit: a.cfg.RateLimitKey, IdentityLimit: a.cfg.RateLimitIdentity,
			TrustedProxies: a.cfg.TrustedProxies, CORSOrigins: a.cfg.CORSOrigins,
			Patience: a.patience(), KeepAlive: a.opts.KeepAlive, OpenAPI: docs.OpenAPI, Tracer: a.tracing.Tracer(), Log: a.log, Now: time.Now,
		})
	})
	if err != nil {
		return err
	}
	a.health.Runs(a.dependencies()...)
	return nil
}

// noteUses starts to record which guilds are used, if idle guilds leave Redis. It returns the function to call at each use.
func (a *App) noteUses(background context.Context) func(id.Guild) {
	if a.cfg.GuildIdle == 0 {
		return func(id.Guild) {}
	}
	uses := snapshot.NewUses(a.stores.live, a.cfg.GuildIdle)
	a.background.Go(func() { uses.Run(background, a.log) })
	return uses.Add
}

// temporaryDir returns the directory for uploads: the data directory when embedded, else "", the system's.
func (a *App) temporaryDir() string {
	if a.cfg.Embedded() {
		return a.cfg.DataDir
	}
	return ""
}

// patience returns how long a request waits for a silent Redis. When embedded, only the client's timeout applies: that Redis is at most busy.
func (a *App) patience() time.Duration {
	if a.cfg.Embedded() {
		return 0
	}
	return a.cfg.RedisTimeout
}

// follow starts to invalidate cached guilds and keys by the archive's log of changes.
func (a *App) follow(ctx, background context.Context, guilds *guild.Cache, keys *apikey.Cache) (*announcer, error) {
	nudges := a.stores.live.Nudges(background)
	here := known{guilds, keys, func(g id.Guild) {
		if announcements := a.announcements.Load(); announcements != nil {
			announcements.Changed(g)
		}
	}}
	follower := changes.NewFollower(a.stores.archive, nudges, followInterval, a.log, here.changed, here.forgetAll)
	if err := follower.Start(ctx); err != nil {
		return nil, fmt.Errorf("read the change log: %w", err)
	}
	a.background.Go(func() { follower.Run(background) })
	return &announcer{known: here, follower: follower, live: a.stores.live, log: a.log}, nil
}

// Addr returns the address of the API, once started.
func (a *App) Addr() string { return a.apiAddress }

// OpsAddr returns the address of the metrics and the health checks, once started.
func (a *App) OpsAddr() string { return a.opsAddress }

// AdminToken returns the token of /admin, whether it was configured or the first embedded start made it. It is a secret.
func (a *App) AdminToken() string { return a.adminToken }

// URL returns the base of the addresses that people use.
func (a *App) URL() string { return a.urlAt(a.apiAddress) }

func (a *App) urlAt(address string) string {
	if a.cfg.PublicURL != "" {
		return strings.TrimSuffix(a.cfg.PublicURL, "/")
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "http://" + address
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}
