package guild

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/platform/strictjson"
)

// MaxDocument is how many bytes a guild's document may have, with its defaults filled in.
const MaxDocument = 64 << 10

// The defaults of the properties that a document may leave out.
const (
	defaultXPGainInterval  = 60000
	defaultXPPerMessageMin = 15
	defaultXPPerMessageMax = 40
	defaultMultiplier      = 1

	defaultAuditIncrementsFrom = 1000
)

// ErrCrossed is the cause of the fault that Parse returns when a message may give less than xpPerMessageMin and more than
// xpPerMessageMax only.
var ErrCrossed = errors.New("the least XP for a message is above the most")

// Parse reads and validates the settings of guild gid from a document of the admin API. What is left out gets its default, rows without an id
// a new UUID; empty lists are nil. A client's mistake is a *fault.Error that names the property: fault.Invalid, or fault.TooLarge when the
// document with its defaults is longer than MaxDocument.
func Parse(gid id.Guild, body []byte) (Settings, error) {
	var d document
	if err := strictjson.Decode(body, &d); err != nil {
		return Settings{}, err
	}
	if given, ok := d.ID.Get(); ok && given != gid {
		return Settings{}, fault.At("id", "must equal the id of the path, %s; leave it out or correct it", gid)
	}
	s, err := d.settings(gid)
	if err != nil {
		return Settings{}, err
	}
	// Archived settings are not held to this: services of earlier versions took them.
	if err := checkMultipliedOnce(s.Multipliers); err != nil {
		return Settings{}, err
	}
	full, err := Marshal(s)
	if err != nil {
		return Settings{}, err
	}
	if len(full) > MaxDocument {
		return Settings{}, fault.New(fault.TooLarge,
			"The guild's settings are %d bytes with their defaults filled in; they must be at most %d. Shorten the lists.", len(full), MaxDocument)
	}
	return s, nil
}

func (d *document) settings(gid id.Guild) (Settings, error) {
	s := Settings{
		ID:                 gid,
		Name:               d.Name,
		Icon:               d.Icon.Or(nil),
		MemberCount:        d.MemberCount,
		OwnerID:            d.OwnerID,
		Enabled:            d.Enabled.Or(true),
		Visibility:         d.Visibility.Or(Public),
		Embedding:          d.Embedding.Or(false),
		XPGainInterval:     d.XPGainInterval.Or(defaultXPGainInterval),
		XPPerMessageMin:    d.XPPerMessageMin.Or(defaultXPPerMessageMin),
		XPPerMessageMax:    d.XPPerMessageMax.Or(defaultXPPerMessageMax),
		XPGlobalMultiplier: d.XPGlobalMultiplier.Or(defaultMultiplier),

		AuditIncrementsFrom: level.XP(d.AuditIncrementsFrom.Or(defaultAuditIncrementsFrom)),
	}
	if s.Icon != nil && !ValidHash(*s.Icon) {
		return Settings{}, notIcon()
	}
	if !id.Valid(string(s.OwnerID)) {
		return Settings{}, notSnowflake("ownerId")
	}
	if s.Visibility != Public && s.Visibility != Private {
		return Settings{}, fault.At("visibility", "must be %q or %q", Public, Private)
	}
	if s.XPPerMessageMin > s.XPPerMessageMax {
		return Settings{}, fault.At("xpPerMessageMin", "must not be above xpPerMessageMax, but %d is above %d; set both", s.XPPerMessageMin, s.XPPerMessageMax).
			Because(ErrCrossed)
	}
	var err error
	if vanity := d.Vanity.Or(nil); vanity != nil {
		if s.Vanity, err = ParseVanity(*vanity); err != nil {
			return Settings{}, err
		}
	}
	if curve, ok := d.Curve.Get(); ok {
		if s.Curve, err = parseCurve(curve); err != nil {
			return Settings{}, err
		}
	}
	if err := d.lists(&s); err != nil {
		return Settings{}, err
	}
	if err := d.calendar(&s); err != nil {
		return Settings{}, err
	}
	return s, nil
}

func (d *document) lists(s *Settings) (err error) {
	if s.AdminIDs, err = snowflakes("adminIds", d.AdminIDs.Or(nil)); err != nil {
		return err
	}
	if s.IgnoredChannelIDs, err = snowflakes("ignoredChannelIds", d.IgnoredChannelIDs.Or(nil)); err != nil {
		return err
	}
	if s.IgnoredRoleIDs, err = snowflakes("ignoredRoleIds", d.IgnoredRoleIDs.Or(nil)); err != nil {
		return err
	}
	if s.IgnoredUserIDs, err = snowflakes("ignoredUserIds", d.IgnoredUserIDs.Or(nil)); err != nil {
		return err
	}
	if s.Multipliers, err = parseMultipliers(d.Multipliers.Or(nil)); err != nil {
		return err
	}
	s.RoleRewards, err = parseRewards(d.RoleRewards.Or(nil))
	return err
}

