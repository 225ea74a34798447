package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
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

func (g guildDocument) leveling() string {
	if g.Enabled {
		return "enabled"
	}
	return "disabled"
}

// facts are the lines of `guild get`, a name and a value each.
func (g guildDocument) facts() [][]string {
	facts := [][]string{
		{"  id", string(g.ID)},
		{"  owner", string(g.OwnerID)},
		{"  administrators", joined(g.AdminIDs)},
		{"  members", strconv.Itoa(g.MemberCount)},
		{"  board", g.board()},
		{"  leveling", g.leveling()},
		{"  embedding", map[bool]string{true: "allowed", false: "not allowed"}[g.Embedding]},
		{"  curve", curveText(g.Curve)},
		{"  XP per message", fmt.Sprintf("%d to %d, times %s, once in %s", g.XPPerMessageMin, g.XPPerMessageMax,
			number(g.XPGlobalMultiplier), g.Cooldown())},
		{"  ignored channels", joined(g.IgnoredChannelIDs)},
		{"  ignored roles", joined(g.IgnoredRoleIDs)},
		{"  ignored members", joined(g.IgnoredUserIDs)},
		{"  time zone", g.TimeZone},
		{"  periods", joined(g.Periods)},
		{"  audited", fmt.Sprintf("increments from %d XP", g.AuditIncrementsFrom)},
	}
	for _, m := range g.Multipliers {
		targets := names(m.Roles, func(r guild.Role) string { return r.Name })
		if m.Type == guild.ChannelMultiplier {
			targets = names(m.Channels, func(c guild.Channel) string { return c.Name })
		}
		facts = append(facts, []string{"  multiplier", fmt.Sprintf("%s for the %s %s", number(m.Multiplier), strings.ToLower(string(m.Type)), targets)})
	}
	for _, r := range g.RoleRewards {
		line := fmt.Sprintf("level %d: %s", r.Level, names(r.Roles, func(r guild.Role) string { return r.Name }))
		if !r.Stack {
			line += " (until the next reward)"
		}
		facts = append(facts, []string{"  reward", line})
	}
	for _, s := range g.Seasons {
		facts = append(facts, []string{"  season", fmt.Sprintf("%s: %s, from %s to the day before %s", s.ID, printable(s.Name), s.Start, s.End)})
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
			what = p.ID + " (" + printable(p.Name) + ")"
		}
		lines = append(lines, []string{"  running", fmt.Sprintf("%s, ends %s, in %s", what,
			ends.In(calendar.Zone).Format("Mon 2006-01-02 15:04 MST"), strings.TrimSpace(humanize.RelTime(now, ends, "", "")))})
	}
	return lines
}

func names[T any](list []T, name func(T) string) string {
	texts := make([]string, len(list))
	for i, one := range list {
		texts[i] = printable(name(one))
	}
	return joined(texts)
}

func curveText(c level.Curve) string {
	text, _ := c.MarshalJSON() // never fails
	return strings.Trim(string(text), `"`)
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
