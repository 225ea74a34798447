package guild

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/platform/strictjson"
)

// document is a guild's settings in JSON, as the admin API takes and answers them and as the archives keep them.
type document struct {
	ID          strictjson.Optional[id.Guild]  `json:"id"`
	Name        string                         `json:"name" bytes:"1..400"`
	Icon        strictjson.Optional[*string]   `json:"icon"`
	MemberCount int                            `json:"memberCount" bounds:"1..2147483647"`
	OwnerID     id.User                        `json:"ownerId"`
	AdminIDs    strictjson.Optional[[]id.User] `json:"adminIds" items:"0..1000"`

	Enabled    strictjson.Optional[bool]           `json:"enabled"`
	Visibility strictjson.Optional[Visibility]     `json:"visibility"`
	Embedding  strictjson.Optional[bool]           `json:"embedding"`
	Vanity     strictjson.Optional[*string]        `json:"vanity"`
	Curve      strictjson.Optional[jsontext.Value] `json:"curve"` // a preset's name, or coefficients

	XPGainInterval     strictjson.Optional[int64]   `json:"xpGainInterval" bounds:"10000..86400000"`
	XPPerMessageMin    strictjson.Optional[int]     `json:"xpPerMessageMin" bounds:"1..1000"`
	XPPerMessageMax    strictjson.Optional[int]     `json:"xpPerMessageMax" bounds:"1..1000"`
	XPGlobalMultiplier strictjson.Optional[float64] `json:"xpGlobalMultiplier" bounds:"0..5"`

	IgnoredChannelIDs strictjson.Optional[[]id.Channel]         `json:"ignoredChannelIds" items:"0..1000"`
	IgnoredRoleIDs    strictjson.Optional[[]id.Role]            `json:"ignoredRoleIds" items:"0..1000"`
	IgnoredUserIDs    strictjson.Optional[[]id.User]            `json:"ignoredUserIds" items:"0..1000"`
	Multipliers       strictjson.Optional[[]multiplierDocument] `json:"multipliers" items:"0..250"`
	RoleRewards       strictjson.Optional[[]rewardDocument]     `json:"roleRewards" items:"0..250"`

	TimeZone strictjson.Optional[string]           `json:"timeZone" bytes:"1..64"`
	Periods  strictjson.Optional[[]period.Kind]    `json:"periods" items:"0..3"`
	Seasons  strictjson.Optional[[]seasonDocument] `json:"seasons" items:"0..50"`

	AuditIncrementsFrom strictjson.Optional[int64] `json:"auditIncrementsFrom" bounds:"0..2147483647"`
}

type multiplierDocument struct {
	ID         strictjson.Optional[string] `json:"id"`
	Type       MultiplierType              `json:"type"`
	Multiplier float64                     `json:"multiplier" bounds:"0..5"`
	Targets    jsontext.Value              `json:"targets"` // of roles or channels, as type says
}

type channelDocument struct {
	ID       id.Channel                       `json:"id"`
	Name     string                           `json:"name" bytes:"1..400"`
	ParentID strictjson.Optional[*id.Channel] `json:"parentId"`
	Position strictjson.Optional[int]         `json:"position" bounds:"0..2147483647"`
	Type     strictjson.Optional[int]         `json:"type" bounds:"0..2147483647"`
}

type roleDocument struct {
	ID       id.Role                   `json:"id"`
	Name     string                    `json:"name" bytes:"1..400"`
	Color    strictjson.Optional[*int] `json:"color" bounds:"0..16777215"`
	Position strictjson.Optional[int]  `json:"position" bounds:"0..2147483647"`
}

type rewardDocument struct {
	ID    strictjson.Optional[string] `json:"id"`
	Level int                         `json:"level" bounds:"0..10000"`
	Stack strictjson.Optional[bool]   `json:"stack"`
	Roles []roleDocument              `json:"roles" items:"0..500"`
}

// Same reports whether two valid settings are the same document.
func Same(a, b Settings) bool {
	one, err := Marshal(a)
	other, otherErr := Marshal(b)
	return err == nil && otherErr == nil && bytes.Equal(one, other)
}

