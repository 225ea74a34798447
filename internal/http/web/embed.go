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
	// mostEmbedded is the maximum number of members on another site, and embeddedByDefault the default.
	mostEmbedded      = 25
	embeddedByDefault = 10
)

// embedThemes are the values of theme. Without one, the board follows the visitor's preference.
var embedThemes = []string{"light", "dark", "transparent"}

// embedPage is the content of the top of a board, for another site.
type embedPage struct {
	leaderboardPage
	Top   int
	Theme string
}

// embed answers with the top of a public board, for frames on other sites and for stream overlays, if the guild allows it.
func (s *Site) embed(c *gin.Context) error {
	top, period, theme, err := readEmbed(c)
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
	v, err := s.readBoard(c.Request.Context(), g, boardAsk{period: period, number: 1})
	if err != nil {
		return err
	}
	rows, err := s.renderRows(g, &v)
	if err != nil {
		return err
	}
	content := embedPage{leaderboardPage: s.boardContent(g, &v), Top: top, Theme: theme}
	for _, row := range rows[:min(len(rows), top)] {
		content.Rows = append(content.Rows, template.HTML(row.html)) // html/template made it
	}
	c.Header("Content-Security-Policy", strings.Replace(contentPolicy, "frame-ancestors 'none'", "frame-ancestors *", 1))
	c.Header("Cross-Origin-Resource-Policy", "cross-origin")
	return s.showTagged(c, g, "embed", boardTitle(g, &v), content)
}

// readEmbed reads what to show from the address.
func readEmbed(c *gin.Context) (top int, period, theme string, err error) {
	values, err := readQuery(c)
	if err != nil {
		return 0, "", "", err
	}
	top, period, theme = embeddedByDefault, values.Get("period"), values.Get("theme")
	if values.Has("top") {
		top, err = strconv.Atoi(values.Get("top"))
		if err != nil || top < 1 || top > mostEmbedded || strconv.Itoa(top) != values.Get("top") {
			return 0, "", "", fault.New(fault.Invalid, "The parameter top must be a whole number from 1 to %d.", mostEmbedded)
		}
	}
	if values.Has("theme") && !slices.Contains(embedThemes, theme) {
		return 0, "", "", fault.New(fault.Invalid, "The parameter theme must be light, dark or transparent.")
	}
	if values.Has("period") {
		err = periods.CheckName(period)
	}
	return top, period, theme, err
}
