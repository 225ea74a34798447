package web

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/properties"
	"levelboard/internal/http/edge"
	"levelboard/internal/usecase/leaderboard"
)

// pastRank marks the address of the last page if the requested rank was past the end.
const pastRank = "rank"

// toRank redirects to the row of the member at a rank, or to the last page if there
// are fewer members. For a text that is no rank it shows the first page with an error.
func (s *Site) toRank(c *gin.Context, g *guild.Guild) error {
	rank, err := strconv.ParseInt(properties.PlainNumber(c.Query("rank")), 10, 64)
	if err != nil || rank < 1 {
		return s.showBoard(c, g, 1, fault.New(fault.Invalid, "The rank must be a whole number from 1."))
	}
	place, _, err := s.atRank(c, g, rank)
	if err == nil {
		c.Redirect(http.StatusSeeOther, place)
	}
	return err
}

// toMember redirects to the row of a member, by id or "me". If the member is not ranked, the first page says so.
func (s *Site) toMember(c *gin.Context, g *guild.Guild) error {
	wanted := c.Query("member")
	missing := notRanked
	if wanted == "me" {
		session, err := signedIn(c, "Sign in to find yourself on this leaderboard.")
		if err != nil {
			return err
		}
		wanted, missing = string(session.User.ID), "You're not ranked yet. You appear after your first message that earns XP."
	}
	user, err := id.Parse[id.User](wanted)
	if err != nil {
		return s.showBoard(c, g, 1, fault.New(fault.Invalid, "The member ID %s.", err))
	}
	return s.toRow(c, g, user, missing)
}

// toRow redirects to a member's row on the visitor's board. If there is none, the first page shows missing.
func (s *Site) toRow(c *gin.Context, g *guild.Guild, user id.User, missing string) error {
	v, err := s.readBoard(c.Request.Context(), g, boardAsk{period: c.Query("period"), number: 1, user: user})
	if err != nil {
		return err
	}
	if v.own == nil && sessionOf(c) != nil && sessionOf(c).User.ID == user {
		if own, err := s.ownHidden(c.Request.Context(), g, user); err != nil || own != nil {
			c.Redirect(http.StatusSeeOther, pagePath(g, c.Query("period"), 1))
			return err
		}
	}
	if v.own == nil {
		return s.showBoard(c, g, 1, fault.New(fault.NotFound, "%s", missing))
	}
	c.Redirect(http.StatusSeeOther, placeOf(g, c.Query("period"), v.own.Ranked))
	return nil
}

const notRanked = "This member isn't ranked yet. Members are ranked after their first message that earns XP."

// unranked rewords the fault for a member who is not on the board.
func unranked(err error) error {
	if fault.Is(err, fault.NotFound) {
		return fault.Wrap(err, fault.NotFound, notRanked)
	}
	return err
}

func (s *Site) memberOf(ctx context.Context, g *guild.Guild, user id.User) (leaderboard.Ranked, error) {
	v, err := s.deps.Board.View(ctx, g, leaderboard.Look{Users: []id.User{user}})
	if err != nil {
		return leaderboard.Ranked{}, err
	}
	if len(v.Members) == 0 {
		return leaderboard.Ranked{}, unranked(fault.New(fault.NotFound, ""))
	}
	return v.Members[0], nil
}

// pagePath returns the address of a board's page, of a period or of all time.
func pagePath(g *guild.Guild, period string, number int64) string {
	if period != "" {
		period = "period=" + period + "&"
	}
	return fmt.Sprintf("%s?%spage=%d", boardPath(g), period, number)
}

// placeOf returns the address of a member's row.
func placeOf(g *guild.Guild, period string, m leaderboard.Ranked) string {
	return fmt.Sprintf("%s#m%s", pagePath(g, period, leaderboard.PageOf(m.Rank)), m.UserID)
}

// searchPage is the content of the page of search results.
type searchPage struct {
	Guild *guild.Guild
	Base  string
	Form  *form
	Name  string           // id of the period of the ranks, or empty for all time
	Title string           // the name of the period for people
	Rows  []leaderboardRow // rank 0 means not on the board of the period
	More  bool
	// Hidden is the address where a manager can search the hidden members.
	Hidden string
}

// aRank matches what the search box treats as a rank; an id is longer.
var aRank = regexp.MustCompile(`^([1-9][0-9]{0,11})$`)

// search finds members by name. An id, or a rank that a member has, redirects to that member's row.
func (s *Site) search(c *gin.Context, g *guild.Guild) error {
	sent, err := readForm(c)
	if err != nil {
		return err
	}
	content := searchPage{Guild: g, Base: boardPath(g), Form: sent, Hidden: hiddenSearch(c, g, sent.Value("q"))}
	query := strings.TrimPrefix(sent.Value("q"), "@")
	if found := aRank.FindStringSubmatch(properties.PlainNumber(strings.TrimPrefix(query, "#"))); found != nil {
		rank, _ := strconv.ParseInt(found[1], 10, 64) // the expression matched a number
		place, found, err := s.atRank(c, g, rank)
		if found {
			c.Redirect(http.StatusSeeOther, place)
		}
		if found || err != nil {
			return err
		}
	}
	found, err := s.deps.Finder.Find(c.Request.Context(), edge.Holder(c), g, query)
	if fault.Is(err, fault.Invalid) {
		sent.refuse("q", fault.From(err).Message)
		return s.show(c, sent.status(), "search", "Find a member", content)
	}
	if err != nil {
		return err
	}
	if len(found.Members) == 1 && string(found.Members[0].UserID) == query {
		return s.toRow(c, g, found.Members[0].UserID, notRanked)
	}
	if err := s.rank(c.Request.Context(), g, c.Query("period"), found.Members, &content); err != nil {
		return err
	}
	content.More = found.More
	return s.show(c, http.StatusOK, "search", "Find a member of "+g.Name, content)
}

// rank adds rows with their ranks on a board: of the period with that id, or of all time for "".
func (s *Site) rank(ctx context.Context, g *guild.Guild, name string, found []leaderboard.Ranked, content *searchPage) error {
	p, closed, err := s.findPeriod(ctx, g, name)
	if err != nil {
		return err
	}
	view := boardView{settings: &g.Settings}
	if name != "" {
		content.Name, content.Title, view.period = p.ID, periodName(p), &p
	}
	if closed != nil {
		view.settings = &closed.Settings
	}
	for _, m := range found {
		row := leaderboard.Standing{Ranked: m}
		if name != "" {
			around, _, err := s.deps.Periods.Around(ctx, g, m.UserID, content.Name, 1)
			switch {
			case err == nil && len(around.Rows) == 1:
				row = around.Rows[0]
			case err == nil || fault.Is(err, fault.NotFound):
				row.Rank = 0
			default:
				return err
			}
		}
		content.Rows = append(content.Rows, view.row(g, row))
	}
	return nil
}

// atRank returns the address of the member at a rank of the board that the
// visitor came from. If there is none, found is false and place is the last page.
func (s *Site) atRank(c *gin.Context, g *guild.Guild, rank int64) (place string, found bool, err error) {
	name := c.Query("period")
	v, err := s.readBoard(c.Request.Context(), g, boardAsk{period: name, number: leaderboard.PageOf(min(rank, leaderboard.MaxPage))})
	at := rank - leaderboard.PageSize*(v.Number-1) - 1
	switch {
	case err != nil || v.Total == 0:
		return boardPath(g), false, err
	case at >= int64(len(v.Rows)):
		return pagePath(g, name, v.Number) + "&past=" + pastRank, false, nil
	}
	return placeOf(g, name, v.Rows[at].Ranked), true, nil
}
