package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
)

// guildDocument is what is shown of a guild's document to people.
type guildDocument struct {
	ID                 string         `json:"id"`
	Name               string         `json:"name"`
	MemberCount        int            `json:"memberCount"`
	OwnerID            string         `json:"ownerId"`
	AdminIDs           []string       `json:"adminIds"`
	Enabled            bool           `json:"enabled"`
	Visibility         string         `json:"visibility"`
	Vanity             *string        `json:"vanity"`
	Curve              jsontext.Value `json:"curve"`
	XPGainInterval     int64          `json:"xpGainInterval"`
	XPPerMessageMin    int            `json:"xpPerMessageMin"`
	XPPerMessageMax    int            `json:"xpPerMessageMax"`
	XPGlobalMultiplier float64        `json:"xpGlobalMultiplier"`
	IgnoredChannelIDs  []string       `json:"ignoredChannelIds"`
	IgnoredRoleIDs     []string       `json:"ignoredRoleIds"`
	IgnoredUserIDs     []string       `json:"ignoredUserIds"`
	Multipliers        []struct {
		Type       string  `json:"type"`
		Multiplier float64 `json:"multiplier"`
		Targets    []named `json:"targets"`
	} `json:"multipliers"`
	RoleRewards []struct {
		Level int     `json:"level"`
		Stack bool    `json:"stack"`
		Roles []named `json:"roles"`
	} `json:"roleRewards"`
	TimeZone string   `json:"timeZone"`
	Periods  []string `json:"periods"`
	Seasons  []struct {
		ID    string `json:"id"`
		Name  string `json:"name"`
		Start string `json:"start"`
		End   string `json:"end"`
	} `json:"seasons"`
}

type named struct {
	Name string `json:"name"`
}

// board says who may read the board, and its vanity.
func (g guildDocument) board() string {
	if g.Vanity == nil {
		return g.Visibility
	}
	return g.Visibility + ", " + *g.Vanity
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
		{"  id", g.ID},
		{"  owner", g.OwnerID},
		{"  administrators", joined(g.AdminIDs)},
		{"  members", strconv.Itoa(g.MemberCount)},
		{"  board", g.board()},
		{"  leveling", g.leveling()},
		{"  curve", strings.Trim(string(g.Curve), `"`)},
		{"  XP per message", fmt.Sprintf("%d to %d, times %s, once in %s", g.XPPerMessageMin, g.XPPerMessageMax,
			number(g.XPGlobalMultiplier), time.Duration(g.XPGainInterval)*time.Millisecond)},
		{"  ignored channels", joined(g.IgnoredChannelIDs)},
		{"  ignored roles", joined(g.IgnoredRoleIDs)},
		{"  ignored members", joined(g.IgnoredUserIDs)},
		{"  time zone", g.TimeZone},
		{"  periods", joined(g.Periods)},
	}
	for _, m := range g.Multipliers {
		facts = append(facts, []string{"  multiplier", fmt.Sprintf("%s for the %s %s", number(m.Multiplier), strings.ToLower(m.Type), names(m.Targets))})
	}
	for _, r := range g.RoleRewards {
		line := fmt.Sprintf("level %d: %s", r.Level, names(r.Roles))
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

// running are the lines of `guild get` that say when the periods end that run now, in the guild's zone. There are none of a document that this
// version of the command does not know in full.
func running(gid string, document []byte, now time.Time) (lines [][]string) {
	s, err := guild.Parse(id.Guild(gid), document)
	if err != nil {
		return nil
	}
	calendar := s.Calendar()
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

func names(list []named) string {
	texts := make([]string, len(list))
	for i, n := range list {
		texts[i] = printable(n.Name)
	}
	return joined(texts)
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
