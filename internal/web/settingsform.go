package web

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"levelboard/internal/guild"
	"levelboard/internal/id"
	"levelboard/internal/level"
)

// ownCurve is what the form calls a curve that is no preset.
const ownCurve = "own"

// maxRows bounds the rows of a list that a form is read for: more than a guild may have (package guild refuses them), so that
// nothing is left out in silence that could have been saved.
const maxRows = 300

// settingsForm is the form as text, right or wrong, so that it can be shown again as it was filled in. The fields are named
// by their paths in the guild's document.
type settingsForm struct {
	Version         string // of the settings that the form was made of
	Enabled         bool
	Visibility      string
	Vanity          string
	Curve           string // a preset's name or ownCurve
	Coefficients    [level.MaxCoefficients]string
	Interval        string
	Min, Max        string
	Global          string
	IgnoredChannels string // ids, one a line
	IgnoredRoles    string
	Multipliers     []multiplierRow
	Rewards         []rewardRow
}

type multiplierRow struct {
	ID, Type, Multiplier string
	Targets              string // one a line: the id and the name
}

type rewardRow struct {
	ID, Level string
	Stack     bool
	Roles     string // as multiplierRow.Targets
}

// formOf fills the form with what is saved.
func formOf(g *guild.Guild) settingsForm {
	f := settingsForm{
		Version: strconv.FormatInt(g.Version, 10), Enabled: g.Enabled, Visibility: string(g.Visibility), Vanity: g.Vanity,
		Interval: strconv.FormatInt(g.XPGainInterval, 10), Min: strconv.Itoa(g.XPPerMessageMin), Max: strconv.Itoa(g.XPPerMessageMax),
		Global: decimal(g.XPGlobalMultiplier), IgnoredChannels: idLines(g.IgnoredChannelIDs), IgnoredRoles: idLines(g.IgnoredRoleIDs),
		Curve: ownCurve,
	}
	if name, ok := g.Curve.PresetName(); ok {
		f.Curve = name
	} else {
		for i, c := range g.Curve.Coefficients() {
			f.Coefficients[i] = decimal(c)
		}
	}
	for _, m := range g.Multipliers {
		f.Multipliers = append(f.Multipliers, multiplierRow{
			ID: m.ID, Type: string(m.Type), Multiplier: decimal(m.Multiplier), Targets: channelLines(m.Channels) + roleLines(m.Roles),
		})
	}
	for _, r := range g.RoleRewards {
		f.Rewards = append(f.Rewards, rewardRow{ID: r.ID, Level: strconv.Itoa(int(r.Level)), Stack: r.Stack, Roles: roleLines(r.Roles)})
	}
	return f
}

// readForm reads what was sent. It judges nothing.
func readForm(v url.Values) settingsForm {
	f := settingsForm{
		Version: v.Get("version"), Enabled: v.Has("enabled"), Visibility: v.Get("visibility"), Vanity: v.Get("vanity"),
		Curve: v.Get("curve"), Interval: v.Get("xpGainInterval"), Min: v.Get("xpPerMessageMin"), Max: v.Get("xpPerMessageMax"),
		Global: v.Get("xpGlobalMultiplier"), IgnoredChannels: v.Get("ignoredChannelIds"), IgnoredRoles: v.Get("ignoredRoleIds"),
	}
	for i := range f.Coefficients {
		f.Coefficients[i] = v.Get("curve[" + strconv.Itoa(i) + "]")
	}
	for _, row := range rowsOf(v, "multipliers") {
		f.Multipliers = append(f.Multipliers, multiplierRow{
			ID: v.Get(row + "id"), Type: v.Get(row + "type"), Multiplier: v.Get(row + "multiplier"), Targets: v.Get(row + "targets"),
		})
	}
	for _, row := range rowsOf(v, "roleRewards") {
		f.Rewards = append(f.Rewards, rewardRow{ID: v.Get(row + "id"), Level: v.Get(row + "level"), Stack: v.Has(row + "stack"), Roles: v.Get(row + "roles")})
	}
	return f
}

// rowsOf returns how the names of the fields of each row of a list begin, in the order of the rows' numbers. A form that was not
// made here may leave numbers or fields out; that is no reason to take the other rows for removed.
func rowsOf(v url.Values, list string) []string {
	numbers := map[int]bool{}
	for name := range v {
		row, inList := strings.CutPrefix(name, list+"[")
		number, _, inRow := strings.Cut(row, "].")
		if n, err := strconv.Atoi(number); inList && inRow && err == nil {
			numbers[n] = true
		}
	}
	var rows []string
	for _, n := range slices.Sorted(maps.Keys(numbers)) {
		if len(rows) < maxRows {
			rows = append(rows, list+"["+strconv.Itoa(n)+"].")
		}
	}
	return rows
}

// edit adds or removes a row. Anything else that a button could not have sent changes nothing.
func (f *settingsForm) edit(do, row string) {
	n, err := strconv.Atoi(row)
	switch {
	case do == "add-reward":
		f.Rewards = append(f.Rewards, rewardRow{Stack: true})
	case do == "add-multiplier":
		f.Multipliers = append(f.Multipliers, multiplierRow{Type: string(guild.ChannelMultiplier)})
	case err != nil || n < 0:
	case do == "remove-reward" && n < len(f.Rewards):
		f.Rewards = slices.Delete(f.Rewards, n, n+1)
	case do == "remove-multiplier" && n < len(f.Multipliers):
		f.Multipliers = slices.Delete(f.Multipliers, n, n+1)
	}
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func idLines[T ~string](ids []T) string {
	var b strings.Builder
	for _, s := range ids {
		b.WriteString(string(s) + "\n")
	}
	return b.String()
}

func channelLines(channels []guild.Channel) string {
	var b strings.Builder
	for _, c := range channels {
		b.WriteString(targetLine(c.ID, c.Name))
	}
	return b.String()
}

func roleLines(roles []guild.Role) string {
	var b strings.Builder
	for _, r := range roles {
		b.WriteString(targetLine(r.ID, r.Name))
	}
	return b.String()
}

func targetLine[T id.Role | id.Channel](target T, name string) string {
	return string(target) + " " + oneLine(name) + "\n"
}

// oneLine is a name as a line of a text area can hold it.
func oneLine(name string) string { return strings.Join(strings.Fields(name), " ") }
