package cli

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/period"
	"levelboard/internal/domain/properties"
)

// guildDocument is a guild's document as a service of this or a newer version answers it.
type guildDocument struct{ guild.Settings }

// UnmarshalJSON reads it.
func (g *guildDocument) UnmarshalJSON(document []byte) (err error) {
	g.Settings, err = guild.Answered(document)
	return err
}

// board says who may read the board, and its vanity.
func (g guildDocument) board() string {
	if g.Vanity == "" {
		return string(g.Visibility)
	}
	return string(g.Visibility) + ", " + string(g.Vanity)
}

func (g guildDocument) row() []string {
	return []string{string(g.ID), g.Name, strconv.Itoa(g.MemberCount), g.board(), g.leveling()}
}

func (g guildDocument) leveling() string {
	if g.Enabled {
		return "enabled"
	}
	return "disabled"
}

// facts are the lines of `guild get`, a name and a value each.
func (g guildDocument) facts() [][]string {
	facts := [][]string{{"  ID", string(g.ID)}}
	for _, fact := range properties.Facts(&g.Settings) {
		facts = append(facts, []string{"  " + fact.Label, cmp.Or(fact.Words, "none")})
	}
	return facts
}

// running are the lines of `guild get` that say when the periods end that run now, in the guild's zone.
func (g guildDocument) running(now time.Time) (lines [][]string) {
	calendar := g.Calendar()
	for _, p := range calendar.Running(period.DayAt(now, calendar.Zone)) {
		_, ends := p.Bounds(calendar.Zone)
		what := string(p.Kind) + " " + p.ID
		if p.Kind == period.Seasonal {
			what = p.ID + " (" + p.Name + ")"
		}
		lines = append(lines, []string{"  Running", fmt.Sprintf("%s, ends %s, in %s", what,
			ends.In(calendar.Zone).Format("Mon 2006-01-02 15:04 MST"), strings.TrimSpace(humanize.RelTime(now, ends, "", "")))})
	}
	return lines
}
