package web_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/http/edge"
	"levelboard/internal/http/web"
	"levelboard/internal/platform/changes"
	"levelboard/internal/store/ratelimit"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/store/sqlite"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/sqlitetest"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/erasure"
	"levelboard/internal/usecase/guilds"
	"levelboard/internal/usecase/hiding"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/keys"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/periods"
	"levelboard/internal/usecase/signin"
	"levelboard/internal/usecase/snapshot"
	"levelboard/internal/usecase/watch"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const (
	ada    = "100000000000000001" // who signs in
	public = id.Guild("200000000000000001")
	closed = id.Guild("200000000000000002") // private
)

// site serves the pages on their own listener, with a real Redis and a provider.
type site struct {
	t        *testing.T
	url      string
	provider *testenv.OAuthServer
	sessions *signin.Sessions
	guilds   fakeGuilds
	archive  *sqlite.Archive // has public and closed
	board    *leaderboard.Leaderboard
	store    *redisstore.Store
	feed     *watch.Feed
	deps     web.Deps
	server   *httptest.Server
	log      *testenv.Log

	mu  sync.Mutex
	now time.Time
}

// options are what a test changes of a site.
type options struct {
	plainHTTP bool
	noOAuth   bool
	locals    []signin.Local
	limit     int
	keepAlive time.Duration // of a stream of rows
	watchers  int           // the most watchers
	// with changes what the pages are built on, before they are built.
	with func(s *site, live *redisstore.Store)
}

