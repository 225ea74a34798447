package web

import (
	"cmp"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/http/card"
	"levelboard/internal/http/edge"
	"levelboard/internal/platform/shares"
	"levelboard/internal/store/ratelimit"
	"levelboard/internal/usecase/announce"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/erasure"
	"levelboard/internal/usecase/guilds"
	"levelboard/internal/usecase/hiding"
	"levelboard/internal/usecase/jobs"
	"levelboard/internal/usecase/keys"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
	"levelboard/internal/usecase/watch"
)

// Deps are the parts that the pages are built on.
type Deps struct {
	Guilds   edge.Guilds
	Board    *leaderboard.Leaderboard
	Keys     *keys.Keys
	Users    *erasure.Eraser
	Hiding   *hiding.Hiding
	Finder   *leaderboard.Finder
	Periods  *periods.Boards
	Watch    *watch.Feed
	Limiter  *ratelimit.Limiter
	Fonts    *card.Fonts // for previews
	SignIn   SignIn      // nil if nobody can sign in
	Settings *guilds.Guilds

	Jobs          *jobs.Runner
	Checkpoints   *checkpoints.Checkpoints
	Audit         *audit.Log
	Announcements *announce.Announcer

	PublicURL     string        // base of links, without a slash at its end; its scheme decides how cookies are protected
	IdentityLimit int           // requests a minute of a user or an address, calls of /v2 included; 0: no limit
	Watchers      int           // maximum number of watched pages; 0: 1,000
	KeepAlive     time.Duration // how long a stream of rows is silent before it gets a keep-alive; 0: 5 s
	Version       string        // of the service, for the footer
	Log           *slog.Logger
	Now           func() time.Time
}

// Site is the pages. It is safe for concurrent use.
type Site struct {
	deps      Deps
	log       *slog.Logger
	templates map[string]*template.Template
	rendered  *renderedPages
	packer    edge.Packer
	drawing   *card.Drawing
	cookies   cookies
	origins   *http.CrossOriginProtection
	inFlight  *shares.Pool // pages that are being rendered, by address
	watchers  *shares.Pool // streams of rows, by address
	exports   *shares.Pool // of members, by user
	robots    []string     // patterns that crawlers must leave out
}

