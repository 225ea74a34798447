package web

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
)

const (
	// ownCurve is what the form calls a curve that is no preset.
	ownCurve = "own"
	// maxRows bounds the rows that are read of a list, above what a guild may have, so that nothing valid is left out.
	maxRows = 300
	// The lists of the form.
	multipliers, roleRewards, seasons = "multipliers", "roleRewards", "seasons"
)

// settingsForm is the form as text, right or wrong. Fields are named by their paths in the guild's document; a box not ticked is empty.
type settingsForm struct {
	Fields map[string]string
	Rows   map[string][]formRow // of multipliers, roleRewards and seasons
}

// formRow is a row of a list, by its properties.
type formRow = map[string]string

// formOf fills the form with what is saved.
func formOf(g *guild.Guild, d guild.Directory) settingsForm {
	offered := choicesOf(d)
	pause, unit := cooldownOf(g.XPGainInterval)
	f := settingsForm{Rows: map[string][]formRow{}, Fields: map[string]string{
		"version": fmt.Sprint(g.Edited), "enabled": ticked(g.Enabled), "visibility": string(g.Visibility), "embedding": ticked(g.Embedding), "vanity": string(g.Vanity),
		cooldown: pause, cooldownUnit: unit, "xpPerMessageMin": fmt.Sprint(g.XPPerMessageMin),
		"xpPerMessageMax": fmt.Sprint(g.XPPerMessageMax), "xpGlobalMultiplier": fmt.Sprint(g.XPGlobalMultiplier),
		"ignoredChannelIds": ignoredLines(g.IgnoredChannelIDs, offered.channels), "ignoredRoleIds": ignoredLines(g.IgnoredRoleIDs, offered.roles),
		"ignoredUserIds": idLines(g.IgnoredUserIDs),
		"timeZone":       g.TimeZone,
	}}
	for _, kind := range g.Periods {
		f.Fields[boxOf(kind)] = ticked(true)
	}
	if name, ok := g.Curve.PresetName(); ok {
		f.Fields["curve"] = name
	} else {
		f.Fields["curve"] = ownCurve
		for i, c := range g.Curve.Coefficients() {
			f.Fields[coefficient(i)] = fmt.Sprint(c)
		}
	}
	for _, m := range g.Multipliers {
		f.Rows[multipliers] = append(f.Rows[multipliers], formRow{
			"id": string(m.ID), "type": string(m.Type), "multiplier": fmt.Sprint(m.Multiplier), "targets": channelLines(m.Channels) + roleLines(m.Roles),
		})
	}
	for _, r := range g.RoleRewards {
		f.Rows[roleRewards] = append(f.Rows[roleRewards], formRow{
			"id": string(r.ID), "level": fmt.Sprint(r.Level), "stack": ticked(r.Stack), "roles": roleLines(r.Roles),
		})
	}
	for _, s := range g.Seasons {
		f.Rows[seasons] = append(f.Rows[seasons], formRow{"id": s.ID, "name": s.Name, "start": s.Start.String(), "end": s.End.String()})
	}
	return f
}

// rowField splits the name of a field in a row.
var rowField = regexp.MustCompile(`^(multipliers|roleRewards|seasons)\[(\d+)\]\.(\w+)$`)

// readForm reads what was sent and judges nothing. Rows may have any numbers. Lines end as they do in formOf.
func readForm(sent url.Values) settingsForm {
	f := settingsForm{Fields: map[string]string{}, Rows: map[string][]formRow{}}
	numbered := map[string]map[int]formRow{multipliers: {}, roleRewards: {}, seasons: {}}
	for name := range sent {
		parts, value := rowField.FindStringSubmatch(name), strings.ReplaceAll(sent.Get(name), "\r\n", "\n")
		if parts == nil {
			f.Fields[name] = value
		} else if n, err := strconv.Atoi(parts[2]); err == nil {
			rows := numbered[parts[1]]
			if rows[n] == nil {
				rows[n] = formRow{}
			}
			rows[n][parts[3]] = value
		}
	}
	for list, rows := range numbered {
		for _, n := range slices.Sorted(maps.Keys(rows)) {
			f.Rows[list] = append(f.Rows[list], rows[n])
		}
		f.Rows[list] = f.Rows[list][:min(len(rows), maxRows)]
	}
	return f
}

// edit adds a row, a multiplier of this type, or removes one. Anything else that a button could not have sent changes nothing.
func (f settingsForm) edit(do, row string) {
	list := map[string]string{
		"add-reward": roleRewards, "remove-reward": roleRewards, "add-multiplier": multipliers, "remove-multiplier": multipliers,
		"add-season": seasons, "remove-season": seasons,
	}[do]
	n, err := strconv.Atoi(row)
	switch rows := f.Rows[list]; {
	case list == "":
	case strings.HasPrefix(do, "add-"):
		f.Rows[list] = append(rows, formRow{"stack": ticked(true), "type": cmp.Or(row, string(guild.ChannelMultiplier))})
	case err == nil && n >= 0 && n < len(rows):
		f.Rows[list] = slices.Delete(rows, n, n+1)
	}
}

// Coefficients are those of a curve that is no preset.
func (f settingsForm) Coefficients() (list [level.MaxCoefficients]string) {
	for i := range list {
		list[i] = f.Fields[coefficient(i)]
	}
	return list
}

func coefficient(i int) string { return fmt.Sprintf("curve[%d]", i) }

func ticked(on bool) string {
	if on {
		return "on"
	}
	return ""
}

func idLines[T ~string](ids []T) (lines string) {
	for _, s := range ids {
		lines += string(s) + "\n"
	}
	return lines
}

func channelLines(channels []guild.Channel) (lines string) {
	for _, c := range channels {
		lines += targetLine(c.ID, c.Name)
	}
	return lines
}

func roleLines(roles []guild.Role) (lines string) {
	for _, r := range roles {
		lines += targetLine(r.ID, r.Name)
	}
	return lines
}

func targetLine[T id.Role | id.Channel](target T, name string) string {
	return string(target) + " " + oneLine(name) + "\n"
}

// oneLine is a name as a line of a text area can hold it.
func oneLine(name string) string { return strings.Join(strings.Fields(name), " ") }
