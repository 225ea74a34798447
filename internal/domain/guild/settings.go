package guild

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/platform/strictjson"
)

// Settings is a guild's document: everything that can be set for a guild, as the API and the archives have it. It is valid if it came from
// Parse or an archive. Its tags hold what strictjson checks, the method check the other rules, and Defaults the values of absent properties.
type Settings struct {
	ID          id.Guild  `json:"id" optional:"true"`
	Name        string    `json:"name" bytes:"1..400"`
	Icon        *string   `json:"icon" optional:"true"`               // icon hash
	MemberCount int       `json:"memberCount" bounds:"1..2147483647"` // of the community, not of the board
	OwnerID     id.User   `json:"ownerId"`                            //
	AdminIDs    []id.User `json:"adminIds" optional:"true" items:"0..1000"`

	Enabled    bool       `json:"enabled" optional:"true"`
	Visibility Visibility `json:"visibility" optional:"true"`
	Embedding  bool       `json:"embedding" optional:"true"`          // other sites may frame the top of the board while the board is public
	Vanity     Vanity     `json:"vanity" optional:"true" null:"true"` // empty if there is none

	Curve              level.Curve `json:"curve" optional:"true" items:"2..5"`
	XPGainInterval     int64       `json:"xpGainInterval" optional:"true" bounds:"10000..86400000"` // cooldown in milliseconds
	XPPerMessageMin    int         `json:"xpPerMessageMin" optional:"true" bounds:"1..1000"`
	XPPerMessageMax    int         `json:"xpPerMessageMax" optional:"true" bounds:"1..1000"`
	XPGlobalMultiplier float64     `json:"xpGlobalMultiplier" optional:"true" bounds:"0..5"`

	IgnoredChannelIDs []id.Channel `json:"ignoredChannelIds" optional:"true" items:"0..1000"`
	IgnoredRoleIDs    []id.Role    `json:"ignoredRoleIds" optional:"true" items:"0..1000"`
	IgnoredUserIDs    []id.User    `json:"ignoredUserIds" optional:"true" items:"0..1000"`
	Multipliers       []Multiplier `json:"multipliers" optional:"true" items:"0..250"`
	RoleRewards       []RoleReward `json:"roleRewards" optional:"true" items:"0..250"` // in the order of their levels

	TimeZone string          `json:"timeZone" optional:"true" bytes:"1..64"` // of IANA
	Periods  []period.Kind   `json:"periods" optional:"true" items:"0..3"`   // the kinds whose gains are counted; never period.Seasonal
	Seasons  []period.Season `json:"seasons" optional:"true" items:"0..50"`  // in the order in which they were sent; they do not overlap

	Announcements []announcement.Announcement `json:"announcements" optional:"true" items:"0..10"`

	// AuditIncrementsFrom is the least XP of an increment that is recorded in the audit log; 0 records all.
	AuditIncrementsFrom level.XP `json:"auditIncrementsFrom" optional:"true" bounds:"0..2147483647"`
}

// Defaults returns the values of the properties that a guild's document may leave out.
func Defaults(g id.Guild) Settings {
	return Settings{
		ID: g, Enabled: true, Visibility: Public, XPGainInterval: 60000, XPPerMessageMin: 15, XPPerMessageMax: 40, XPGlobalMultiplier: 1,
		TimeZone: "UTC", AuditIncrementsFrom: 1000,
	}
}

// Visibility says who may read a guild's leaderboard.
type Visibility string

// The visibilities.
const (
	Public  Visibility = "public"
	Private Visibility = "private"
)

// UnmarshalText reads one of the visibilities.
func (v *Visibility) UnmarshalText(text []byte) error {
	if *v = Visibility(text); *v != Public && *v != Private {
		return fmt.Errorf("must be %q or %q", Public, Private)
	}
	return nil
}

// UUID identifies a row in a list of the settings. It keeps the case in which it was written.
type UUID string

// UnmarshalText reads a UUID in its usual form.
func (u *UUID) UnmarshalText(text []byte) error {
	parsed, err := uuid.ParseBytes(text)
	if err != nil || len(text) != len(parsed.String()) {
		return errors.New("must be a UUID, such as 6ba7b810-9dad-41d1-80b4-00c04fd430c8; leave it out to get a new one")
	}
	*u = UUID(text)
	return nil
}

// MultiplierType says what a multiplier applies to.
type MultiplierType string

// The types of multipliers.
const (
	ChannelMultiplier MultiplierType = "Channel"
	RoleMultiplier    MultiplierType = "Role"
)

// UnmarshalText reads one of the types.
func (t *MultiplierType) UnmarshalText(text []byte) error {
	if *t = MultiplierType(text); *t != ChannelMultiplier && *t != RoleMultiplier {
		return fmt.Errorf("must be %q or %q", ChannelMultiplier, RoleMultiplier)
	}
	return nil
}

// Multiplier scales the XP of messages in its channels or by members with its roles.
type Multiplier struct {
	ID         UUID
	Type       MultiplierType
	Multiplier float64
	Channels   []Channel // when Type is ChannelMultiplier
	Roles      []Role    // when Type is RoleMultiplier
}

// ReadJSON reads a multiplier, whose targets are channels or roles as its type says.
func (m *Multiplier) ReadJSON(v strictjson.Value) error {
	var row struct {
		ID         UUID             `json:"id" optional:"true"`
		Type       MultiplierType   `json:"type"`
		Multiplier float64          `json:"multiplier" bounds:"0..5"`
		Targets    strictjson.Value `json:"targets" items:"0..500"`
	}
	err := v.Decode(&row)
	m.ID, m.Type, m.Multiplier = row.ID, row.Type, row.Multiplier
	if row.Type == RoleMultiplier {
		return cmp.Or(err, row.Targets.Decode(&m.Roles))
	}
	return cmp.Or(err, row.Targets.Decode(&m.Channels))
}

// MarshalJSON writes JSON for ReadJSON.
func (m Multiplier) MarshalJSON() ([]byte, error) {
	row := struct {
		ID         UUID           `json:"id"`
		Type       MultiplierType `json:"type"`
		Multiplier float64        `json:"multiplier"`
		Targets    any            `json:"targets"`
	}{m.ID, m.Type, m.Multiplier, m.Channels}
	if m.Type == RoleMultiplier {
		row.Targets = m.Roles
	}
	return json.Marshal(row)
}

// Channel is a channel as it was described when the settings were saved.
type Channel struct {
	ID       id.Channel  `json:"id"`
	Name     string      `json:"name" bytes:"1..400"`
	ParentID *id.Channel `json:"parentId" optional:"true"`
	Position int         `json:"position" optional:"true" bounds:"0..2147483647"`
	Type     int         `json:"type" optional:"true" bounds:"0..2147483647"`
}

// Role is a role as it was described when the settings were saved.
type Role struct {
	ID       id.Role `json:"id"`
	Name     string  `json:"name" bytes:"1..400"`
	Color    *int    `json:"color" optional:"true" bounds:"0..16777215"`
	Position int     `json:"position" optional:"true" bounds:"0..2147483647"`
}

// RoleReward gives roles to members that reach a level.
type RoleReward struct {
	ID    UUID        `json:"id" optional:"true"`
	Level level.Level `json:"level" bounds:"0..10000"`
	Stack bool        `json:"stack" optional:"true"` // members keep the roles when they reach a higher reward
	Roles []Role      `json:"roles" items:"0..250"`
}

// SetDefaults sets the values of properties that a reward may leave out.
func (r *RoleReward) SetDefaults() { r.Stack = true }