// New builds the pages. It fails if PublicURL is not the address of a site, or if signing in there would not be safe.
func New(deps Deps) (*Site, error) {
	s := &Site{
		deps: deps, log: deps.Log, robots: []string{"/admin/"}, rendered: newRenderedPages(), drawing: card.NewDrawing(),
		inFlight: shares.New(maxInFlight, pagesOfAddress), watchers: shares.New(cmp.Or(deps.Watchers, mostWatchers), watchersOfAddress),
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

// Routes adds the pages to a router. The router measures requests and gives them their time and id (package httpapi).
func (s *Site) Routes(r gin.IRouter) {
	edge.Get(r, "/static/:hash/:file", s.serveAsset)
	edge.Get(r, "/favicon.ico", s.serveFile("icon.svg"))
	edge.Get(r, "/apple-touch-icon.png", s.serveFile("touch.png"))
	edge.Get(r, "/site.webmanifest", s.serveFile("site.webmanifest"))
	edge.Get(r, "/robots.txt", s.serveRobots)

	pages := routes{router: r, before: []gin.HandlerFunc{edge.Recover(s.fail), s.guard, s.admit, s.identify}, robots: &s.robots}
	pages.get("/", s.handle(s.home))
	pages.get("/leaderboard", s.handle(s.findLeaderboard))
	pages.get("/leaderboard/:entry", s.boardOf(s.leaderboard))
	pages.get("/leaderboard/:entry/search", s.boardOf(s.search), unlisted("/leaderboard/*/search"))
	pages.get("/leaderboard/:entry/rows", s.boardOf(s.rowsOf(s.rows)), unlisted("/leaderboard/*/rows"))
	pages.get("/leaderboard/:entry/preview.png", s.boardOf(s.preview))
	pages.get("/leaderboard/:entry/periods", s.boardOf(s.pastPeriods))
	pages.get("/leaderboard/:entry/levels", s.boardOf(s.levels))
	pages.get("/leaderboard/:entry/members/:userId", s.boardOf(s.member))
	pages.get("/leaderboard/:entry/members/:userId/standing", s.boardOf(s.standing), unlisted("/leaderboard/*/members/*/standing"))
	pages.get("/leaderboard/:entry/members/:userId/xp", s.boardOf(s.managed(s.previewXP)), unlisted("/leaderboard/*/members/*/xp"))
	pages.post("/leaderboard/:entry/members/:userId/xp", s.boardOf(s.managed(s.changeXP)))
	pages.post("/leaderboard/:entry/members/:userId/remove", s.boardOf(s.managed(s.removeMember)))
	pages.post("/leaderboard/:entry/members/:userId/hidden", s.boardOf(s.managed(s.setHidden)))

	// A stream takes no place of a page; watchRows bounds the streams.
	streams := pages
	streams.before = []gin.HandlerFunc{edge.Recover(s.fail), s.guard, s.identify}
	streams.only("/leaderboard/:entry/live", s.boardOf(s.rowsOf(s.watchRows)), unlisted("/leaderboard/*/live"))

	pages.get("/embed/:entry", s.handle(s.embed))
	s.profileRoutes(pages)
	pages.get(settingsPath, s.managing(s.settings), unlisted("/guilds/"))
	pages.post(settingsPath, s.keeping(s.managing(s.changeSettings)), upTo(maxSettingsForm), formHere)
	s.dataRoutes(pages)
	pages.get(hiddenListPath, s.managing(s.hiddenList), unlisted("/guilds/"))
	pages.post(hiddenListPath, s.managing(s.changeHiddenList), formHere)

	pages.get("/sign-in", s.handle(s.signInPage), unlisted("/sign-"))
	pages.only("/sign-in/provider", s.handle(s.toProvider))
	pages.only(callbackPath, s.handle(s.fromProvider))
	pages.post("/sign-in/local", s.handle(s.enterLocally))
	pages.post("/theme", s.handle(s.chooseTheme))
	pages.post("/sign-out", s.handle(s.signOut(false)))
	pages.post("/sign-out/everywhere", s.handle(s.signOut(true)))
}

// Refuse answers a request to an address without a page, or without one for its method. It charges the caller as a page does.
func (s *Site) Refuse(c *gin.Context, f *fault.Error) {
	for _, step := range []gin.HandlerFunc{s.guard, s.identify} {
		if step(c); c.IsAborted() {
			return
		}
	}
	if f.Code == fault.NotFound {
		if page := withoutSlash(c.Request); page != "" {
			c.Redirect(http.StatusMovedPermanently, page)
			return
		}
		f = fault.New(fault.NotFound, "There is no page at this address.")
	}
	s.fail(c, f)
}

// withoutSlash returns the address without trailing slashes. It returns "" if there are none, or if the request is not a read.
func withoutSlash(r *http.Request) string {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || !strings.HasSuffix(r.URL.Path, "/") {
		return ""
	}
	path := "/" + strings.Trim(r.URL.EscapedPath(), "/") // two slashes at the beginning would lead to another site
	if r.URL.RawQuery != "" {
		path += "?" + r.URL.RawQuery
	}
	return path
}

// Version returns the service's version, for the footer.
func (s *Site) Version() string { return s.deps.Version }

// homePage is the content of the start page.
type homePage struct {
	Boards      []myBoard   // boards of the signed-in user, in communities whose board they may read
	Known       bool        // the user is signed in, and their communities are known
	Communities []community // those that they manage and that are set up here
}

// home shows what Levelboard is. To a signed-in user it shows their boards, and the communities that they manage.
func (s *Site) home(c *gin.Context) error {
	content := homePage{}
	if session := sessionOf(c); session != nil {
		var err error
		content.Communities, err = s.managedBy(c.Request.Context(), session)
		if content.Known = err == nil && (!session.Unconfirmed || len(content.Communities) > 0); err != nil {
			// Show the rest of the page even if a store does not respond.
			s.log.WarnContext(c.Request.Context(), "the start page lacks the visitor's communities", "error", err)
		}
		if content.Boards, err = s.myBoards(c.Request.Context(), session); err != nil {
			s.log.WarnContext(c.Request.Context(), "the start page lacks the visitor's boards", "error", err)
		}
	}
	s.describe(c, "/", "XP, levels, leaderboards and role rewards for chat communities, on your own server.")
	return s.show(c, http.StatusOK, "home", "Levels for your community", content)
}

// findLeaderboard redirects the start page's form to the board.
func (s *Site) findLeaderboard(c *gin.Context) error {
	entry := strings.TrimSpace(c.Query("entry"))
	if entry == "" {
		c.Redirect(http.StatusSeeOther, "/")
		return nil
	}
	c.Redirect(http.StatusSeeOther, "/leaderboard/"+url.PathEscape(entry))
	return nil
}
