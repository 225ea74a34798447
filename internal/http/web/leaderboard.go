package web

import (
	"cmp"
	"context"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/displayname"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/properties"
	"levelboard/internal/http/edge"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
)

// leaderboardPage is the content of a guild's board.
type leaderboardPage struct {
	Guild   *guild.Guild
	Base    string       // path of the board
	Query   template.URL // what the addresses of its pages have before the number: "" or "period=week&"
	Number  int64
	Before  int64 // number of the previous page, or 0
	After   int64 // number of the next page, or 0
	Last    int64 // number of the last page
	Total   int64 // members on the board
	Gained  int64 // by all members, in the period
	Tabs    []periodTab
	Period  string    // the period's name for people, or empty for all time
	Name    string    // id of the period in the address, or empty
	Ends    time.Time // when a running period ends
	Next    string    // address of the next period of this kind, or empty
	Over    bool      // the period has closed
	Past    string    // "page" or "rank": the number in the address that is past the end; else empty
	Wrong   string    // why a jump found nothing, or empty
	Search  string    // the text of the jump
	Rows    []template.HTML
	Own     template.HTML // row of the signed-in user; empty if not on the board
	Hidden  *hiddenRow    // of the signed-in user; nil unless hidden from the board
	Rules   rules
	Manager bool
	Removed bool // a manager has just removed a member
	Now     time.Time
}

// Podium reports whether the page begins with the first three members.
func (p leaderboardPage) Podium() bool { return p.Number == 1 && len(p.Rows) > 0 }

func (s *Site) leaderboard(c *gin.Context, g *guild.Guild) error {
	for _, name := range []string{strings.ToLower(c.Query("period")), strings.ToUpper(c.Query("period"))} {
		if name != "" && periods.CheckName(c.Query("period")) != nil && periods.CheckName(name) == nil {
			c.Redirect(http.StatusSeeOther, boardPath(g)+"?period="+name)
			return nil
		}
	}
	if c.Query("rank") != "" {
		return s.toRank(c, g)
	}
	if c.Query("member") != "" {
		return s.toMember(c, g)
	}
	number, err := pageNumber(c.Query("page"))
	if err != nil {
		return err
	}
	return s.showBoard(c, g, number, nil)
}

// showBoard shows a page of a board. wrong, if set, says why a jump found nothing. It is shown above the rows and determines the status.
func (s *Site) showBoard(c *gin.Context, g *guild.Guild, number int64, wrong *fault.Error) error {
	ask := boardAsk{period: c.Query("period"), number: number}
	session := sessionOf(c)
	if session != nil {
		ask.user = session.User.ID
	}
	v, err := s.readBoard(c.Request.Context(), g, ask)
	if err != nil {
		return err
	}
	content := s.boardContent(g, &v)
	content.Manager, content.Removed = session.Manages(g), c.Query("done") == "removed"
	if session != nil && v.own == nil {
		if content.Hidden, err = s.ownHidden(c.Request.Context(), g, session.User.ID); err != nil {
			return err
		}
	}
	switch {
	case v.Number < number:
		content.Past = "page"
	case c.Query("past") == pastRank && v.Number == content.Last:
		content.Past = pastRank
	}
	if err := s.renderBoard(g, &v, &content); err != nil {
		return err
	}
	if wrong != nil {
		content.Wrong, content.Search = wrong.Message, displayname.Cut(cmp.Or(c.Query("rank"), c.Query("q")), maxShown)
		return s.show(c, wrong.Code.Status(), "leaderboard", g.Name, content)
	}
	title := boardTitle(g, &v)
	s.describeIn(c, g, boardUnfurl(g, &v, title))
	return s.showTagged(c, g, "leaderboard", title, content)
}

// boardContent fills in all but the rows.
func (s *Site) boardContent(g *guild.Guild, v *boardView) leaderboardPage {
	content := leaderboardPage{
		Guild: g, Base: boardPath(g), Number: v.Number, Before: v.Number - 1, Last: leaderboard.LastPage(v.Total), Total: v.Total, Gained: v.Gained,
		Rules: rulesOf(g), Now: s.deps.Now(), Tabs: tabsOf(g, s.deps.Now(), v.period), Over: v.over,
	}
	if v.Number < content.Last {
		content.After = v.Number + 1
	}
	if v.period != nil {
		content.Period, content.Name = periodName(*v.period), v.period.ID // the kind alone would mean another period tomorrow
		content.Query = template.URL("period=" + v.period.ID + "&")       // an id needs no escaping
		if !v.over {
			content.Ends, content.Next = v.ends, content.Base+"?period="+string(v.period.Kind)
		}
	}
	return content
}

