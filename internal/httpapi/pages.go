package httpapi

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"levelboard/internal/fault"
	"levelboard/internal/guild"
	"levelboard/internal/id"
	"levelboard/internal/leaderboard"
)

// pageFormat is part of every ETag; raise it when the same members would be encoded differently.
const pageFormat = 1

// pageName says which page it is, and for whom: a manager's says so in its body.
type pageName struct {
	guild   id.Guild
	number  int64
	manager bool
}

func (a *API) leaderboardPage(c *gin.Context) error {
	gid, vanity, err := guild.ParseEntry(c.Param("entry"))
	if err != nil {
		return err
	}
	values, err := query(c)
	if err != nil {
		return err
	}
	number, err := queryInt(values, "page", 1, math.MaxInt64)
	if err != nil {
		return err
	}
	g, err := a.findGuild(c, gid, vanity)
	if err != nil {
		return err
	}
	if err := mayRead(c, g); err != nil {
		return err
	}
	name := pageName{guild: g.ID, number: min(number, lastPage), manager: g.IsManager(callerOf(c).user())}
	return a.servePage(c, g, name)
}

// lastPage is beyond the last page of any board and far from overflow.
const lastPage = 1 << 40

func (a *API) findGuild(c *gin.Context, gid id.Guild, vanity string) (g *guild.Guild, err error) {
	if gid != "" {
		g, err = a.deps.Guilds.ByID(c.Request.Context(), gid)
	} else {
		g, err = a.deps.Guilds.ByVanity(c.Request.Context(), vanity)
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
	if callerOf(c).key == nil {
		return fault.New(fault.Unauthenticated, "This leaderboard is private. Send an API key with access to the guild in the header X-Api-Key.")
	}
	return permit(c, g)
}

// servePage answers from memory while that is of the guild's version, read after the request arrived, or of a later one: what
// it serves is never older than the request. Requests for the same page share one read.
func (a *API) servePage(c *gin.Context, g *guild.Guild, name pageName) error {
	version, err := a.deps.Board.Version(c.Request.Context(), g)
	if err != nil {
		return err
	}
	page, outcome, etag := encodedPage{}, pageHit, pageETag(g, version, name)
	kept, ok := a.pages.get(name)
	if ok = ok && kept.serves(g, version); ok {
		page, etag = kept, kept.etag
	}
	if matches(c.Request.Header["If-None-Match"], etag) {
		pageOutcomes[pageNotModified].Inc()
		setPageHeaders(c, etag)
		c.Status(http.StatusNotModified)
		return nil
	}
	if !ok {
		if page, outcome, err = a.readPage(c.Request.Context(), g, name, version); err != nil {
			return err
		}
	}
	pageOutcomes[outcome].Inc()
	setPageHeaders(c, page.etag)
	write(c, http.StatusOK, page.body)
	return nil
}

// readPage reads the page at this version or a later one. A read that had begun before the version was known may bring an
// older one; the next has begun after it.
func (a *API) readPage(ctx context.Context, g *guild.Guild, name pageName, least leaderboard.Version) (page encodedPage, outcome pageOutcome, err error) {
	read := func(ctx context.Context) (encodedPage, error) { return a.encodePage(ctx, g, name) }
	for {
		var shared bool
		page, shared, err = a.reads.do(ctx, pageRead{name, g.Incarnation, g.Version}, read)
		if err != nil || page.serves(g, least) || !shared {
			outcome = pageMiss
			if shared {
				outcome = pageShared
			}
			return page, outcome, err
		}
	}
}

// encodePage reads the page and keeps it. It carries the version that its rows are of.
func (a *API) encodePage(ctx context.Context, g *guild.Guild, name pageName) (encodedPage, error) {
	page, err := a.deps.Board.Page(ctx, g, name.number)
	if err != nil {
		return encodedPage{}, err
	}
	body, err := encode(pageBody(g, page, name.manager))
	if err != nil {
		return encodedPage{}, err
	}
	encoded := encodedPage{
		etag: pageETag(g, page.Version, name), body: body,
		incarnation: g.Incarnation, settings: g.Version, version: page.Version,
	}
	if len(page.Rows) > 0 || name.number == 1 {
		a.pages.add(name, encoded)
	}
	return encoded, nil
}

func pageETag(g *guild.Guild, v leaderboard.Version, name pageName) string {
	tag := make([]byte, 0, 80)
	tag = strconv.AppendInt(append(tag, '"'), pageFormat, 10)
	for _, n := range [...]int64{int64(g.Incarnation), v.Epoch, v.Rev, g.Version} {
		tag = strconv.AppendInt(append(tag, '-'), n, 16)
	}
	if name.manager {
		tag = append(tag, "-1"...)
	} else {
		tag = append(tag, "-0"...)
	}
	tag = strconv.AppendInt(append(tag, '-'), name.number, 16)
	return string(append(tag, '"'))
}

// setPageHeaders makes caches ask each time, which a 304 answers cheaply. Whether a page says isManager, and whether it may
// be read at all, depends on the key, so no shared cache keeps what was asked for with one or is private.
func setPageHeaders(c *gin.Context, etag string) {
	h := c.Writer.Header()
	h["Etag"], h["Vary"], h["Cache-Control"] = []string{etag}, varyKey, publicNoCache
	if c.GetHeader(keyHeader) != "" {
		h["Cache-Control"] = privateNoCache
	}
}

// matches is the weak comparison of RFC 9110, section 13.1.2.
func matches(ifNoneMatch []string, etag string) bool {
	for _, line := range ifNoneMatch {
		for candidate := range strings.SplitSeq(line, ",") {
			candidate = strings.TrimPrefix(strings.TrimSpace(candidate), "W/")
			if candidate == etag || candidate == "*" {
				return true
			}
		}
	}
	return false
}
