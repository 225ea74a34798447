package web

import (
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/usecase/periods"
)

const (
	// mostEmbedded is how many members other sites show at most, and embeddedByDefault how many where they do not say.
	mostEmbedded      = 25
	embeddedByDefault = 10
)

// embedThemes are the looks of a board on another site; without one it follows the visitor's preference.
var embedThemes = []string{"light", "dark", "transparent"}

// embedAsk is what another site wants to show.
type embedAsk struct {
	top    int
	period string
	theme  string
}

// embedPage is the content of the top of a board on another site.
type embedPage struct {
	leaderboardPage
	Top   int
	Theme string
}

// embed answers with the top of a public board, for frames of other sites and for stream overlays, where the guild allows that.
func (s *Site) embed(c *gin.Context) error {
	ask, err := readEmbed(c)
	if err != nil {
		return err
	}
	g, err := s.guildOf(c.Request.Context(), c.Param("entry"))
	if fault.Is(err, fault.NotFound) || err == nil && (!g.Enabled || g.Visibility != guild.Public || !g.Embedding) {
		return fault.New(fault.NotFound, "There is no leaderboard to embed at this address. A manager of the community can allow it in the settings of a public leaderboard.")
	}
	if err != nil {
		return err
	}
	v, err := s.readBoard(c.Request.Context(), g, boardAsk{period: ask.period, number: 1})
	if err != nil {
		return err
	}
	rows, err := s.renderRows(g, &v)
	if err != nil {
		return err
	}
	content := embedPage{leaderboardPage: s.boardContent(g, &v), Top: ask.top, Theme: ask.theme}
	if v.period != nil {
		content.setPeriod(v.period.ID)
	}
	for _, row := range rows[:min(len(rows), ask.top)] {
		content.Rows = append(content.Rows, template.HTML(row.html)) // made by html/template
	}
	c.Header("Content-Security-Policy", strings.Replace(contentPolicy, "frame-ancestors 'none'", "frame-ancestors *", 1))
	c.Header("Cross-Origin-Resource-Policy", "cross-origin")
	return s.showTagged(c, g, "embed", boardTitle(g, &v), content)
}

func readEmbed(c *gin.Context) (embedAsk, error) {
	ask := embedAsk{top: embeddedByDefault}
	values, err := readQuery(c)
	if err != nil {
		return ask, err
	}
	if values.Has("top") {
		n, err := strconv.Atoi(values.Get("top"))
		if err != nil || n < 1 || n > mostEmbedded || strconv.Itoa(n) != values.Get("top") {
			return ask, fault.New(fault.Invalid, "The parameter top must be a whole number from 1 to %d.", mostEmbedded)
		}
		ask.top = n
	}
	if ask.theme = values.Get("theme"); values.Has("theme") && !slices.Contains(embedThemes, ask.theme) {
		return ask, fault.New(fault.Invalid, "The parameter theme must be light, dark or transparent.")
	}
	if ask.period = values.Get("period"); values.Has("period") {
		return ask, periods.CheckName(ask.period)
	}
	return ask, nil
}
