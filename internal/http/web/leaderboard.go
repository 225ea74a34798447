package web

import (
	"context"
	"html/template"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
)

// leaderboardPage is the content of a guild's board.
type leaderboardPage struct {
	Guild   *guild.Guild
	Base    string // path of the board
	Number  int64
	Before  int64  // number of the page before, or 0
	After   int64  // number of the next page, or 0
	Last    int64  // number of the last page
	Total   int64  // members with an entry
	Past    string // what was asked for that is past the end: "page" or "rank", or empty
	Wrong   string // why a jump leads nowhere, or empty
	Rank    string // that was asked for and is none, as it was written
	Rows    []template.HTML
	Me      *leaderboardRow // who is signed in; nil without an entry
	Rules   rules
	Manager bool
	Removed bool // a manager has just removed somebody
}

func (s *Site) leaderboard(c *gin.Context, g *guild.Guild) error {
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

// showBoard shows a page of a board; with wrong, the reason why a jump leads nowhere, in its status.
func (s *Site) showBoard(c *gin.Context, g *guild.Guild, number int64, wrong *fault.Error) error {
	session := sessionOf(c)
	look := leaderboard.Look{Pages: []int64{number}}
	if session != nil {
		look.Users = []id.User{session.User.ID}
	}
	v, err := s.deps.Board.View(c.Request.Context(), g, look)
	if err != nil {
		return err
	}
	page := v.Pages[0]
	rows, err := s.renderRows(g, v.Version, page)
	if err != nil {
		return err
	}
	content := leaderboardPage{
		Guild: g, Base: boardPath(g), Number: page.Number, Before: page.Number - 1, Last: leaderboard.LastPage(v.Total), Total: v.Total,
		Rules: rulesOf(g), Manager: session.Manages(g), Removed: c.Query("done") == "removed",
	}
	if page.Number < content.Last {
		content.After = page.Number + 1
	}
	switch {
	case page.Number < number:
		content.Past = "page"
	case c.Query("past") == pastRank && page.Number == content.Last:
		content.Past = pastRank
	}
	for _, row := range rows {
		content.Rows = append(content.Rows, template.HTML(row.html)) // made by html/template
	}
	if len(v.Members) == 1 {
		me := newRow(g, v.Members[0])
		content.Me = &me
	}
	if wrong != nil {
		content.Wrong, content.Rank = wrong.Message, cut(c.Query("rank"), maxShown)
		return s.show(c, wrong.Code.Status(), "leaderboard", g.Name, content)
	}
	return s.showTagged(c, g, "leaderboard", g.Name, content)
}

// boardKey is where the path of the board is that a request is about, for a visitor who may read it.
const boardKey = "levelboard.board"

// boardOf runs a handler with the guild that the address names, if the visitor may read its board.
func (s *Site) boardOf(h func(c *gin.Context, g *guild.Guild) error) gin.HandlerFunc {
	return s.handle(func(c *gin.Context) error {
		g, err := s.guildOf(c.Request.Context(), c.Param("entry"))
		switch {
		case fault.Is(err, fault.NotFound):
			return s.noBoard(c, noBoardPage{
				Heading: "Community not found", Entry: cut(c.Param("entry"), maxShown),
				Message: "No community has this name or ID. Check the address, or ask the operator to set it up.",
			})
		case err != nil:
			return err
		case !g.Enabled: // it may be private, so it has no name
			return s.noBoard(c, noBoardPage{
				Heading: "Leveling is off", Message: "Leveling is disabled in this community. Its owner can enable it.",
				Manager: sessionOf(c).Manages(g), Guild: g.ID,
			})
		}
		if err := mayRead(c, g); err != nil {
			return err
		}
		c.Set(boardKey, boardPath(g))
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

// guildOf finds the guild whose board is named by an id or a vanity.
func (s *Site) guildOf(ctx context.Context, entry string) (*guild.Guild, error) {
	gid, vanity, err := guild.ParseEntry(entry)
	switch {
	case err != nil:
		return nil, fault.New(fault.NotFound, "No community has this name or ID.")
	case gid != "":
		return s.deps.Guilds.ByID(ctx, gid)
	default:
		return s.deps.Guilds.ByVanity(ctx, vanity)
	}
}

// boardPath is the address of a guild's board.
func boardPath(g *guild.Guild) string {
	if g.Vanity != "" {
		return "/leaderboard/" + g.Vanity
	}
	return "/leaderboard/" + string(g.ID)
}

// pageNumber reads the number of a page; none is the first.
func pageNumber(text string) (int64, error) {
	if text == "" {
		return 1, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, fault.New(fault.Invalid, "The page must be a whole number from 1.")
	}
	return min(n, leaderboard.MaxPage), nil
}

// noBoardPage is the content of the page about a board that is not there.
type noBoardPage struct {
	Heading string
	Message string
	Entry   string // what was asked for
	Manager bool   // who asks could switch it on
	Guild   id.Guild
}

func (s *Site) noBoard(c *gin.Context, content noBoardPage) error {
	return s.show(c, http.StatusNotFound, "no-board", content.Heading, content)
}
