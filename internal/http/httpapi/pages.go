package httpapi

import (
	"context"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/http/edge"
	"levelboard/internal/usecase/leaderboard"
)

// pageFormat is part of every ETag; raise it when the same members would be encoded differently.
const pageFormat = "1"

// pageName says which page it is, and for whom: a manager's says so in its body.
type pageName struct {
	guild   id.Guild
	number  int64
	manager bool
	period  period.Period // that runs; the zero value for the board of all time
}

func (a *api) leaderboardPage(r *request) error {
	r.entry()
	number := r.page()
	wanted := r.period()
	g := r.readable()
	if r.err != nil {
		return r.err
	}
	name := pageName{guild: g.ID, number: min(number, leaderboard.MaxPage), manager: callerOf(r.c).Manages(g)}
	if wanted == "" {
		return a.servePage(r.c, g, name)
	}
	running, closed, err := a.deps.Periods.Find(r.ctx, g, wanted)
	if err != nil {
		return err
	}
	if closed != nil {
		return a.serveClosed(r.c, g, closed, closedName{number: number, manager: name.manager, alias: wanted != closed.ID})
	}
	name.period = running
	return a.servePage(r.c, g, name)
}

// findGuild finds a guild in which leveling is enabled.
func (a *api) findGuild(ctx context.Context, gid id.Guild, vanity string) (*guild.Guild, error) {
	g, err := edge.FindGuild(ctx, a.deps.Guilds, gid, vanity)
	if err == nil && !g.Enabled {
		return nil, fault.New(fault.NotFound, "Leveling is not enabled in this guild. Its owner can enable it.")
	}
	return g, err
}

// mayRead is the 401 and 403 of private leaderboards.
func mayRead(c *gin.Context, g *guild.Guild) error {
	switch who := callerOf(c); {
	case who.MayRead(g):
		return nil
	case who.Key != nil:
		return permit(c, g.ID)
	case who.Session != nil:
		return fault.New(fault.Forbidden, "This leaderboard is private, and you are not a member of its community.")
	}
	return fault.New(fault.Unauthenticated, "This leaderboard is private. Send an API key with access to the guild in the header X-Api-Key.")
}

// servePage answers with a page that is never older than the request, from memory where it can.
func (a *api) servePage(c *gin.Context, g *guild.Guild, name pageName) error {
	before, _ := a.pages.get(name)
	page, outcome, err := a.currentPage(c.Request.Context(), g, name, c.Request.Header["If-None-Match"])
	if err != nil {
		return err
	}
	if same, ok := edge.MatchETag(c.Request.Header["If-None-Match"], page.etag); ok {
		setCacheHeaders(c, same, varyPage)
		pageRequests.WithLabelValues(pageNotModified).Inc()
		c.Status(http.StatusNotModified)
		return nil
	}
	pageRequests.WithLabelValues(outcome).Inc()
	return a.sendPage(c, name, page, before.sameBody(&page))
}

// sendPage sends the page, gzipped if the client takes that and it was sent before (again).
func (a *api) sendPage(c *gin.Context, name pageName, page encodedPage, again bool) error {
	tag, body := page.etag, page.body
	if len(body) >= edge.LeastPacked && edge.AcceptsGzip(c.Request.Header["Accept-Encoding"]) {
		tag = edge.WeakETag(tag) // gzipped this time or not
		if page.packed == nil && again {
			if page.packed = a.packer.TryPack(page.body); page.packed != nil { // nil while another page is being packed
				a.pages.pack(name, page)
			}
		}
		if page.packed != nil {
			body = page.packed
			c.Header("Content-Encoding", "gzip")
		}
	}
	setCacheHeaders(c, tag, varyPage)
	return write(c, http.StatusOK, body)
}

// currentPage finds the page: the one in memory, if that is of the guild's version, read after the request arrived, or of a
// later one; else a read that begins after that. The page has no body when the client's own is the present one.
func (a *api) currentPage(ctx context.Context, g *guild.Guild, name pageName, ifNoneMatch []string) (page encodedPage, outcome string, err error) {
	before := a.reads.begun.Load()
	version, err := a.deps.Board.Version(ctx, g)
	if err != nil {
		return encodedPage{}, "", err
	}
	if kept, ok := a.pages.get(name); ok && kept.serves(g, version) {
		return kept, pageHit, nil
	}
	tag := pageETag(g, version, name)
	if _, ok := edge.MatchETag(ifNoneMatch, tag); ok {
		return encodedPage{etag: tag}, pageNotModified, nil
	}
	page, shared, err := a.reads.after(ctx, before, pageRead{name, g.Incarnation, g.Version}, func(ctx context.Context) (encodedPage, error) {
		return a.readPage(ctx, g, name)
	})
	if shared {
		return page, pageShared, err
	}
	return page, pageMiss, err
}

// readPage reads the page and keeps it. It carries the version that its rows are of.
func (a *api) readPage(ctx context.Context, g *guild.Guild, name pageName) (encodedPage, error) {
	version, read, err := a.readRows(ctx, g, name)
	if err != nil {
		return encodedPage{}, err
	}
	page := encodedPage{etag: pageETag(g, version, name), incarnation: g.Incarnation, settings: g.Version, version: version}
	if page.body, err = encode(read); err != nil {
		return encodedPage{}, err
	}
	if len(read.Levels) > 0 || name.number == 1 {
		page = a.pages.add(name, page)
	}
	return page, nil
}

// readRows reads the page, of all time or of a running period.
func (a *api) readRows(ctx context.Context, g *guild.Guild, name pageName) (leaderboard.Version, pageJSON, error) {
	if name.period.ID == "" {
		page, err := a.deps.Board.Page(ctx, g, name.number)
		return page.Version, pageBody(g, page.Rows, name.manager), err
	}
	page, err := a.deps.Board.Standings(ctx, g, name.period, leaderboard.PageSize*(name.number-1), leaderboard.PageSize)
	return page.Version, standingsBody(&g.Settings, runningBody(g, name.period), page.Rows, name.manager), err
}

// pageETag names a state of a page. A period is identified by its kind and days: those of one kind do not overlap.
func pageETag(g *guild.Guild, v leaderboard.Version, name pageName) string {
	manager := int64(0)
	if name.manager {
		manager = 1
	}
	state := []int64{int64(g.Incarnation), v.Epoch, v.Rev, g.Version, manager, name.number}
	if p := name.period; p.ID != "" {
		state = append(state, int64(slices.Index(period.Kinds, p.Kind)), int64(p.First), int64(p.End))
	}
	return edge.ETag(pageFormat, state...)
}

// setCacheHeaders makes caches ask each time, which a 304 answers cheaply.
func setCacheHeaders(c *gin.Context, etag, vary string) { setKept(c, etag, vary, noCache) }

// setKept says how long caches may keep what is there for whoever may read the leaderboard. A page's isManager, and the right
// to read it at all, depend on the key or on who is signed in, so no shared cache keeps what was asked for with one or is private. What is kept
// without being asked for again is not for those who sign in later.
func setKept(c *gin.Context, etag, vary, kept string) {
	cache, session := "public, "+kept, callerOf(c).Session != nil
	if session || c.GetHeader(keyHeader) != "" {
		cache = "private, " + kept
	}
	if session || kept != noCache {
		vary += ", Cookie"
	}
	c.Header("ETag", etag)
	c.Header("Vary", vary)
	c.Header("Cache-Control", cache)
}
