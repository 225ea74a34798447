package web

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/displayname"
	"levelboard/internal/domain/guild"
	"levelboard/internal/http/card"
)

// unfurl is what a public page tells search engines and sites that preview links. A page without one asks not to be indexed.
type unfurl struct {
	Description string
	Canonical   string // absolute address
	Image       string // absolute address; empty for none
	Width       int    // of the image, in pixels
	Height      int
}

// describe sets the unfurl of a public page.
func (s *Site) describe(c *gin.Context, path, description string) {
	pageOf(c).unfurl = &unfurl{Description: description, Canonical: s.deps.PublicURL + path}
}

// describeIn sets the unfurl of a page of a guild's board, if the board is public.
func (s *Site) describeIn(c *gin.Context, g *guild.Guild, u unfurl) {
	if g.Visibility != guild.Public {
		return
	}
	u.Canonical = s.deps.PublicURL + u.Canonical
	if u.Image != "" {
		u.Image = s.deps.PublicURL + u.Image
	}
	pageOf(c).unfurl = &u
}

// boardUnfurl describes a page of a board by its first three rows.
func boardUnfurl(g *guild.Guild, v *boardView, title string) unfurl {
	var names []string
	for _, row := range v.Rows[:min(len(v.Rows), 3)] {
		shown := v.row(g, row)
		worth := "level " + count(shown.Level)
		if v.period != nil {
			worth = "+" + count(row.Gained) + " XP"
		}
		names = append(names, fmt.Sprintf("%d. %s (%s)", shown.Rank, shown.Name, worth))
	}
	description := title + ": no one is ranked yet."
	if len(names) > 0 {
		description = title + ", " + counted(v.Total, "member") + ". " + strings.Join(names, ", ") + "."
	}
	picture := boardPath(g) + "/preview.png"
	if v.period != nil {
		picture += "?period=" + v.period.ID
	}
	return unfurl{Description: description, Canonical: v.path(g), Image: picture, Width: card.PreviewWidth, Height: card.PreviewHeight}
}

// path returns an address of the page that stays right when the next period begins.
func (v *boardView) path(g *guild.Guild) string {
	name := ""
	if v.period != nil {
		name = v.period.ID
	}
	switch {
	case v.Number > 1:
		return pagePath(g, name, v.Number)
	case name != "":
		return boardPath(g) + "?period=" + name
	}
	return boardPath(g)
}

// boardTitle names a page of a board.
func boardTitle(g *guild.Guild, v *boardView) string {
	title := displayname.Clean(g.Name) + " leaderboard"
	if v.period != nil {
		title += ", " + periodName(*v.period)
	}
	if v.Number > 1 {
		title += ", page " + count(v.Number)
	}
	return title
}

// memberUnfurl describes a member's page.
func memberUnfurl(g *guild.Guild, p *memberPage) unfurl {
	return unfurl{
		Description: fmt.Sprintf("%s is rank %s of %s in %s: level %s with %s XP.", p.Row.Name, count(p.Row.Rank), count(p.Standing.Of),
			displayname.Clean(g.Name), count(p.Row.Level), count(p.Row.XP)),
		Canonical: boardPath(g) + "/members/" + string(p.Row.UserID),
		Image:     fmt.Sprintf("/v2/levels/%s/users/%s/card.png", g.ID, p.Row.UserID), Width: card.PNGWidth, Height: card.PNGHeight,
	}
}

// serveRobots tells crawlers which addresses to leave out: the routes name them. Cards are under /v2, so that is allowed.
func (s *Site) serveRobots(c *gin.Context) {
	c.Header("Cache-Control", "public, max-age=86400")
	c.Data(http.StatusOK, "text/plain; charset=utf-8", []byte("User-agent: *\nDisallow: "+strings.Join(s.robots, "\nDisallow: ")+"\n"))
}
