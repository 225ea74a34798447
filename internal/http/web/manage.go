package web

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/properties"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/leaderboard"
)

// xpChange is the effect of a manager's change.
type xpChange struct{ Before, After int64 }

// managed calls a handler with the member that a manager wants to change, and the sent form.
func (s *Site) managed(h func(c *gin.Context, g *guild.Guild, user id.User, sent *form) error) func(*gin.Context, *guild.Guild) error {
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
		sent, err := readForm(c)
		if err != nil {
			return err
		}
		return h(c, g, user, sent)
	}
}

const unconfirmed = "Tick the box to confirm."

// ops are the ways to change XP, by their names in the form.
var ops = map[string]leaderboard.Op{"add": leaderboard.Increment, "take": leaderboard.Decrement, "set": leaderboard.Set, "level": leaderboard.Set}

// changeOf reads and checks the form. A level means the XP at which the curve has it begin.
func changeOf(f *form, curve level.Curve) leaderboard.Change {
	op, ok := ops[f.Value("op")]
	if !ok {
		f.refuse("op", "Choose one of these.")
	}
	amount, err := strconv.ParseInt(properties.PlainNumber(f.Value("xp")), 10, 64)
	byLevel := f.Value("op") == "level"
	most, wrong := int64(level.MaxXP), "XP must be a whole number from 0 to "+count(level.MaxXP)+"."
	if byLevel {
		most, wrong = int64(level.Max), "The level must be a whole number from 0 to "+count(level.Max)+" that a member can reach."
	}
	xp := level.XP(amount)
	if byLevel && amount >= 0 && amount <= most {
		xp = curve.XPFor(level.Level(amount))
	}
	if err != nil || amount < 0 || amount > most || xp > level.MaxXP {
		f.refuse("xp", wrong)
	}
	return leaderboard.Change{Op: op, Amount: xp}
}

// changeXP adds XP to a member, takes some away, or sets it. It redirects to a page that shows the change.
func (s *Site) changeXP(c *gin.Context, g *guild.Guild, user id.User, sent *form) error {
	m, err := s.memberInPath(c, g)
	if err != nil {
		return err
	}
	change, reason := changeOf(sent, g.Curve), sent.reason("reason")
	if sent.Value("confirm") == "" {
		sent.refuse("confirm", unconfirmed)
	}
	if sent.bad() {
		return s.showMember(c, g, memberPage{Row: newRow(g, m), Form: sent})
	}
	if token := sent.Value("once"); token != "" { // without script, a double click sends the form twice
		what := leaderboard.DigestOf([]byte("page"), []byte(sessionOf(c).User.ID), []byte(token), fmt.Append(nil, user, change.Op, change.Amount))
		change.Once = leaderboard.Once{Key: what, Request: what}
	}
	out, err := s.deps.Board.Change(audit.WithReason(c.Request.Context(), reason), g, user, change)
	if err != nil {
		return err
	}
	s.log.InfoContext(c.Request.Context(), "a manager changed a member's XP on the pages", "guild", g.ID, "before", out.Before, "after", out.After)
	c.Redirect(http.StatusSeeOther, fmt.Sprintf("%s/members/%s?before=%d&after=%d", boardPath(g), user, out.Before, out.After))
	return nil
}

// previewXP shows what a change would do, while a manager types it.
func (s *Site) previewXP(c *gin.Context, g *guild.Guild, _ id.User, sent *form) error {
	m, err := s.memberInPath(c, g)
	if err != nil {
		return err
	}
	change := changeOf(sent, g.Curve)
	then := change.Amount
	switch change.Op {
	case leaderboard.Increment:
		then = min(m.XP+change.Amount, level.MaxXP)
	case leaderboard.Decrement:
		then = max(m.XP-change.Amount, 0)
	}
	said := fmt.Sprintf("From %s XP, level %s, to %s XP, level %s.", count(m.XP), count(g.Curve.LevelAt(m.XP)), count(then), count(g.Curve.LevelAt(then)))
	if sent.bad() {
		said = sent.Wrongs[0].Message
	}
	s.send(c, http.StatusOK, "text/plain; charset=utf-8", []byte(said))
	return nil
}

// changeIn returns the change that redirected to this page, or nil.
func changeIn(c *gin.Context) *xpChange {
	before, err := strconv.ParseInt(c.Query("before"), 10, 32)
	after, errAfter := strconv.ParseInt(c.Query("after"), 10, 32)
	if err != nil || errAfter != nil || before < 0 || after < 0 {
		return nil
	}
	return &xpChange{before, after}
}

// removeMember deletes a member's entry: XP, messages and cooldown. The next message that gains XP creates a new one.
func (s *Site) removeMember(c *gin.Context, g *guild.Guild, user id.User, sent *form) error {
	m, err := s.memberInPath(c, g)
	if err != nil {
		return err
	}
	reason := sent.reason("remove-reason")
	if sent.Value("remove") == "" {
		sent.refuse("remove", unconfirmed)
	}
	if sent.bad() {
		return s.showMember(c, g, memberPage{Row: newRow(g, m), Form: sent})
	}
	if _, err := s.deps.Board.Delete(audit.WithReason(c.Request.Context(), reason), g, user, leaderboard.Once{}); err != nil {
		return err
	}
	s.log.InfoContext(c.Request.Context(), "a manager reset a member on the pages", "guild", g.ID, "before", m.XP)
	c.Redirect(http.StatusSeeOther, boardPath(g)+"?done=removed")
	return nil
}
