package web

import (
	"math"
	"net/http"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/displayname"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/level"
	"levelboard/internal/http/card"
)

// levelsListed is how many levels the page of levels lists.
const levelsListed = 100

// levelsPage is the content of the page with all levels.
type levelsPage struct {
	Guild  *guild.Guild
	Base   string
	Levels []levelLine
	Own    *leaderboardRow // of the signed-in user; nil if not on the board
}

// levelLine is a level with its rewards.
type levelLine struct {
	Level   level.Level
	XP      level.XP // at which it begins
	Roles   []guild.Role
	Until   bool  // members keep the roles only until the next reward
	Reached bool  // by the signed-in user
	Missing int64 // XP to the level that they lack
}

// levels lists the levels to levelsListed, with the rewards at each and the reader's progress.
func (s *Site) levels(c *gin.Context, g *guild.Guild) error {
	content := levelsPage{Guild: g, Base: boardPath(g)}
	var xp level.XP
	if session := sessionOf(c); session != nil {
		v, err := s.readAllTime(c.Request.Context(), g, boardAsk{number: 1, user: session.User.ID})
		if err != nil {
			return err
		}
		if v.own != nil {
			row := v.row(g, *v.own)
			content.Own, xp = &row, row.XP
		}
	}
	for n := level.Level(1); n <= levelsListed && g.Curve.XPFor(n) <= level.MaxXP; n++ {
		line := levelLine{Level: n, XP: g.Curve.XPFor(n)}
		line.Reached, line.Missing = content.Own != nil && xp >= line.XP, max(int64(line.XP-xp), 0)
		for _, r := range g.RoleRewards {
			if r.Level == n {
				line.Roles, line.Until = append(line.Roles, r.Roles...), !r.Stack
			}
		}
		content.Levels = append(content.Levels, line)
	}
	title := "Levels of " + displayname.Clean(g.Name)
	s.describeIn(c, g, unfurl{
		Description: title + " and the XP that each takes.", Canonical: content.Base + "/levels",
		Image: content.Base + "/preview.png", Width: card.PreviewWidth, Height: card.PreviewHeight,
	})
	return s.show(c, http.StatusOK, "levels", title, content)
}

// messagesTo estimates how many messages a gain of XP takes: by the mean of a message
// and the global multiplier, rounded up. It returns 0 if messages earn nothing.
func messagesTo(g *guild.Settings, missing int64) int64 {
	mean := float64(g.XPPerMessageMin+g.XPPerMessageMax) / 2 * g.XPGlobalMultiplier
	if mean <= 0 {
		return 0
	}
	return int64(math.Ceil(float64(missing) / mean))
}
