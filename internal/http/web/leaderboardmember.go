package web

import (
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// memberPage is the content of the page of one member of a board.
type memberPage struct {
	Row      leaderboardRow
	Guild    *guild.Guild
	Base     string // path of the board
	Page     int64  // the page of the board that they are on
	Standing standing
	Plot     *gainsPlot // nil if the guild counts no gains, or if they cannot be read
	Roles    []guild.Role
	Earned   shown[guild.RoleReward] // reached rewards that have roles, the last first
	Upcoming shown[rewardAhead]
	Manager  bool
	MaxXP    level.XP
	Now      time.Time
	Changed  *xpChange // a manager's change of just now
	Shown    bool      // a manager has just shown the member again
	Form     *form
	Hide     hideForm
}

// rewardAhead is a reward that a member has not reached.
type rewardAhead struct {
	guild.RoleReward
	Missing int64 // XP to its level; 0 if nobody can reach it
}

func (s *Site) member(c *gin.Context, g *guild.Guild) error {
	m, err := s.memberInPath(c, g)
	if user, bad := userInPath(c); bad == nil && fault.Is(err, fault.NotFound) && seesHidden(sessionOf(c), g, user) {
		return s.hiddenMember(c, g, err, nil)
	}
	if err != nil {
		return err
	}
	return s.showMember(c, g, memberPage{Row: newRow(g, m), Changed: changeIn(c), Shown: c.Query("done") == "shown"})
}

func userInPath(c *gin.Context) (id.User, error) {
	user, err := id.Parse[id.User](c.Param("userId"))
	if err != nil {
		return "", fault.New(fault.NotFound, "There is no such member: the member ID %s.", err)
	}
	return user, nil
}

func (s *Site) memberInPath(c *gin.Context, g *guild.Guild) (leaderboard.Ranked, error) {
	user, err := userInPath(c)
	if err != nil {
		return leaderboard.Ranked{}, err
	}
	return s.memberOf(c.Request.Context(), g, user)
}

func (s *Site) showMember(c *gin.Context, g *guild.Guild, content memberPage) error {
	position, err := s.positionOf(c, g, content.Row.UserID)
	if err != nil {
		return err
	}
	content.Row = newRow(g, position.Ranked)
	row := content.Row
	content.Guild, content.Base, content.Page, content.Now = g, boardPath(g), leaderboard.PageOf(row.Rank), s.deps.Now()
	content.MaxXP, content.Manager = level.MaxXP, sessionOf(c).Manages(g)
	content.Standing, content.Plot = standingOf(g, position), s.plotOf(c, g, row.UserID)
	add, _ := g.RoleChanges(level.Level(row.Level))
	content.Roles = rolesOf(g, add)
	content.rewards(g)
	content.Hide = hideFormOf(content.Base, row.UserID, "hide-reason", content.Form)
	s.describeIn(c, g, memberUnfurl(g, &content))
	return s.show(c, content.Form.status(), "member", row.Name+" in "+g.Name, content)
}

// rewards splits the guild's rewards into earned and upcoming ones.
func (p *memberPage) rewards(g *guild.Guild) {
	var earned []guild.RoleReward
	var ahead []rewardAhead
	for _, r := range g.RoleRewards {
		switch {
		case len(r.Roles) == 0:
		case int(r.Level) <= p.Row.Level:
			earned = append(earned, r)
		default:
			xp := g.Curve.XPFor(r.Level)
			if xp > level.MaxXP {
				xp = p.Row.XP
			}
			ahead = append(ahead, rewardAhead{r, int64(xp - p.Row.XP)})
		}
	}
	slices.Reverse(earned)
	p.Earned, p.Upcoming = firstOf(earned, rewardsShown), firstOf(ahead, rewardsAhead)
}

// rolesOf returns the roles of rewards with these ids, in that order.
func rolesOf(g *guild.Guild, ids []id.Role) []guild.Role {
	known := map[id.Role]guild.Role{}
	for _, reward := range g.RoleRewards {
		for _, role := range reward.Roles {
			known[role.ID] = role
		}
	}
	roles := make([]guild.Role, len(ids))
	for i, role := range ids {
		roles[i] = known[role]
	}
	return roles
}
