package web

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/displayname"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/properties"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/leaderboard"
)

// manageForm is what a manager wrote in the forms about a member, and what is wrong with it by field.
type manageForm struct {
	Op, XP          string
	Reasons, Errors map[string]string
}

// xpChange is what a manager's change did.
type xpChange struct{ Before, After int64 }

// managed runs a handler with the member that a manager is about to change, and the form that they sent.
func (s *Site) managed(h func(c *gin.Context, g *guild.Guild, user id.User, sent url.Values) error) func(*gin.Context, *guild.Guild) error {
	return func(c *gin.Context, g *guild.Guild) error {
		session, err := signedIn(c, "Sign in to change a member's XP.")
		if err != nil {
			return err
		}
		if !session.Manages(g) {
			return fault.New(fault.Forbidden, "Only the owner and the administrators of this community can change XP.")
		}
		user, err := userInPath(c)
		if err != nil {
			return err
		}
		sent, err := postForm(c)
		if err != nil {
			return err
		}
		return h(c, g, user, sent)
	}
}

const unconfirmed = "Tick the box to confirm."

// ops are the ways to change XP, by their names in the form.
var ops = map[string]leaderboard.Op{"add": leaderboard.Increment, "take": leaderboard.Decrement, "set": leaderboard.Set, "level": leaderboard.Set}

// explained is a form whose reason, in the field of that id, was read, and what it says.
func explained(field string, sent url.Values) (string, manageForm) {
	reason, wrong := reasonOf(sent)
	form := manageForm{Reasons: map[string]string{field: reason}, Errors: map[string]string{}}
	if wrong != "" {
		form.Errors[field] = wrong
	}
	return reason, form
}

// change judges the form. A level stands for the XP at which it begins by the curve.
func (f *manageForm) change(curve level.Curve, confirmed bool) leaderboard.Change {
	op, ok := ops[f.Op]
	if !ok {
		f.Errors["op"] = "Choose one of these."
	}
	amount, err := strconv.ParseInt(properties.PlainNumber(f.XP), 10, 64)
	most, wrong := int64(level.MaxXP), "XP must be a whole number from 0 to "+count(level.MaxXP)+"."
	if f.Op == "level" {
		most, wrong = int64(level.Max), "The level must be a whole number from 0 to "+count(level.Max)+" that a member can reach."
	}
	xp := level.XP(amount)
	if f.Op == "level" && amount >= 0 && amount <= most {
		xp = curve.XPFor(level.Level(amount))
	}
	if err != nil || amount < 0 || amount > most || xp > level.MaxXP {
		f.Errors["xp"] = wrong
	}
	if !confirmed {
		f.Errors["confirm"] = unconfirmed
	}
	return leaderboard.Change{Op: op, Amount: xp}
}

// changeXP adds XP to a member, takes some away or sets it. The page that it leads to says what it was.
func (s *Site) changeXP(c *gin.Context, g *guild.Guild, user id.User, sent url.Values) error {
	m, err := s.memberInPath(c, g)
	if err != nil {
		return err
	}
	reason, form := explained("reason", sent)
	form.Op, form.XP = sent.Get("op"), strings.TrimSpace(sent.Get("xp"))
	change := form.change(g.Curve, sent.Get("confirm") == "yes")
	if len(form.Errors) > 0 {
		form.XP = displayname.Cut(form.XP, maxShown)
		return s.showMember(c, http.StatusUnprocessableEntity, g, memberPage{Row: newRow(g, m), Form: form})
	}
	out, err := s.deps.Board.Change(audit.WithReason(c.Request.Context(), reason), g, user, change)
	if err != nil {
		return err
	}
	s.log.InfoContext(c.Request.Context(), "a manager changed a member's XP on the pages", "guild", g.ID, "before", out.Before, "after", out.After)
	c.Redirect(http.StatusSeeOther, fmt.Sprintf("%s/members/%s?before=%d&after=%d", boardPath(g), user, out.Before, out.After))
	return nil
}

// previewXP says what a change would do, while a manager types it.
func (s *Site) previewXP(c *gin.Context, g *guild.Guild, _ id.User, _ url.Values) error {
	m, err := s.memberInPath(c, g)
	if err != nil {
		return err
	}
	form := manageForm{Op: c.Query("op"), XP: c.Query("xp"), Errors: map[string]string{}}
	change := form.change(g.Curve, true)
	then := change.Amount
	switch change.Op {
	case leaderboard.Increment:
		then = min(m.XP+change.Amount, level.MaxXP)
	case leaderboard.Decrement:
		then = max(m.XP-change.Amount, 0)
	}
	said := fmt.Sprintf("From %s XP, level %s, to %s XP, level %s.", count(m.XP), count(g.Curve.LevelAt(m.XP)), count(then), count(g.Curve.LevelAt(then)))
	if len(form.Errors) > 0 {
		said = cmp.Or(form.Errors["xp"], form.Errors["op"])
	}
	s.send(c, http.StatusOK, "text/plain; charset=utf-8", []byte(said))
	return nil
}

// changeIn is the change that led to this page; nil without one.
func changeIn(c *gin.Context) *xpChange {
	before, err := strconv.ParseInt(c.Query("before"), 10, 32)
	after, errAfter := strconv.ParseInt(c.Query("after"), 10, 32)
	if err != nil || errAfter != nil || before < 0 || after < 0 {
		return nil
	}
	return &xpChange{before, after}
}

// removeMember deletes a member's entry: XP, messages and cooldown. The next message that gains XP begins a new one.
func (s *Site) removeMember(c *gin.Context, g *guild.Guild, user id.User, sent url.Values) error {
	m, err := s.memberInPath(c, g)
	if err != nil {
		return err
	}
	reason, form := explained("remove-reason", sent)
	if sent.Get("confirm") != "yes" {
		form.Errors["remove"] = unconfirmed
	}
	if len(form.Errors) > 0 {
		return s.showMember(c, http.StatusUnprocessableEntity, g, memberPage{Row: newRow(g, m), Form: form})
	}
	if _, err := s.deps.Board.Delete(audit.WithReason(c.Request.Context(), reason), g, user, leaderboard.Once{}); err != nil {
		return err
	}
	s.log.InfoContext(c.Request.Context(), "a manager reset a member on the pages", "guild", g.ID, "before", m.XP)
	c.Redirect(http.StatusSeeOther, boardPath(g)+"?done=removed")
	return nil
}
