package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/displayname"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/hiding"
	"levelboard/internal/usecase/leaderboard"
)

// hiddenListPath is the page where managers see who is hidden, and hide and show members.
const hiddenListPath = "/guilds/:guildId/hidden"

// hiddenListPage is the content of the page of who is hidden in a guild.
type hiddenListPage struct {
	Guild         *guild.Guild
	Board         string // path of the board; empty while leveling is off
	Query         string // the name or id that was looked for
	Wrong         string // what is wrong with it
	Rows          []listedHidden
	Before, After int64  // numbers of the pages beside this one, or 0
	More          bool   // others match, too
	Done          string // what was just done, or empty
	User          string // id of whom to hide, as it was typed
	Form          manageForm
}

// listedHidden is a user who is hidden.
type listedHidden struct {
	hiddenRow
	Entry  bool
	Reason field // why they are shown again
}

// hiddenList lists who is hidden, or those of them whom the address looks for.
func (s *Site) hiddenList(c *gin.Context) error {
	g, err := s.managedGuild(c)
	if err != nil {
		return err
	}
	done := map[string]string{"hidden": "Hidden from the leaderboard.", "shown": "On the leaderboard again."}[c.Query("done")]
	return s.showHiddenList(c, http.StatusOK, hiddenListPage{Guild: g, Query: strings.TrimSpace(c.Query("q")), Done: done})
}

func (s *Site) showHiddenList(c *gin.Context, status int, page hiddenListPage) error {
	number, err := pageNumber(c.Query("page"))
	if err != nil {
		return err
	}
	ctx, g := c.Request.Context(), page.Guild
	var listed []hiding.Listed
	var more bool
	if page.Query != "" {
		listed, more, err = s.deps.Hiding.Find(ctx, g, strings.TrimPrefix(page.Query, "@"))
		page.More = more
	} else {
		listed, more, err = s.deps.Hiding.List(ctx, g, number)
		if page.Before = number - 1; more {
			page.After = number + 1
		}
	}
	if fault.Is(err, fault.Invalid) {
		page.Wrong, status, err = fault.From(err).Message, http.StatusUnprocessableEntity, nil
	}
	if err != nil {
		return err
	}
	if g.Enabled {
		page.Board = boardPath(g)
	}
	for _, l := range listed {
		page.Rows = append(page.Rows, page.row(l))
	}
	page.Query = displayname.Cut(page.Query, maxShown)
	return s.show(c, status, "hidden", "Hidden members of "+g.Name, page)
}

func (p *hiddenListPage) row(l hiding.Listed) listedHidden {
	m := leaderboard.Member{UserID: l.User.User}
	if l.Entry != nil {
		m = *l.Entry
	}
	return listedHidden{
		hiddenRow: hiddenRow{newRow(p.Guild, leaderboard.Ranked{Member: m}), l.Flags}, Entry: l.Entry != nil,
		Reason: reasonField("reason-"+string(m.UserID), p.Form.Reasons, p.Form.Errors),
	}
}

// changeHiddenList hides the member whose id was typed, or shows one of the list.
func (s *Site) changeHiddenList(c *gin.Context) error {
	g, err := s.managedGuild(c)
	if err != nil {
		return err
	}
	sent, err := postForm(c)
	if err != nil {
		return err
	}
	hide, typed := sent.Get("hidden") == "yes", strings.TrimSpace(sent.Get("user"))
	field, done := "reason-"+typed, "shown"
	if hide {
		field, done = "hide-reason", "hidden"
	}
	reason, form := explained(field, sent)
	user, wrong := id.Parse[id.User](typed)
	if wrong != nil {
		form.Errors["user"] = "The member ID " + wrong.Error() + "."
	}
	if len(form.Errors) > 0 {
		return s.showHiddenList(c, http.StatusUnprocessableEntity, hiddenListPage{Guild: g, User: displayname.Cut(typed, maxShown), Form: form})
	}
	if err := s.hideMember(c, g.ID, user, hide, reason); err != nil {
		return err
	}
	c.Redirect(http.StatusSeeOther, hiddenAddress(g.ID)+"?done="+done)
	return nil
}

func hiddenAddress(g id.Guild) string { return "/guilds/" + string(g) + "/hidden" }

// hiddenSearch is where a manager looks for a hidden member of that name; empty for anybody else.
func hiddenSearch(c *gin.Context, g *guild.Guild, query string) string {
	if !sessionOf(c).Manages(g) {
		return ""
	}
	return hiddenAddress(g.ID) + "?" + url.Values{"q": {query}}.Encode()
}
