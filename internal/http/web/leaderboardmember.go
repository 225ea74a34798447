package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// memberPage is the content of the page about one member of a board.
type memberPage struct {
	Row      leaderboardRow
	Guild    *guild.Guild
	Base     string // path of the board
	Page     int64  // of the board, that they are on
	Standing standing
	Plot     *gainsPlot // nil when the guild counts no gains, or they cannot be read
	Roles    []guild.Role
	Earned   shown[guild.RoleReward] // rewards up to their level that have roles, the last first
	Upcoming shown[rewardAhead]
	Manager  bool
	MaxXP    level.XP
	Now      time.Time
	Done     bool // the XP was set just now
	Given    string
	Errors   map[string]string // by what is wrong in the form: xp, confirm, remove
}

// rewardAhead is a reward that a member has not reached.
type rewardAhead struct {
	guild.RoleReward
	Missing int64 // XP to its level; 0 when nobody can reach it
}

func (s *Site) member(c *gin.Context, g *guild.Guild) error {
	m, err := s.memberInPath(c, g)
	if err != nil {
		return err
	}
	return s.showMember(c, http.StatusOK, g, memberPage{Row: newRow(g, m), Done: c.Query("done") == "xp"})
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

func (s *Site) showMember(c *gin.Context, status int, g *guild.Guild, content memberPage) error {
	position, err := s.positionOf(c, g, content.Row.UserID)
	if err != nil {
		return err
	}
	content.Row = newRow(g, position.Ranked)
	row := content.Row
	content.Guild, content.Base, content.Page, content.Now = g, boardPath(g), leaderboard.PageOf(row.Rank), s.deps.Now()
	content.MaxXP, content.Manager = level.MaxXP, sessionOf(c).Manages(g)
	content.Given = cmp.Or(content.Given, strconv.FormatInt(int64(row.XP), 10))
	content.Standing, content.Plot = standingOf(g, position), s.plotOf(c, g, row.UserID)
	add, _ := g.RoleChanges(level.Level(row.Level))
	content.Roles = rolesOf(g, add)
	content.rewards(g)
	s.describeIn(c, g, memberUnfurl(g, &content))
	return s.show(c, status, "member", row.Name+" in "+g.Name, content)
}

// rewards splits those of the guild into earned and upcoming ones.
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

// rolesOf finds the rewards' roles with these ids, in that order.
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

// managed runs a handler with the member that a manager is about to change, and the form that they sent.
func (s *Site) managed(h func(c *gin.Context, g *guild.Guild, m leaderboard.Ranked, sent url.Values) error) func(*gin.Context, *guild.Guild) error {
	return func(c *gin.Context, g *guild.Guild) error {
		session, err := signedIn(c, "Sign in to change a member's XP.")
		if err != nil {
			return err
		}
		if !session.Manages(g) {
			return fault.New(fault.Forbidden, "Only the owner and the administrators of this community can change XP.")
		}
		m, err := s.memberInPath(c, g)
		if err != nil {
			return err
		}
		sent, err := postForm(c)
		if err != nil {
			return err
		}
		return h(c, g, m, sent)
	}
}

const unconfirmed = "Tick the box to confirm."

func (s *Site) setXP(c *gin.Context, g *guild.Guild, m leaderboard.Ranked, sent url.Values) error {
	given, wrong := sent.Get("xp"), map[string]string{}
	amount, err := strconv.ParseInt(given, 10, 64)
	if err != nil || amount < 0 || amount > int64(level.MaxXP) {
		wrong["xp"] = "XP must be a whole number from 0 to " + count(level.MaxXP) + "."
	}
	if sent.Get("confirm") != "yes" {
		wrong["confirm"] = unconfirmed
	}
	if len(wrong) > 0 {
		return s.showMember(c, http.StatusUnprocessableEntity, g, memberPage{Row: newRow(g, m), Given: cut(given, maxShown), Errors: wrong})
	}
	out, err := s.deps.Board.Change(c.Request.Context(), g, m.UserID, leaderboard.Change{Op: leaderboard.Set, Amount: level.XP(amount)})
	if err != nil {
		return err
	}
	s.log.InfoContext(c.Request.Context(), "a manager set a member's XP on the pages", "guild", g.ID, "before", out.Before, "after", out.After)
	c.Redirect(http.StatusSeeOther, boardPath(g)+"/members/"+string(m.UserID)+"?done=xp")
	return nil
}

// removeMember deletes a member's entry: XP, messages and cooldown. The next message that gains XP begins a new one.
func (s *Site) removeMember(c *gin.Context, g *guild.Guild, m leaderboard.Ranked, sent url.Values) error {
	if sent.Get("confirm") != "yes" {
		return s.showMember(c, http.StatusUnprocessableEntity, g, memberPage{Row: newRow(g, m), Errors: map[string]string{"remove": unconfirmed}})
	}
	if _, err := s.deps.Board.Delete(c.Request.Context(), g, m.UserID, leaderboard.Once{}); err != nil {
		return err
	}
	s.log.InfoContext(c.Request.Context(), "a manager reset a member on the pages", "guild", g.ID, "before", m.XP)
	c.Redirect(http.StatusSeeOther, boardPath(g)+"?done=removed")
	return nil
}
