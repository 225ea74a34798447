package guild

import (
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
)

// RoleChanges returns the roles that a member at level l should have and should not have, without regard to those it has.
// add holds the roles of the rewards at the highest reward level up to l, and of every lower reward that stacks; remove
// all other roles of rewards. Both are in the order of the rewards, without duplicates, have no role in common, and are
// never nil.
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