func newSite(t *testing.T, o options) *site {
	t.Helper()
	client, err := redisconn.Connect(testenv.Redis(t).URL(), redisconn.ConnectOptions{Timeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	store := redisstore.New(client, redisstore.Options{})
	s := &site{t: t, store: store, now: time.Now(), log: &testenv.Log{}, provider: testenv.OAuth(t), guilds: fakeGuilds{}}
	s.guilds[public] = &guild.Guild{Settings: guild.Settings{ID: public, Name: "Gophers", Vanity: "gophers", MemberCount: 5000, Enabled: true, Visibility: guild.Public, OwnerID: "900000000000000001"}}
	s.guilds[closed] = &guild.Guild{Settings: guild.Settings{ID: closed, Name: "Moles", MemberCount: 50, Enabled: true, Visibility: guild.Private, OwnerID: "900000000000000001"}}

	s.archive = s.stored()
	hydrator := hydrate.New(store, s.archive, slog.New(slog.DiscardHandler))
	t.Cleanup(hydrator.Close)
	s.board = leaderboard.New(store, hydrator, s.guilds, leaderboard.Options{})
	s.feed = watch.NewFeed(s.board, watch.FeedOptions{Interval: 5 * time.Millisecond, Now: s.clock, Guild: s.guilds.ByID, Log: slog.New(slog.DiscardHandler)})

	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.HandleMethodNotAllowed = true
	engine.Use(func(c *gin.Context) {
		defer edge.Begin(c, &edge.Visit{}, 0)()
		c.Next()
	})
	if o.plainHTTP {
		s.server = httptest.NewServer(engine)
	} else {
		s.server = httptest.NewTLSServer(engine)
	}
	t.Cleanup(s.server.Close)
	s.url = s.server.URL

	log := slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s.provider.Register(web.RedirectURL(s.url))
	s.provider.SetUser(map[string]any{"id": ada, "username": "ada", "global_name": "Ada L.", "avatar": nil}, []any{
		map[string]any{"id": string(public), "name": "Gophers", "icon": nil, "owner": false, "permissions": "8"},
	})
	apiKeys := keys.New(s.archive, s, s.clock)
	signInOptions := signin.Options{Locals: o.locals, Log: log, Now: s.clock}
	signInOptions.Refreshed = func(ctx context.Context, user id.User, managed []id.Guild) error {
		return apiKeys.Refreshed(ctx, keys.User(user, managed...))
	}
	if !o.noOAuth {
		p := signin.NewProvider(signin.ProviderOptions{
			ClientID: s.provider.ClientID, ClientSecret: s.provider.ClientSecret, AuthURL: s.provider.AuthURL(),
			TokenURL: s.provider.TokenURL(), APIURL: s.provider.APIURL(), RedirectURL: web.RedirectURL(s.url),
		})
		t.Cleanup(p.Close)
		signInOptions.Provider = p
	}
	s.deps = web.Deps{
		Guilds: s.guilds, Board: s.board, Finder: leaderboard.NewFinder(s.board, s.archive), Periods: periods.NewBoards(s.board, s.archive, s.clock), Watch: s.feed, Keys: apiKeys, Users: s.users(hydrator), KeepAlive: o.keepAlive, Watchers: o.watchers, Limiter: ratelimit.New(client), PublicURL: s.url, IdentityLimit: o.limit,
		Version: "test", Log: log, Now: s.clock, Hiding: hiding.New(s.archive, hydrator, s.board, s, log), Settings: guilds.New(s.archive, s.board, s), Audit: audit.NewLog(s.archive, store),
	}
	if !o.noOAuth || o.locals != nil {
		s.sessions = signin.NewSessions(store, signInOptions)
		s.deps.SignIn = s.sessions
	}
	if o.with != nil {
		o.with(s, redisstore.New(client, redisstore.Options{}))
	}
	pages, err := web.New(s.deps)
	if err != nil {
		t.Fatal(err)
	}
	pages.Routes(engine)
	engine.NoRoute(func(c *gin.Context) { pages.Refuse(c, fault.New(fault.NotFound, "")) })
	engine.NoMethod(func(c *gin.Context) { pages.Refuse(c, fault.New(fault.MethodNotAllowed, "Not like this.")) })
	return s
}

// users returns the use cases of stored personal data, on the store of keys.
func (s *site) users(loader leaderboard.Loader) *erasure.Eraser {
	return erasure.New(s.archive, s.store, loader, s, erasure.Options{
		Lease: func() (lease.Lease, bool) { return lease.Lease{}, false }, Interval: time.Second, Log: slog.New(slog.DiscardHandler),
	})
}

// Announce implements changes.Announcer. These tests have no cache of keys.
func (s *site) Announce(context.Context, changes.Kind, string) {}

func (s *site) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// pass advances the clock.
func (s *site) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// stored puts the guilds into an archive, and updates them to their archived form.
func (s *site) stored() *sqlite.Archive {
	archive := sqlitetest.Open(s.t)
	for _, g := range s.guilds {
		kept := storetest.PutGuild(s.t, archive, g.ID)
		g.Incarnation, g.Version, g.Curve = kept.Incarnation, kept.Version, kept.Curve
		g.XPGainInterval, g.XPPerMessageMin, g.XPPerMessageMax, g.XPGlobalMultiplier = 60_000, 15, 40, 1
	}
	return archive
}

// fill puts these members on the public board, before anybody reads it.
func (s *site) fill(members []leaderboard.Ranked) {
	s.t.Helper()
	h, _, err := s.store.BeginHydration(s.t.Context(), leaderboard.Ref(s.guilds[public]), snapshot.State{})
	if err != nil {
		s.t.Fatal(err)
	}
	rows := make([]snapshot.Row, len(members))
	for i, m := range members {
		rows[i] = snapshot.Row{Member: m.Member}
	}
	if err := s.store.LoadChunk(s.t.Context(), h, rows); err != nil {
		s.t.Fatal(err)
	}
	if err := s.store.CommitHydration(s.t.Context(), h, snapshot.State{Epoch: 1}); err != nil {
		s.t.Fatal(err)
	}
}

type fakeGuilds map[id.Guild]*guild.Guild

func (g fakeGuilds) ByID(_ context.Context, wanted id.Guild) (*guild.Guild, error) {
	if found := g.get(wanted); found != nil {
		return found, nil
	}
	return nil, fault.New(fault.NotFound, "This guild is not known here.")
}

func (g fakeGuilds) ByVanity(_ context.Context, vanity string) (*guild.Guild, error) {
	changing.Lock()
	defer changing.Unlock()
	for _, found := range g {
		if string(found.Vanity) == vanity {
			return found, nil
		}
	}
	return nil, fault.New(fault.NotFound, "This guild is not known here.")
}

// changing serializes changes of guilds with reads of them.
var changing sync.Mutex

func (g fakeGuilds) get(wanted id.Guild) *guild.Guild {
	changing.Lock()
	defer changing.Unlock()
	return g[wanted]
}

// change replaces a guild by a changed copy, or deletes it if how is nil.
func (g fakeGuilds) change(wanted id.Guild, how func(*guild.Guild)) {
	changing.Lock()
	defer changing.Unlock()
	if how == nil {
		delete(g, wanted)
		return
	}
	changed := *g[wanted]
	how(&changed)
	g[wanted] = &changed
}

// Forget implements leaderboard.Settings.
func (fakeGuilds) Forget(id.Guild) {}