func (s *Site) renderBoard(g *guild.Guild, v *boardView, content *leaderboardPage) error {
	rows, err := s.renderRows(g, v)
	if err != nil {
		return err
	}
	for _, row := range rows {
		content.Rows = append(content.Rows, template.HTML(row.html)) // html/template made it
	}
	if v.own == nil {
		return nil
	}
	own := v.row(g, *v.own)
	own.Anchor = "own"
	html, err := s.renderRow(own)
	content.Own = template.HTML(html)
	return err
}

// boardOf calls a handler with the guild in the address, if the visitor may read its board.
func (s *Site) boardOf(h func(c *gin.Context, g *guild.Guild) error) gin.HandlerFunc {
	return s.handle(func(c *gin.Context) error {
		if _, err := readQuery(c); err != nil {
			return err
		}
		g, err := s.guildOf(c.Request.Context(), c.Param("entry"))
		switch {
		case fault.Is(err, fault.NotFound):
			return s.noBoard(c, noBoardPage{
				Heading: "Community not found", Entry: displayname.Cut(c.Param("entry"), maxShown),
				Message: "No community has this name or ID. Check the address, or ask the operator to set it up.",
			})
		case err != nil:
			return err
		case !g.Enabled: // it may be private, so do not show its name
			return s.noBoard(c, noBoardPage{
				Heading: "Leveling is off", Message: "Leveling is disabled in this community. Its owner can enable it.",
				Manager: sessionOf(c).Manages(g), Guild: g.ID,
			})
		}
		if err := mayRead(c, g); err != nil {
			return err
		}
		pageOf(c).board = boardPath(g)
		return h(c, g)
	})
}

func mayRead(c *gin.Context, g *guild.Guild) error {
	if sessionOf(c).MayRead(g) {
		return nil
	}
	if _, err := signedIn(c, "This leaderboard is private. Members of the community can sign in to see it."); err != nil {
		return err
	}
	return fault.New(fault.Forbidden, "This leaderboard is private, and you are not a member of its community. To use another account, sign out first.")
}

// guildOf finds a guild by an id or a vanity.
func (s *Site) guildOf(ctx context.Context, entry string) (*guild.Guild, error) {
	gid, vanity, err := guild.ParseEntry(entry)
	if err != nil {
		return nil, fault.New(fault.NotFound, "No community has this name or ID.")
	}
	return edge.FindGuild(ctx, s.deps.Guilds, gid, vanity)
}

// boardPath returns the address of a guild's board.
func boardPath(g *guild.Guild) string {
	if g.Vanity != "" {
		return "/leaderboard/" + string(g.Vanity)
	}
	return "/leaderboard/" + string(g.ID)
}

// readQuery returns an Invalid fault for a query that cannot be decoded or has a parameter twice.
func readQuery(c *gin.Context) (url.Values, error) {
	values, twice, err := edge.Query(c)
	switch {
	case err != nil:
		return nil, fault.Wrap(err, fault.Invalid, "The address is malformed after the question mark. Check it.")
	case twice != "":
		return nil, fault.New(fault.Invalid, "The address gives %q more than once. Give it once.", displayname.Cut(twice, maxShown))
	}
	return values, nil
}

// pageNumber reads the number of a page. "" is page 1.
func pageNumber(text string) (int64, error) {
	if text == "" {
		return 1, nil
	}
	n, err := strconv.ParseInt(properties.PlainNumber(text), 10, 64)
	if err != nil || n < 1 {
		return 0, fault.New(fault.Invalid, "The page must be a whole number from 1.")
	}
	return min(n, leaderboard.MaxPage), nil
}

// noBoardPage is the content of the page for an address without a board.
type noBoardPage struct {
	Heading string
	Message string
	Entry   string // the name or ID in the address
	Manager bool   // the visitor may enable it
	Guild   id.Guild
}

func (s *Site) noBoard(c *gin.Context, content noBoardPage) error {
	return s.show(c, http.StatusNotFound, "no-board", content.Heading, content)
}