// Marshal returns the JSON document of valid settings, with every property present and the guild's id, so that Parse and
// Unmarshal give equal settings back.
func Marshal(s Settings) ([]byte, error) {
	curve, err := marshalCurve(s.Curve)
	if err != nil {
		return nil, fmt.Errorf("marshal the curve of guild %s: %w", s.ID, err)
	}
	multipliers := make([]multiplierDocument, len(s.Multipliers))
	for i, m := range s.Multipliers {
		if multipliers[i], err = marshalMultiplier(m); err != nil {
			return nil, fmt.Errorf("marshal multiplier %d of guild %s: %w", i, s.ID, err)
		}
	}
	rewards := make([]rewardDocument, len(s.RoleRewards))
	for i, r := range s.RoleRewards {
		rewards[i] = rewardDocument{
			ID: strictjson.Some(r.ID), Level: int(r.Level), Stack: strictjson.Some(r.Stack), Roles: roleDocuments(r.Roles),
		}
	}
	var vanity *string
	if s.Vanity != "" {
		vanity = &s.Vanity
	}
	encoded, err := json.Marshal(document{
		ID:                 strictjson.Some(s.ID),
		Name:               s.Name,
		Icon:               strictjson.Some(s.Icon),
		MemberCount:        s.MemberCount,
		OwnerID:            s.OwnerID,
		AdminIDs:           strictjson.Some(s.AdminIDs),
		Enabled:            strictjson.Some(s.Enabled),
		Visibility:         strictjson.Some(s.Visibility),
		Embedding:          strictjson.Some(s.Embedding),
		Vanity:             strictjson.Some(vanity),
		Curve:              strictjson.Some(curve),
		XPGainInterval:     strictjson.Some(s.XPGainInterval),
		XPPerMessageMin:    strictjson.Some(s.XPPerMessageMin),
		XPPerMessageMax:    strictjson.Some(s.XPPerMessageMax),
		XPGlobalMultiplier: strictjson.Some(s.XPGlobalMultiplier),
		IgnoredChannelIDs:  strictjson.Some(s.IgnoredChannelIDs),
		IgnoredRoleIDs:     strictjson.Some(s.IgnoredRoleIDs),
		IgnoredUserIDs:     strictjson.Some(s.IgnoredUserIDs),
		Multipliers:        strictjson.Some(multipliers),
		RoleRewards:        strictjson.Some(rewards),
		TimeZone:           strictjson.Some(cmp.Or(s.TimeZone, defaultTimeZone)),
		Periods:            strictjson.Some(s.Periods),
		Seasons:            strictjson.Some(seasonDocuments(s.Seasons)),

		AuditIncrementsFrom: strictjson.Some(int64(s.AuditIncrementsFrom)),
	})
	if err != nil {
		return nil, fmt.Errorf("marshal guild %s: %w", s.ID, err)
	}
	return encoded, nil
}

// Unmarshal reads a document that Marshal made, for the archives. Its error is never a client's fault, so it carries no
// fault code.
func Unmarshal(encoded []byte) (Settings, error) {
	var d document
	if err := strictjson.Decode(encoded, &d); err != nil {
		return Settings{}, fmt.Errorf("read an archived guild: %v", err)
	}
	gid, ok := d.ID.Get()
	if !ok || !id.Valid(string(gid)) {
		return Settings{}, fmt.Errorf("read an archived guild: its id %q is not valid", gid)
	}
	s, err := d.settings(gid)
	if err != nil {
		return Settings{}, fmt.Errorf("read archived guild %s: %v", gid, err)
	}
	return s, nil
}

func marshalMultiplier(m Multiplier) (multiplierDocument, error) {
	var targets any
	if m.Type == RoleMultiplier {
		targets = roleDocuments(m.Roles)
	} else {
		targets = channelDocuments(m.Channels)
	}
	encoded, err := json.Marshal(targets)
	return multiplierDocument{ID: strictjson.Some(m.ID), Type: m.Type, Multiplier: m.Multiplier, Targets: encoded}, err
}

func channelDocuments(channels []Channel) []channelDocument {
	list := make([]channelDocument, len(channels))
	for i, c := range channels {
		list[i] = channelDocument{
			ID: c.ID, Name: c.Name, ParentID: strictjson.Some(c.ParentID),
			Position: strictjson.Some(c.Position), Type: strictjson.Some(c.Type),
		}
	}
	return list
}

func roleDocuments(roles []Role) []roleDocument {
	list := make([]roleDocument, len(roles))
	for i, r := range roles {
		list[i] = roleDocument{ID: r.ID, Name: r.Name, Color: strictjson.Some(r.Color), Position: strictjson.Some(r.Position)}
	}
	return list
}

const curveForms = "must be the name of a preset (default, amari or mee6) or an array of 2 to 5 coefficients"

// parseCurve reads the document's curve: a preset's name, or coefficients.
func parseCurve(value jsontext.Value) (level.Curve, error) {
	switch value.Kind() {
	case '"':
		var name string
		if err := strictjson.DecodeAt("curve", value, &name); err != nil {
			return level.Curve{}, err
		}
		c, ok := level.Preset(name)
		if !ok {
			return level.Curve{}, fault.At("curve", curveForms)
		}
		return c, nil
	case '[':
		coefficients, err := strictjson.List[float64]("curve", value, level.MinCoefficients, level.MaxCoefficients)
		if err != nil {
			return level.Curve{}, err
		}
		c, err := level.NewCurve(coefficients)
		if err != nil {
			return level.Curve{}, &fault.Error{Code: fault.Invalid, Path: "curve", Message: err.Error()}
		}
		return c, nil
	}
	return level.Curve{}, fault.At("curve", curveForms)
}

func marshalCurve(c level.Curve) (jsontext.Value, error) {
	if name, ok := c.PresetName(); ok {
		return json.Marshal(name)
	}
	return json.Marshal(c.Coefficients())
}
