package guild

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
)

// Incarnation tells one creation of a guild from another, so that the past of a deleted guild
// never returns. The archive makes this random positive number when it creates the guild.
type Incarnation int64

// Guild is a guild as the archive holds it.
type Guild struct {
	Settings
	Incarnation Incarnation
	// Version is the number of the change (package changes) that last touched the settings or the hidden users. It rises with every change.
	Version int64
	// Edited is the number of the last change that was not by a Description.
	Edited int64
	// Hidden is the number of the last change of hidden users; 0 if there was none.
	Hidden int64
}

// Cooldown returns how long a member gains nothing after a message that gave XP.
func (s *Settings) Cooldown() time.Duration {
	return time.Duration(s.XPGainInterval) * time.Millisecond
}

// IsManager reports whether user is the guild's owner or one of its Administrators.
func (s *Settings) IsManager(user id.User) bool {
	return user != "" && (user == s.OwnerID || slices.Contains(s.AdminIDs, user))
}

// Errors of the archives that hold guilds.
var (
	// ErrNotFound says that the guild does not exist.
	ErrNotFound = errors.New("guild does not exist")
	// ErrVanityTaken says that another guild has the vanity. Nothing was changed.
	ErrVanityTaken = errors.New("vanity belongs to another guild")
	// ErrSeasonClosed says that the change would move the dates of a closed season. Nothing was changed.
	ErrSeasonClosed = errors.New("the dates of a season that has closed cannot change")
	// ErrTooLong says that the names of the directory would make a guild's document longer than MaxDocument. Nothing was changed.
	ErrTooLong = errors.New("settings are too long with the names of the directory")
	// ErrChanged says that the settings were changed since they were read. Nothing was changed now.
	ErrChanged = errors.New("settings were changed since they were read")
)

// NewIncarnation returns a random positive number, so that no two creations of a guild have the same.
func NewIncarnation() Incarnation {
	for {
		var b [8]byte
		rand.Read(b[:]) // never fails
		if n := Incarnation(binary.LittleEndian.Uint64(b[:]) >> 1); n != 0 {
			return n
		}
	}
}

// RoleChanges returns the roles that a member at level l should and should not have. It does not know which ones
// the member has. add are the roles of the highest reward up to l and of all lower ones that stack; remove are
// all other roles of rewards. Both are in the order of the rewards, without duplicates, disjoint and never nil.
func (s *Settings) RoleChanges(l level.Level) (add, remove []id.Role) {
	highest := level.Level(-1)
	for _, r := range s.RoleRewards {
		if r.Level <= l {
			highest = max(highest, r.Level)
		}
	}
	add, remove = []id.Role{}, []id.Role{}
	earned := make(map[id.Role]bool)
	for _, r := range s.RoleRewards {
		if r.Level == highest || (r.Level < highest && r.Stack) {
			add = appendRoles(add, r.Roles, earned)
		}
	}
	for _, r := range s.RoleRewards {
		remove = appendRoles(remove, r.Roles, earned)
	}
	return add, remove
}

// SameRoles reports whether s and o give the same level and the same roles for every amount of XP.
func (s *Settings) SameRoles(o *Settings) bool {
	return s.Curve.Equal(o.Curve) && slices.EqualFunc(s.RoleRewards, o.RoleRewards, func(a, b RoleReward) bool {
		return a.Level == b.Level && a.Stack == b.Stack && slices.EqualFunc(a.Roles, b.Roles, func(a, b Role) bool { return a.ID == b.ID })
	})
}

// HasRewardAt reports whether there is a reward at level l.
func (s *Settings) HasRewardAt(l level.Level) bool {
	return slices.ContainsFunc(s.RoleRewards, func(r RoleReward) bool { return r.Level == l })
}

// RewardRoles returns the roles of all rewards, in their order, without duplicates, never nil. A member who has left should have none of them.
func (s *Settings) RewardRoles() []id.Role {
	roles, seen := []id.Role{}, make(map[id.Role]bool)
	for _, r := range s.RoleRewards {
		roles = appendRoles(roles, r.Roles, seen)
	}
	return roles
}

// appendRoles appends the roles that are not in seen, and adds them to seen.
func appendRoles(to []id.Role, roles []Role, seen map[id.Role]bool) []id.Role {
	for _, r := range roles {
		if !seen[r.ID] {
			seen[r.ID] = true
			to = append(to, r.ID)
		}
	}
	return to
}
