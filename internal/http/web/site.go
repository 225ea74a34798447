package web

import (
	"cmp"
	"context"
	"html/template"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/http/card"
	"levelboard/internal/http/edge"
	"levelboard/internal/platform/shares"
	"levelboard/internal/store/ratelimit"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/erasure"
	"levelboard/internal/usecase/guildsettings"
	"levelboard/internal/usecase/jobs"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/ownkeys"
	"levelboard/internal/usecase/periods"
	"levelboard/internal/usecase/watch"
)

// Guilds finds a guild's settings; a NotFound fault for an unknown guild.
type Guilds interface {
	ByID(ctx context.Context, g id.Guild) (*guild.Guild, error)
	ByVanity(ctx context.Context, vanity string) (*guild.Guild, error)
}

// Deps is what the pages are built on.
type Deps struct {
	Guilds   Guilds
	Board    *leaderboard.Leaderboard
	Keys     *ownkeys.Profile
	Users    *erasure.Eraser
	Finder   *leaderboard.Finder
	Periods  *periods.Boards
	Watch    *watch.Feed
	Limiter  *ratelimit.Limiter
	Fonts    *card.Fonts             // for previews
	SignIn   SignIn                  // nil when nobody can sign in
	Settings *guildsettings.Settings // nil when there is no page for them

	// Jobs, Checkpoints and Audit are what the page of a guild's data needs; nil when there is none.
	Jobs        *jobs.Runner
	Checkpoints *checkpoints.Checkpoints
	Audit       *audit.Log

	PublicURL     string        // base of links, without a slash at its end; decides how cookies are protected
	IdentityLimit int           // requests a minute of a user or an address, together with theirs to /v2; 0 is no limit
	KeepAlive     time.Duration // after how long a silent stream of rows gets a sign of life; 0 is 15 s
	Version       string        // of the service, shown at the foot of each page
	Log           *slog.Logger
	Now           func() time.Time
}

// Site is the pages. It is safe for concurrent use.
type Site struct {
	deps      Deps
	log       *slog.Logger
	templates map[string]*template.Template
	static    map[string]staticFile
	rendered  *renderedPages
	packer    edge.Packer
	drawing   *card.Drawing
	cookies   cookies
	origins   *http.CrossOriginProtection
	inFlight  *shares.Pool // pages that are worked on, by address
	watchers  *shares.Pool // streams of rows, by address
	exports   *shares.Pool // of members, by user
}

// New builds the pages. It fails when PublicURL is not the address of a site, or not one over which people could sign in.
func New(deps Deps) (*Site, error) {
	s := &Site{
		deps: deps, log: deps.Log, static: packStatic(), rendered: newRenderedPages(), drawing: card.NewDrawing(),
		inFlight: shares.New(maxInFlight, pagesOfAddress), watchers: shares.New(math.MaxInt, watchersOfAddress),
		exports: shares.New(maxExports, 1),
	}
	s.deps.KeepAlive = cmp.Or(s.deps.KeepAlive, defaultKeepAlive)
	var err error
	if s.origins, err = trusting(deps.PublicURL); err != nil {
		return nil, err
	}
	if deps.SignIn != nil {
		if s.cookies, err = newCookies(deps.PublicURL); err != nil {
			return nil, err
		}
	}
	s.templates, err = parseTemplates()
	return s, err
}

