package web

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
)

// standing is a member's ranks on the board of all time and on those of the running periods.
type standing struct {
	Of     int64
	Top    string // the rank is within this part of the members, in percent
	Ahead  int64  // XP to the rank above; 0 for the first rank
	Level  bool   // the rank above has the same XP
	Boards []standingOn
}

// standingOn is a member's rank on one board. Rank is 0 for a member who is not on it.
type standingOn struct {
	Name   string
	Path   string // of the member's row
	Rank   int64
	XP     int64 // total, or gained in the period
	Gained bool
}

func standingOf(g *guild.Guild, p leaderboard.Position) standing {
	top := strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.2f", float64(p.TopPercent())/100), "0"), ".")
	found := standing{Of: p.Of, Top: top}
	if p.Ahead != nil {
		found.Ahead, found.Level = int64(p.Ahead.XP-p.XP), p.Ahead.XP == p.XP
	}
	me := "?member=" + string(p.UserID)
	found.Boards = append(found.Boards, standingOn{Name: "All time", Path: boardPath(g) + me, Rank: p.Rank, XP: int64(p.XP)})
	for _, in := range p.Periods {
		found.Boards = append(found.Boards, standingOn{
			Name: runningName(in.Period), Path: boardPath(g) + me + "&period=" + string(in.Kind), Rank: in.Rank, XP: in.Gained, Gained: true,
		})
	}
	return found
}

func (s *Site) positionOf(c *gin.Context, g *guild.Guild, user id.User) (leaderboard.Position, error) {
	found, err := s.deps.Periods.Position(c.Request.Context(), g, user)
	if err == nil && found.Hidden && !seesHidden(sessionOf(c), g, user) {
		return leaderboard.Position{}, unranked(leaderboard.NoMember())
	}
	return found, unranked(err)
}

// openedRow is what an opened row shows of its member.
type openedRow struct {
	Standing standing
	Messages int64
	Guild    id.Guild
	User     id.User
	Hide     *hideForm // for managers
}

// standing answers with a member's ranks and card, for a row that a visitor opened.
func (s *Site) standing(c *gin.Context, g *guild.Guild) error {
	user, err := userInPath(c)
	if err != nil {
		return err
	}
	found, err := s.positionOf(c, g, user)
	if err != nil {
		return err
	}
	row := openedRow{Standing: standingOf(g, found), Messages: found.MessageCount, Guild: g.ID, User: user}
	if sessionOf(c).Manages(g) && !found.Hidden {
		row.Hide = new(hideFormOf(boardPath(g), user, "hide-"+string(user), nil))
	}
	part, err := s.renderPart("opened", row)
	if err != nil {
		return err
	}
	s.send(c, http.StatusOK, htmlType, part)
	return nil
}