func parseMultipliers(documents []multiplierDocument) ([]Multiplier, error) {
	ids := make(uuids)
	var list []Multiplier
	for i, d := range documents {
		path := fmt.Sprintf("multipliers[%d]", i)
		m := Multiplier{Type: d.Type, Multiplier: d.Multiplier}
		var err error
		if m.ID, err = ids.take(path+".id", d.ID); err != nil {
			return nil, err
		}
		switch d.Type {
		case ChannelMultiplier:
			var channels []channelDocument
			if channels, err = strictjson.List[channelDocument](path+".targets", d.Targets, 0, maxTargets); err == nil {
				m.Channels, err = parseChannels(path+".targets", channels)
			}
		case RoleMultiplier:
			var roles []roleDocument
			if roles, err = strictjson.List[roleDocument](path+".targets", d.Targets, 0, maxTargets); err == nil {
				m.Roles, err = parseRoles(path+".targets", roles)
			}
		default:
			err = fault.At(path+".type", "must be %q or %q", ChannelMultiplier, RoleMultiplier)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// checkMultipliedOnce checks that no two multipliers name the same channel or the same role.
func checkMultipliedOnce(list []Multiplier) error {
	channels, roles := make(map[id.Channel]int), make(map[id.Role]int)
	for i, m := range list {
		for j, c := range m.Channels {
			if err := checkMultiplied(i, j, c.ID, channels); err != nil {
				return err
			}
		}
		for j, r := range m.Roles {
			if err := checkMultiplied(i, j, r.ID, roles); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkMultiplied[T ~string](multiplier, target int, named T, in map[T]int) error {
	if other, ok := in[named]; ok {
		return fault.At(fmt.Sprintf("multipliers[%d].targets[%d].id", multiplier, target), "repeats %s of multipliers[%d]; remove one of them", named, other)
	}
	in[named] = multiplier
	return nil
}

func parseRewards(documents []rewardDocument) ([]RoleReward, error) {
	ids := make(uuids)
	var list []RoleReward
	for i, d := range documents {
		path := fmt.Sprintf("roleRewards[%d]", i)
		r := RoleReward{Level: level.Level(d.Level), Stack: d.Stack.Or(true)}
		var err error
		if r.ID, err = ids.take(path+".id", d.ID); err != nil {
			return nil, err
		}
		if r.Roles, err = parseRoles(path+".roles", d.Roles); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	slices.SortStableFunc(list, func(a, b RoleReward) int { return cmp.Compare(a.Level, b.Level) })
	return list, nil
}

// maxTargets is how many channels or roles a multiplier may have, as many as a role reward has roles.
const maxTargets = 500

func parseChannels(path string, documents []channelDocument) ([]Channel, error) {
	seen := make(map[id.Channel]bool)
	var list []Channel
	for i, d := range documents {
		at := fmt.Sprintf("%s[%d]", path, i)
		if err := checkOnce(at+".id", d.ID, seen); err != nil {
			return nil, err
		}
		parent := d.ParentID.Or(nil)
		if parent != nil && !id.Valid(string(*parent)) {
			return nil, fault.At(at+".parentId", "must be a snowflake (17 to 19 digits, the first not 0) or null")
		}
		list = append(list, Channel{ID: d.ID, Name: d.Name, ParentID: parent, Position: d.Position.Or(0), Type: d.Type.Or(0)})
	}
	return list, nil
}

func parseRoles(path string, documents []roleDocument) ([]Role, error) {
	seen := make(map[id.Role]bool)
	var list []Role
	for i, d := range documents {
		if err := checkOnce(fmt.Sprintf("%s[%d].id", path, i), d.ID, seen); err != nil {
			return nil, err
		}
		list = append(list, Role{ID: d.ID, Name: d.Name, Color: d.Color.Or(nil), Position: d.Position.Or(0)})
	}
	return list, nil
}

// snowflakes checks a list of ids: each a snowflake, none twice. An empty list becomes nil.
func snowflakes[T ~string](path string, list []T) ([]T, error) {
	seen := make(map[T]bool)
	for i, s := range list {
		if err := checkOnce(fmt.Sprintf("%s[%d]", path, i), s, seen); err != nil {
			return nil, err
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	return list, nil
}

// checkOnce checks that s is a snowflake that was not seen before.
func checkOnce[T ~string](path string, s T, seen map[T]bool) error {
	if !id.Valid(string(s)) {
		return notSnowflake(path)
	}
	if seen[s] {
		return fault.At(path, "repeats %s; remove one of them", s)
	}
	seen[s] = true
	return nil
}

func notSnowflake(path string) error {
	return fault.At(path, "must be a snowflake: a string of 17 to 19 digits, the first not 0").Because(id.ErrSnowflake)
}

// uuids are the ids given in one list so far.
type uuids map[uuid.UUID]bool

// take returns the id that was given, as it was written, or a new one.
func (u uuids) take(path string, given strictjson.Optional[string]) (string, error) {
	text, ok := given.Get()
	if !ok {
		text = uuid.NewString()
	}
	parsed, err := uuid.Parse(text)
	if err != nil || len(text) != len(parsed.String()) {
		return "", fault.At(path, "must be a UUID, such as 6ba7b810-9dad-41d1-80b4-00c04fd430c8; leave it out to get a new one")
	}
	if u[parsed] {
		return "", fault.At(path, "repeats an id of the same list; leave it out to get a new one")
	}
	u[parsed] = true
	return text, nil
}
