package guild_test

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
)

func roles(ids ...id.Role) []guild.Role {
	var list []guild.Role
	for _, r := range ids {
		list = append(list, guild.Role{ID: r})
	}
	return list
}

func TestRoleChangesFollowLevelsAndStacking(t *testing.T) {
	s := guild.Settings{RoleRewards: []guild.RoleReward{
		{Level: 2, Stack: true, Roles: roles("a", "b")},
		{Level: 5, Stack: false, Roles: roles("c", "a")},
		{Level: 5, Stack: true, Roles: roles("d")},
		{Level: 9, Stack: false, Roles: roles("e", "c")},
		{Level: 20, Stack: true, Roles: nil},
	}}
	type list = []id.Role
	for at, want := range map[level.Level][2]list{
		0:     {{}, {"a", "b", "c", "d", "e"}},
		1:     {{}, {"a", "b", "c", "d", "e"}},
		2:     {{"a", "b"}, {"c", "d", "e"}},
		4:     {{"a", "b"}, {"c", "d", "e"}},
		5:     {{"a", "b", "c", "d"}, {"e"}},   // both rewards of the level, a once
		9:     {{"a", "b", "d", "e", "c"}, {}}, // c by the new reward; the old one does not stack
		20:    {{"a", "b", "d"}, {"c", "e"}},   // the highest reward has no roles, but ends the one that does not stack
		10000: {{"a", "b", "d"}, {"c", "e"}},
	} {
		add, remove := s.RoleChanges(at)
		if !reflect.DeepEqual(add, want[0]) || !reflect.DeepEqual(remove, want[1]) {
			t.Errorf("at level %d the roles to add are %q and to remove %q, want %q", at, add, remove, want)
		}
	}
	if add, remove := (&guild.Settings{}).RoleChanges(5); add == nil || remove == nil || len(add)+len(remove) != 0 {
		t.Errorf("without rewards the roles to add are %#v and to remove %#v, want empty lists", add, remove)
	}
	zero := guild.Settings{RoleRewards: []guild.RoleReward{{Level: 0, Roles: roles("a")}}}
	if add, _ := zero.RoleChanges(0); !slices.Equal(add, list{"a"}) {
		t.Errorf("a reward at level 0 adds %q, want [a]", add)
	}
}

// With any rewards, every role is in exactly one list, once, in the order of the rewards. It is to be added if and only if a reward in
// force has it.
func TestRoleChangesListEveryRoleOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s guild.Settings
		at := level.Level(0)
		for range rapid.IntRange(0, 6).Draw(t, "rewards") {
			at += level.Level(rapid.IntRange(0, 2).Draw(t, "step"))
			s.RoleRewards = append(s.RoleRewards, guild.RoleReward{
				Level: at, Stack: rapid.Bool().Draw(t, "stack"),
				Roles: roles(rapid.SliceOfNDistinct(rapid.SampledFrom([]id.Role{"a", "b", "c", "d"}), 0, 3, rapid.ID).Draw(t, "roles")...),
			})
		}
		l := level.Level(rapid.IntRange(0, 12).Draw(t, "level"))
		add, remove := s.RoleChanges(l)

		inForce := func(r guild.RoleReward) bool {
			if r.Level > l {
				return false
			}
			for _, other := range s.RoleRewards {
				if other.Level <= l && other.Level > r.Level {
					return r.Stack
				}
			}
			return true
		}
		var wantAdd, wantRemove []id.Role
		for _, r := range s.RoleRewards {
			for _, role := range r.Roles {
				if inForce(r) && !slices.Contains(wantAdd, role.ID) {
					wantAdd = append(wantAdd, role.ID)
				}
			}
		}
		for _, r := range s.RoleRewards {
			for _, role := range r.Roles {
				if !slices.Contains(wantAdd, role.ID) && !slices.Contains(wantRemove, role.ID) {
					wantRemove = append(wantRemove, role.ID)
				}
			}
		}
		if !slices.Equal(add, wantAdd) || !slices.Equal(remove, wantRemove) {
			t.Fatalf("at level %d of %+v the roles to add are %q and to remove %q, want %q and %q", l, s.RoleRewards, add, remove, wantAdd, wantRemove)
		}
	})
}
