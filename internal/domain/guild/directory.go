package guild

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json"

	"levelboard/internal/domain/fault"
	"levelboard/internal/platform/strictjson"
)

// Directory is a guild's roles and channels, as its bot described them. Named copies their names into the settings.
type Directory struct {
	Roles    []Role    `json:"roles" items:"0..500"`
	Channels []Channel `json:"channels" items:"0..1000"`
}

// Description is a bot's description of its guild. Absent fields keep their value. A list replaces the previous one.
type Description struct {
	Name        strictjson.Optional[string]    `json:"name" bytes:"1..400"`
	Icon        strictjson.Optional[*string]   `json:"icon"`
	MemberCount strictjson.Optional[int]       `json:"memberCount" bounds:"1..2147483647"`
	Roles       strictjson.Optional[[]Role]    `json:"roles" items:"0..500"`
	Channels    strictjson.Optional[[]Channel] `json:"channels" items:"0..1000"`
}

// ParseDescription reads the body of a PUT of a directory. A client's mistake is a *fault.Error with code fault.Invalid that names the property.
func ParseDescription(body []byte) (given Description, err error) {
	if err := strictjson.Decode(body, &given); err != nil {
		return Description{}, err
	}
	var wrong fault.List
	if icon := given.Icon.Or(nil); icon != nil && !ValidHash(*icon) {
		wrong.Add(notIcon())
	}
	checkRoles(&wrong, "roles", given.Roles.Or(nil))
	checkChannels(&wrong, "channels", given.Channels.Or(nil))
	return given, wrong.Err()
}

// In returns the settings and the directory that result from the description. It does not change s and d.
func (given Description) In(s Settings, d Directory) (Settings, Directory) {
	s.Name, s.Icon, s.MemberCount = given.Name.Or(s.Name), given.Icon.Or(s.Icon), given.MemberCount.Or(s.MemberCount)
	d.Roles, d.Channels = given.Roles.Or(d.Roles), given.Channels.Or(d.Channels)
	return d.Named(s), d
}

// Named returns the settings with the directory's names for the roles and channels in multipliers and rewards. It does not change s.
func (d Directory) Named(s Settings) Settings {
	if len(d.Roles)+len(d.Channels) == 0 {
		return s
	}
	role, channel := byID(d.Roles, func(r Role) string { return string(r.ID) }), byID(d.Channels, func(c Channel) string { return string(c.ID) })
	s.Multipliers = each(s.Multipliers, func(m Multiplier) Multiplier {
		m.Roles, m.Channels = each(m.Roles, role), each(m.Channels, channel)
		return m
	})
	s.RoleRewards = each(s.RoleRewards, func(r RoleReward) RoleReward {
		r.Roles = each(r.Roles, role)
		return r
	})
	return s
}

// byID returns a function that maps an item to the list's item with the same id, or to itself if there is none.
func byID[T any](list []T, key func(T) string) func(T) T {
	known := make(map[string]T, len(list))
	for _, item := range list {
		known[key(item)] = item
	}
	return func(item T) T {
		if found, ok := known[key(item)]; ok {
			return found
		}
		return item
	}
}

func each[T any](list []T, change func(T) T) []T {
	if list == nil {
		return nil
	}
	changed := make([]T, len(list))
	for i, item := range list {
		changed[i] = change(item)
	}
	return changed
}

// SameDirectory reports whether two valid directories are equal, including the order of their lists.
func SameDirectory(a, b Directory) bool {
	one, err := MarshalDirectory(a)
	other, otherErr := MarshalDirectory(b)
	return err == nil && otherErr == nil && bytes.Equal(one, other)
}

// MarshalDirectory returns JSON for UnmarshalDirectory.
func MarshalDirectory(d Directory) ([]byte, error) { return json.Marshal(d) }

// UnmarshalDirectory reads what MarshalDirectory wrote, for the archives. Its error has no fault code.
func UnmarshalDirectory(encoded []byte) (d Directory, err error) {
	if err := strictjson.Decode(encoded, &d); err != nil {
		return Directory{}, fmt.Errorf("read an archived directory: %v", err)
	}
	return d, nil
}

func notIcon() *fault.Error { return fault.At("icon", "must be an icon hash (%s) or null", HashRule) }
