package web

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
)

// pastRank is what a page is told in its address that is shown in the place of a rank past the last.
const pastRank = "rank"

// toRank leads to the member at a rank, on their page; past the last rank that is the last one, and the page says so. What is no rank is
// answered on the first page.
func (s *Site) toRank(c *gin.Context, g *guild.Guild) error {
	rank, err := strconv.ParseInt(c.Query("rank"), 10, 64)
	if err != nil || rank < 1 {
		return s.showBoard(c, g, 1, fault.New(fault.Invalid, "The rank must be a whole number from 1."))
	}
	number := leaderboard.PageOf(min(rank, leaderboard.MaxPage))
	v, err := s.deps.Board.View(c.Request.Context(), g, leaderboard.Look{Pages: []int64{number}})
	if err != nil {
		return err
	}
	rows := v.Pages[0].Rows
	if len(rows) == 0 {
		c.Redirect(http.StatusSeeOther, boardPath(g))
		return nil
	}
	if at := rank - rows[0].Rank; at < int64(len(rows)) {
		c.Redirect(http.StatusSeeOther, placeOf(g, rows[at]))
	} else {
		c.Redirect(http.StatusSeeOther, fmt.Sprintf("%s?page=%d&past=%s", boardPath(g), v.Pages[0].Number, pastRank))
	}
	return nil
}

// toMember leads to the row of a member, by id, or of "me". The first page says that a member is not ranked.
func (s *Site) toMember(c *gin.Context, g *guild.Guild) error {
	wanted := c.Query("member")
	missing := "This member isn't ranked yet. Members are ranked after their first message that earns XP."
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
	m, err := s.memberOf(c.Request.Context(), g, user)
	if fault.Is(err, fault.NotFound) {
		return s.showBoard(c, g, 1, fault.New(fault.NotFound, "%s", missing))
	}
	if err != nil {
		return err
	}
	c.Redirect(http.StatusSeeOther, placeOf(g, m))
	return nil
}

func (s *Site) memberOf(ctx context.Context, g *guild.Guild, user id.User) (leaderboard.Ranked, error) {
	v, err := s.deps.Board.View(ctx, g, leaderboard.Look{Users: []id.User{user}})
	if err != nil {
		return leaderboard.Ranked{}, err
	}
	if len(v.Members) == 0 {
		return leaderboard.Ranked{}, fault.New(fault.NotFound, "This member isn't ranked yet. Members are ranked after their first message that earns XP.")
	}
	return v.Members[0], nil
}

// placeOf is the address of a member's row.
func placeOf(g *guild.Guild, m leaderboard.Ranked) string {
	return fmt.Sprintf("%s?page=%d#m%s", boardPath(g), leaderboard.PageOf(m.Rank), m.UserID)
}

// searchPage is the content of the page with what was found.
type searchPage struct {
	Guild *guild.Guild
	Base  string
	Query string
	Wrong string // what is wrong with the query, or empty
	Rows  []leaderboardRow
	More  bool
}

// search finds members by name. An id leads to its member's row at once.
func (s *Site) search(c *gin.Context, g *guild.Guild) error {
	content := searchPage{Guild: g, Base: boardPath(g), Query: c.Query("q")}
	found, err := s.deps.Finder.Find(c.Request.Context(), g, content.Query)
	if fault.Is(err, fault.Invalid) {
		content.Wrong = fault.From(err).Message
		return s.show(c, http.StatusUnprocessableEntity, "search", "Find a member", content)
	}
	if err != nil {
		return err
	}
	if len(found.Members) == 1 && string(found.Members[0].UserID) == strings.TrimSpace(content.Query) {
		c.Redirect(http.StatusSeeOther, placeOf(g, found.Members[0]))
		return nil
	}
	for _, m := range found.Members {
		content.Rows = append(content.Rows, newRow(g, m))
	}
	content.More = found.More
	return s.show(c, http.StatusOK, "search", "Find a member", content)
}
