package web

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/hiding"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/signin"
)

// hiddenPage is the content of the page about a hidden or absent member.
type hiddenPage struct {
	hidden.Flags
	Guild   *guild.Guild
	Base    string // path of the board
	UserID  id.User
	Name    string
	XP      int64
	Left    bool
	Manager bool // the visitor is one
	Form    *form
}

// hideForm is the form with which a manager hides a member.
type hideForm struct {
	Action string // the address that it is sent to
	Reason field
}

// hideFormOf makes the form about a member. field is the id of its field.
func hideFormOf(base string, user id.User, field string, f *form) hideForm {
	return hideForm{base + "/members/" + string(user) + "/hidden", reasonField(f, field)}
}

// hiddenRow is a hidden member.
type hiddenRow struct {
	leaderboardRow
	hidden.Flags
}

// seesHidden reports whether a signed-in user may see the page of a hidden member. Managers and the member may.
func seesHidden(who *signin.Session, g *guild.Guild, user id.User) bool {
	return who.Manages(g) || who != nil && who.User.ID == user
}

// ownHidden reads the row of a hidden member. It returns nil if the member is not on the board for another reason.
func (s *Site) ownHidden(ctx context.Context, g *guild.Guild, user id.User) (*hiddenRow, error) {
	found, err := s.deps.Periods.Position(ctx, g, user)
	if err != nil || found.Flags == 0 {
		if fault.Is(err, fault.NotFound) {
			err = nil
		}
		return nil, err
	}
	return &hiddenRow{newRow(g, found.Ranked), found.Flags}, nil
}

// setHidden hides a member, or shows a hidden one again.
func (s *Site) setHidden(c *gin.Context, g *guild.Guild, user id.User, sent *form) error {
	hide, reason := sent.Value("hidden") == "yes", sent.reason("hide-reason")
	if sent.bad() && !hide { // the error is shown on the page of a hidden member
		return s.hiddenMember(c, g, unranked(leaderboard.NoMember()), sent)
	}
	if sent.bad() {
		m, err := s.memberInPath(c, g)
		if err != nil {
			return err
		}
		return s.showMember(c, g, memberPage{Row: newRow(g, m), Form: sent})
	}
	if err := s.hideMember(c, g.ID, user, hide, reason); err != nil {
		return err
	}
	done := ""
	if !hide {
		done = "?done=shown"
	}
	c.Redirect(http.StatusSeeOther, boardPath(g)+"/members/"+string(user)+done)
	return nil
}

// hideMember sets or lifts the managers' flag of a user.
func (s *Site) hideMember(c *gin.Context, g id.Guild, user id.User, hide bool, reason string) error {
	step := hiding.Step{By: hidden.ByManager, Hidden: hide, Users: []id.User{user}}
	_, err := s.deps.Hiding.Set(audit.WithReason(c.Request.Context(), reason), g, step)
	if err == nil {
		s.log.InfoContext(c.Request.Context(), "a manager hid or showed a member on the pages", "guild", g, "hidden", hide)
	}
	return err
}

// hiddenMember shows the page of a hidden or absent member to a visitor who may see it (seesHidden). If the member is neither, it returns unknown.
func (s *Site) hiddenMember(c *gin.Context, g *guild.Guild, unknown error, f *form) error {
	user, err := userInPath(c)
	if err != nil {
		return err
	}
	found, err := s.deps.Periods.Position(c.Request.Context(), g, user)
	left := errors.Is(err, leaderboard.ErrNotPresent)
	if fault.Is(err, fault.NotFound) && !left || err == nil && found.Flags == 0 {
		return unknown
	}
	if err != nil && !left {
		return err
	}
	name, _ := displayName(found.User, string(user))
	return s.show(c, f.status(), "hidden-member", "Hidden member", hiddenPage{
		Flags: found.Flags, Guild: g, Base: boardPath(g), UserID: user, Name: name, XP: int64(found.XP), Left: left, Manager: sessionOf(c).Manages(g), Form: f,
	})
}