// Routes adds the pages to a router, which measures requests and gives them their time and their id (package httpapi).
func (s *Site) Routes(r gin.IRouter) {
	get(r, "/static/:hash/:file", s.serveAsset)
	get(r, "/favicon.ico", s.serveIcon)
	get(r, "/apple-touch-icon.png", s.serveTouchIcon)
	get(r, "/site.webmanifest", s.serveManifest)
	get(r, "/robots.txt", s.serveRobots)

	pages := r.Group("", s.recover, s.guard, s.admit, s.identify)
	get(pages, "/", s.handle(s.home))
	get(pages, "/leaderboard", s.handle(s.findLeaderboard))
	get(pages, "/leaderboard/:entry", s.boardOf(s.leaderboard))
	get(pages, "/leaderboard/:entry/search", s.boardOf(s.search))
	get(pages, "/leaderboard/:entry/rows", s.boardOf(s.rows))
	get(pages, "/leaderboard/:entry/preview.png", s.boardOf(s.preview))
	get(pages, "/leaderboard/:entry/periods", s.boardOf(s.pastPeriods))
	get(pages, "/leaderboard/:entry/members/:userId", s.boardOf(s.member))
	get(pages, "/leaderboard/:entry/members/:userId/standing", s.boardOf(s.standing))
	pages.POST("/leaderboard/:entry/members/:userId/xp", s.boardOf(s.managed(s.changeXP)))
	pages.POST("/leaderboard/:entry/members/:userId/remove", s.boardOf(s.managed(s.removeMember)))
	pages.POST("/leaderboard/:entry/members/:userId/presence", s.boardOf(s.managed(s.setPresence)))

	// A stream takes no place of a page; the feed bounds how many there are, and watchRows how many are of one address.
	r.Group("", s.recover, s.guard, s.identify).GET("/leaderboard/:entry/live", s.boardOf(s.watchRows))

	get(pages, "/embed/:entry", s.handle(s.embed))
	s.profileRoutes(pages)
	get(pages, settingsPath, s.handle(s.settings))
	pages.POST(settingsPath, s.handle(s.changeSettings))
	s.dataRoutes(pages)

	get(pages, "/sign-in", s.handle(s.signInPage))
	pages.GET("/sign-in/provider", s.handle(s.toProvider))
	pages.GET(callbackPath, s.handle(s.fromProvider))
	pages.POST("/sign-in/local", s.handle(s.enterLocally))
	pages.POST("/sign-out", s.handle(s.signOut(false)))
	pages.POST("/sign-out/everywhere", s.handle(s.signOut(true)))
}

// Refuse answers a request at an address that has no page, or not for its method. It costs the caller as much as a page.
func (s *Site) Refuse(c *gin.Context, f *fault.Error) {
	for _, step := range []gin.HandlerFunc{s.guard, s.identify} {
		if step(c); c.IsAborted() {
			return
		}
	}
	if f.Code == fault.NotFound {
		f = fault.New(fault.NotFound, "There is no page at this address.")
	}
	s.fail(c, f)
}

// get routes GET, and HEAD, whose body net/http leaves out.
func get(r gin.IRouter, path string, h gin.HandlerFunc) {
	r.GET(path, h)
	r.HEAD(path, h)
}

// Version is that of the service, for the foot of each page.
func (s *Site) Version() string { return s.deps.Version }

// homePage is the content of the start page.
type homePage struct {
	Known       bool        // who is signed in, and which communities are theirs
	Communities []community // that they manage and that are set up here
}

// home says what this is, and leads on: who manages a community, to their own.
func (s *Site) home(c *gin.Context) error {
	content := homePage{}
	if session := sessionOf(c); session != nil {
		var err error
		content.Communities, err = s.managedBy(c.Request.Context(), session)
		if content.Known = err == nil && (!session.Unconfirmed || len(content.Communities) > 0); err != nil {
			// The rest of the page is for everybody, whatever does not answer.
			s.log.WarnContext(c.Request.Context(), "the start page leaves out somebody's communities", "error", err)
		}
	}
	s.describe(c, "/", "XP, levels, leaderboards and role rewards for chat communities, on your own server.")
	return s.show(c, http.StatusOK, "home", "Levels for your community", content)
}

// findLeaderboard is where the form of the start page leads, which works without script.
func (s *Site) findLeaderboard(c *gin.Context) error {
	entry := strings.TrimSpace(c.Query("entry"))
	if entry == "" {
		c.Redirect(http.StatusSeeOther, "/")
		return nil
	}
	c.Redirect(http.StatusSeeOther, "/leaderboard/"+url.PathEscape(entry))
	return nil
}
