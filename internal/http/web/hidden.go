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

// hiddenListPath is the page where managers list, hide and show members.
const hiddenListPath = "/guilds/:guildId/hidden"

// hiddenListPage is the content of the page that lists a guild's hidden users.
type hiddenListPage struct {
	Guild         *guild.Guild
	Board         string // path of the board; empty if leveling is off
	Rows          []listedHidden
	Before, After int64  // numbers of the previous and the next page, or 0
	More          bool   // there are more matches
	Done          string // what was just done, or empty
	Form          *form
}

// listedHidden is a hidden user in the list.
type listedHidden struct {
	hiddenRow
	Entry bool
}

// hiddenList lists the hidden users, or those that match the search in the address.
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

// Searched reports whether the list is a search's result.
func (p hiddenListPage) Searched() bool { return p.Form.Value("q") != "" }

// changeHiddenList hides the member whose id was typed, or shows a member of the list.
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

// hiddenSearch returns the address where a manager can search the hidden members for that name, or "" for any other visitor.
func hiddenSearch(c *gin.Context, g *guild.Guild, query string) string {
	if !sessionOf(c).Manages(g) {
		return ""
	}
	return hiddenAddress(g.ID) + "?" + url.Values{"q": {query}}.Encode()
}
