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

// Incarnation tells one creation of a guild from another, so that the past of a deleted guild never returns. It is a
// random positive number, made by the archive when the guild is created.
type Incarnation int64

// Guild is a guild as the archive holds it.
type Guild struct {
	Settings
	Incarnation Incarnation
	// Version is the number of the change (package changes) that last touched the settings or the hidden users. It rises with every change.
	Version int64
	// Edited is the number of the last change that was none of the guild's Description.
	Edited int64
	// Hidden is the number of the last change of hidden users; 0 if there was none.
	Hidden int64
}

// Cooldown is how long a member gains nothing after a message that gave XP.
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
	// ErrVanityTaken says that another guild has the vanity, and that nothing was changed.
	ErrVanityTaken = errors.New("vanity belongs to another guild")
	// ErrSeasonClosed says that a season has closed whose dates would change, and that nothing was changed.
	ErrSeasonClosed = errors.New("the dates of a season that has closed cannot change")
	// ErrTooLong says that a guild's document would be longer than MaxDocument with the names of its directory, and that nothing was changed.
	ErrTooLong = errors.New("settings are too long with the names of the directory")
	// ErrChanged says that the settings were changed since they were read, and that nothing was changed now.
	ErrChanged = errors.New("settings were changed since they were read")
)

// NewIncarnation returns a random positive number that no other creation of a guild has.
func NewIncarnation() Incarnation {
	for {
		var b [8]byte
		rand.Read(b[:]) // never fails
		if n := Incarnation(binary.LittleEndian.Uint64(b[:]) >> 1); n != 0 {
			return n
		}
	}
}

// RoleChanges returns the roles that a member at level l should and should not have, whatever it has. add are the roles of the highest
// reward up to l and of every lower one that stacks; remove are all other roles of rewards. Both are in the order of the rewards, without
// duplicates, disjoint and never nil.
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

// SameRoles reports whether each amount of XP has the same level and the same roles by both.
func (s *Settings) SameRoles(o *Settings) bool {
	return s.Curve.Equal(o.Curve) && slices.EqualFunc(s.RoleRewards, o.RoleRewards, func(a, b RoleReward) bool {
		return a.Level == b.Level && a.Stack == b.Stack && slices.EqualFunc(a.Roles, b.Roles, func(a, b Role) bool { return a.ID == b.ID })
	})
}

// HasRewardAt reports whether there is a reward at level l.
func (s *Settings) HasRewardAt(l level.Level) bool {
	return slices.ContainsFunc(s.RoleRewards, func(r RoleReward) bool { return r.Level == l })
}

// RewardRoles returns all roles of rewards, in their order, without duplicates and never nil: the roles that a member who has left should not have.
func (s *Settings) RewardRoles() []id.Role {
	roles, seen := []id.Role{}, make(map[id.Role]bool)
	for _, r := range s.RoleRewards {
		roles = appendRoles(roles, r.Roles, seen)
	}
	return roles
}

// appendRoles appends the roles that are not in seen, and puts them there.
func appendRoles(to []id.Role, roles []Role, seen map[id.Role]bool) []id.Role {
	for _, r := range roles {
		if !seen[r.ID] {
			seen[r.ID] = true
			to = append(to, r.ID)
		}
	}
	return to
}
