package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

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
	Rows          []listedHidden
	Before, After int64  // numbers of the pages beside this one, or 0
	More          bool   // others match, too
	Done          string // what was just done, or empty
	Form          *form
}

// listedHidden is a user who is hidden.
type listedHidden struct {
	hiddenRow
	Entry bool
}

// hiddenList lists who is hidden, or those of them whom the address looks for.
func (s *Site) hiddenList(c *gin.Context, g *guild.Guild, sent *form) error {
	number, err := pageNumber(c.Query("page"))
	if err != nil {
		return err
	}
	ctx, query := c.Request.Context(), sent.Value("q")
	page := hiddenListPage{Guild: g, Form: sent, Done: map[string]string{"hidden": "Hidden from the leaderboard.", "shown": "On the leaderboard again."}[c.Query("done")]}
	var listed []hiding.Listed
	var more bool
	if query != "" {
		listed, page.More, err = s.deps.Hiding.Find(ctx, g, strings.TrimPrefix(query, "@"))
	} else {
		listed, more, err = s.deps.Hiding.List(ctx, g, number)
		if page.Before = number - 1; more {
			page.After = number + 1
		}
	}
	if fault.Is(err, fault.Invalid) {
		sent.refuse("q", fault.From(err).Message)
	} else if err != nil {
		return err
	}
	if g.Enabled {
		page.Board = boardPath(g)
	}
	for _, l := range listed {
		m := leaderboard.Member{UserID: l.User.User}
		if l.Entry != nil {
			m = *l.Entry
		}
		page.Rows = append(page.Rows, listedHidden{hiddenRow{newRow(g, leaderboard.Ranked{Member: m}), l.Flags}, l.Entry != nil})
	}
	return s.show(c, sent.status(), "hidden", "Hidden members of "+g.Name, page)
}

// Searched reports whether the list is of whom the address looks for.
func (p hiddenListPage) Searched() bool { return p.Form.Value("q") != "" }

// changeHiddenList hides the member whose id was typed, or shows one of the list.
func (s *Site) changeHiddenList(c *gin.Context, g *guild.Guild, sent *form) error {
	hide, typed := sent.Value("hidden") == "yes", sent.Value("user")
	user, wrong := id.Parse[id.User](typed)
	if wrong != nil {
		sent.refuse("user", "The member ID "+wrong.Error()+".")
	}
	field, done := "reason-"+typed, "shown"
	if hide {
		field, done = "hide-reason", "hidden"
	}
	reason := sent.reason(field)
	if sent.bad() {
		return s.hiddenList(c, g, sent)
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
