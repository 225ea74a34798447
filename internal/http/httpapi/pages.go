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

// pageFormat is part of every page's ETag. Raise it when the same members would be encoded differently.
const pageFormat = "1"

// pageName identifies a page and its kind of reader: a manager's page says so in its body.
type pageName struct {
	guild   id.Guild
	number  int64
	manager bool
	period  period.Period // the running period; the zero value for the board of all time
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

// mayRead answers 401 or 403 for a private leaderboard that the caller may not read.
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

// servePage answers with a page that is never older than the request, from memory if possible.
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

// sendPage sends the page. It is gzipped if the client accepts that and the page was sent before (again).
func (a *api) sendPage(c *gin.Context, name pageName, page encodedPage, again bool) error {
	tag, body := page.etag, page.body
	if len(body) >= edge.LeastPacked && edge.AcceptsGzip(c.Request.Header["Accept-Encoding"]) {
		tag = edge.WeakETag(tag) // the same tag, gzipped or not
		if page.packed == nil && again {
			if page.packed = a.packer.TryPack(page.body); page.packed != nil { // nil while another page is packed
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

// currentPage returns the page from memory, if it is not older than the guild's version, which is read after the request
// arrived. Else it returns a read that begins after that. It returns a page without a body if the client's own page is current.
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

// readPage reads the page and caches it, with the version of its rows.
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

// pageETag names a state of a page. Kind and days identify a period, since periods of a kind do not overlap.
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

// setCacheHeaders makes caches revalidate each time; a 304 is cheap.
func setCacheHeaders(c *gin.Context, etag, vary string) { setKept(c, etag, vary, noCache) }

// setKept says how long caches may keep an answer for readers of the leaderboard. A page's isManager, and the right
// to read it, depend on the key or session. So an answer to a key or session is private: no shared cache keeps it.
// An answer that is kept without revalidation varies by cookie, so that it is not shown to users who sign in later.
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
