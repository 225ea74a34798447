package web

import (
	"encoding/json"
	"strings"

	"levelboard/internal/guild"
	"levelboard/internal/id"
	"levelboard/internal/settings"
)

// target is a channel or a role in the guild's document. What a line of the form does not say, its place and its colour,
// stays as it was saved.
type target struct {
	ID       string      `json:"id"`
	Name     *string     `json:"name,omitempty"` // nil: the line has none
	ParentID *id.Channel `json:"parentId,omitempty"`
	Color    *int        `json:"color,omitempty"`
	Position int         `json:"position,omitempty"`
	Type     int         `json:"type,omitempty"`
}

// targets are those that are saved, by the row that they are in ("" for any row), whether they are roles, and their id.
type targets map[targetKey]target

type targetKey struct {
	row   string
	roles bool
	id    string
}

func targetsOf(g *guild.Guild) targets {
	known := targets{}
	roles := func(row string, list []guild.Role) {
		for _, r := range list {
			t := target{ID: string(r.ID), Name: &r.Name, Color: r.Color, Position: r.Position}
			known[targetKey{row, true, t.ID}], known[targetKey{"", true, t.ID}] = t, t
		}
	}
	for _, m := range g.Multipliers {
		roles(m.ID, m.Roles)
		for _, c := range m.Channels {
			t := target{ID: string(c.ID), Name: &c.Name, ParentID: c.ParentID, Position: c.Position, Type: c.Type}
			known[targetKey{m.ID, false, t.ID}], known[targetKey{"", false, t.ID}] = t, t
		}
	}
	for _, r := range g.RoleRewards {
		roles(r.ID, r.Roles)
	}
	return known
}

// read reads the lines of a row.
func (known targets) read(row string, roles bool, text string) []target {
	list := []target{}
	for _, written := range namedLines(text) {
		t, ok := known[targetKey{row, roles, written.ID}]
		if !ok {
			t = known[targetKey{"", roles, written.ID}]
		}
		t.ID = written.ID
		// A name that a line cannot hold as it is was not changed by having been shown on one.
		if name := written.Name; name != "" && (t.Name == nil || oneLine(*t.Name) != oneLine(name)) {
			t.Name = &name
		}
		list = append(list, t)
	}
	return list
}

// given is what the form sets, for settings.Propose, which judges it.
func (f settingsForm) given(g *guild.Guild) settings.Given {
	known := targetsOf(g)
	multipliers, rewards := []any{}, []any{}
	for _, m := range f.Multipliers {
		multipliers = append(multipliers, row(m.ID, map[string]any{
			"type": m.Type, "multiplier": asNumber(m.Multiplier), "targets": known.read(m.ID, m.Type == string(guild.RoleMultiplier), m.Targets),
		}))
	}
	for _, r := range f.Rewards {
		rewards = append(rewards, row(r.ID, map[string]any{"level": asNumber(r.Level), "stack": r.Stack, "roles": known.read(r.ID, true, r.Roles)}))
	}
	var vanity *string
	if v := strings.TrimSpace(f.Vanity); v != "" {
		vanity = &v
	}
	given := settings.Given{}
	for property, value := range map[string]any{
		"enabled": f.Enabled, "visibility": f.Visibility, "vanity": vanity, "curve": f.curve(), "xpGainInterval": asNumber(f.Interval),
		"xpPerMessageMin": asNumber(f.Min), "xpPerMessageMax": asNumber(f.Max), "xpGlobalMultiplier": asNumber(f.Global),
		"ignoredChannelIds": onlyIDs(f.IgnoredChannels), "ignoredRoleIds": onlyIDs(f.IgnoredRoles), "multipliers": multipliers, "roleRewards": rewards,
	} {
		given[property] = encode(value)
	}
	return given
}

// curve is a preset's name, or coefficients up to the last one that is not empty.
func (f settingsForm) curve() any {
	if f.Curve != ownCurve {
		return f.Curve
	}
	last := 0
	for i, c := range f.Coefficients {
		if strings.TrimSpace(c) != "" {
			last = i + 1
		}
	}
	list := []json.RawMessage{}
	for _, c := range f.Coefficients[:last] {
		list = append(list, asNumber(c))
	}
	return list
}

// row leaves a new row's id out, so that it gets one.
func row(id string, properties map[string]any) map[string]any {
	if id != "" {
		properties["id"] = id
	}
	return properties
}

// asNumber passes a number on as it was written, whole or not, so that only the document's own rules judge it; anything else
// becomes a string, which they refuse.
func asNumber(text string) json.RawMessage {
	text = strings.TrimSpace(text)
	if text != "" && strings.Trim(text, "0123456789.eE+-") == "" && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return encode(text)
}

// encode writes what has no way to fail: text, numbers, lists and maps of them.
func encode(value any) json.RawMessage {
	encoded, err := json.Marshal(value)
	if err != nil {
		return json.RawMessage("null")
	}
	return encoded
}

// onlyIDs are the ids of a text area whose names are not kept.
func onlyIDs(text string) []string {
	list := []string{}
	for _, written := range idsOfLines(text) {
		list = append(list, written.ID)
	}
	return list
}
