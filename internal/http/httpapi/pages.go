package httpapi

import (
	"context"
	"math"
	"net/http"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/http/etag"
	"levelboard/internal/usecase/leaderboard"
)

// pageFormat is part of every ETag; raise it when the same members would be encoded differently.
const pageFormat = "1"

// pageName says which page it is, and for whom: a manager's says so in its body.
type pageName struct {
	guild   id.Guild
	number  int64
	manager bool
}

func (a *api) leaderboardPage(c *gin.Context) error {
	gid, vanity, err := guild.ParseEntry(c.Param("entry"))
	if err != nil {
		return err
	}
	number, err := pageNumber(c)
	if err != nil {
		return err
	}
	g, err := a.findGuild(c.Request.Context(), gid, vanity)
	if err != nil {
		return err
	}
	if err := mayRead(c, g); err != nil {
		return err
	}
	name := pageName{guild: g.ID, number: min(number, leaderboard.MaxPage), manager: callerOf(c).manages(g)}
	return a.servePage(c, g, name)
}

func pageNumber(c *gin.Context) (int64, error) {
	values, err := query(c)
	if err != nil {
		return 0, err
	}
	return queryInt(values, "page", 1, math.MaxInt64)
}

func (a *api) findGuild(ctx context.Context, gid id.Guild, vanity string) (g *guild.Guild, err error) {
	if gid != "" {
		g, err = a.deps.Guilds.ByID(ctx, gid)
	} else {
		g, err = a.deps.Guilds.ByVanity(ctx, vanity)
	}
	if err == nil && !g.Enabled {
		return nil, fault.New(fault.NotFound, "Leveling is not enabled in this guild. Its owner can enable it.")
	}
	return g, err
}

// mayRead is the 401 and 403 of private leaderboards.
func mayRead(c *gin.Context, g *guild.Guild) error {
	if g.Visibility == guild.Public {
		return nil
	}
	switch who := callerOf(c); {
	case who.key != nil:
		return permit(c, g.ID)
	case who.session.MayRead(g):
		return nil
	case who.session != nil:
		return fault.New(fault.Forbidden, "This leaderboard is private, and you are not a member of its community.")
	}
	return fault.New(fault.Unauthenticated, "This leaderboard is private. Send an API key with access to the guild in the header X-Api-Key.")
}

// servePage answers with a page that is never older than the request, from memory where it can.
func (a *api) servePage(c *gin.Context, g *guild.Guild, name pageName) error {
	page, outcome, err := a.currentPage(c.Request.Context(), g, name, c.Request.Header["If-None-Match"])
	if err != nil {
		return err
	}
	if same, ok := etag.Match(c.Request.Header["If-None-Match"], page.etag); ok {
		setCacheHeaders(c, same, varyPage)
		pageOutcomes[pageNotModified].Inc()
		c.Status(http.StatusNotModified)
		return nil
	}
	pageOutcomes[outcome].Inc()
	a.sendPage(c, name, page, outcome == pageHit || page.still)
	return nil
}

// sendPage sends the page, gzipped if the client takes that and it was sent before (again).
func (a *api) sendPage(c *gin.Context, name pageName, page encodedPage, again bool) {
	etag, body := page.etag, page.body
	if len(body) >= packable && acceptsGzip(c.Request.Header["Accept-Encoding"]) {
		// Gzipped this time or not, the same state has the same ETag, and a strong one would be one of bytes (RFC 9110, section 8.8.3.3).
		etag = "W/" + etag
		if page.packed == nil && again {
			page.packed = a.pack(name, page)
		}
		if page.packed != nil {
			body = page.packed
			c.Header("Content-Encoding", "gzip")
		}
	}
	setCacheHeaders(c, etag, varyPage)
	write(c, http.StatusOK, body)
}

// currentPage finds the page: the one in memory, if that is of the guild's version, read after the request arrived, or of a
// later one; else a read that begins after that. If the board changed between the last two reads, it skips the version check.
// The page has no body when the client's own is the present one.
func (a *api) currentPage(ctx context.Context, g *guild.Guild, name pageName, ifNoneMatch []string) (encodedPage, pageOutcome, error) {
	before := a.reads.begun.Load()
	if kept, ok := a.pages.get(name); !ok || !kept.moving || !kept.of(g) {
		version, err := a.deps.Board.Version(ctx, g)
		if err != nil {
			return encodedPage{}, 0, err
		}
		if ok && kept.serves(g, version) {
			return kept, pageHit, nil
		}
		tag := pageETag(g, version, name)
		if _, ok := etag.Match(ifNoneMatch, tag); ok {
			return encodedPage{etag: tag}, pageNotModified, nil
		}
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
	before, known := a.pages.get(name)
	if known = known && before.of(g); !known {
		before = encodedPage{}
	}
	page, err := a.deps.Board.Page(ctx, g, name.number, before.rows)
	if err != nil {
		return encodedPage{}, err
	}
	encoded := encodedPage{
		etag: pageETag(g, page.Version, name), incarnation: g.Incarnation, settings: g.Version, version: page.Version, rows: page.Digest,
		moving: known && before.version != page.Version,
		still:  known && before.rows == page.Digest,
	}
	if encoded.still {
		encoded.body = before.body
	} else if encoded.body, err = encode(pageBody(g, page, name.manager)); err != nil {
		return encodedPage{}, err
	}
	if len(page.Rows) > 0 || encoded.still || name.number == 1 {
		encoded = a.pages.add(name, encoded)
	}
	return encoded, nil
}

func pageETag(g *guild.Guild, v leaderboard.Version, name pageName) string {
	manager := int64(0)
	if name.manager {
		manager = 1
	}
	return etag.Of(pageFormat, int64(g.Incarnation), v.Epoch, v.Rev, g.Version, manager, name.number)
}

// setCacheHeaders makes caches ask each time, which a 304 answers cheaply. Whether a page says isManager, and whether it may
// be read at all, depends on the key or on who is signed in, so no shared cache keeps what was asked for with one or is private.
func setCacheHeaders(c *gin.Context, etag string, vary string) {
	cache := "public, no-cache"
	if c.GetHeader(keyHeader) != "" {
		cache = privateNoCache
	}
	if callerOf(c).session != nil {
		cache, vary = privateNoCache, vary+", Cookie"
	}
	c.Header("ETag", etag)
	c.Header("Vary", vary)
	c.Header("Cache-Control", cache)
}
