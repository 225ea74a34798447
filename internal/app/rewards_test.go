package app_test

import (
	"fmt"
	"testing"
)

var rewardCases = cases{
	"a level's roles":                     rolesByLevel,
	"without rewards there are no roles":  withoutRewards,
	"disabled and unknown guilds are 404": rewardsOfOtherGuilds,
}

// The roles of these tests.
const (
	roleA = "300000000000000001"
	roleB = "300000000000000002"
	roleC = "300000000000000003"
	roleD = "300000000000000004"
	roleE = "300000000000000005"
)

func reward(level int, stack any, roles ...string) object {
	described := make([]object, len(roles))
	for i, id := range roles {
		described[i] = object{"id": id, "name": "role", "color": nil, "position": 1}
	}
	r := object{"level": level, "roles": described}
	if stack != nil {
		r["stack"] = stack
	}
	return r
}

func rewardPath(g string, level int) string {
	return fmt.Sprintf("/v2/guilds/%s/role-rewards/level?level=%d&userId=%s", g, level, newID())
}

// wantRoles fails unless these roles change at a level.
func (s *service) wantRoles(key, g string, level int, add, remove []string) {
	s.t.Helper()
	got := s.Do("GET", rewardPath(g, level), key, nil).Want(s.t, 200)
	wantLimits(s.t, got)
	wantJSON(s.t, got, jsonText(s.t, object{"addRoles": add, "removeRoles": remove}))
}

type roles = []string

func rolesByLevel(t *testing.T, s *service) {
	g := s.guild(object{"roleRewards": []object{
		reward(5, nil, roleA, roleB), reward(10, false, roleC), reward(10, true, roleD), reward(20, true, roleE),
	}})
	key := s.reader(g)
	s.wantRoles(key, g, 0, roles{}, roles{roleA, roleB, roleC, roleD, roleE})
	s.wantRoles(key, g, 4, roles{}, roles{roleA, roleB, roleC, roleD, roleE})
	s.wantRoles(key, g, 5, roles{roleA, roleB}, roles{roleC, roleD, roleE})
	s.wantRoles(key, g, 9, roles{roleA, roleB}, roles{roleC, roleD, roleE})
	s.wantRoles(key, g, 10, roles{roleA, roleB, roleC, roleD}, roles{roleE})
	s.wantRoles(key, g, 19, roles{roleA, roleB, roleC, roleD}, roles{roleE})
	s.wantRoles(key, g, 20, roles{roleA, roleB, roleD, roleE}, roles{roleC})
	s.wantRoles(key, g, 10000, roles{roleA, roleB, roleD, roleE}, roles{roleC})

	s.admin("PUT", "/guilds/"+g, settings(object{"roleRewards": []object{reward(0, false, roleA), reward(1, false, roleB)}})).Want(t, 200)
	s.wantRoles(key, g, 0, roles{roleA}, roles{roleB})
	s.wantRoles(key, g, 1, roles{roleB}, roles{roleA})
}

func withoutRewards(_ *testing.T, s *service) {
	g := s.guild(nil)
	s.wantRoles(s.reader(g), g, 50, roles{}, roles{})
}

func rewardsOfOtherGuilds(t *testing.T, s *service) {
	disabled, other := s.guild(object{"enabled": false, "roleRewards": []object{reward(1, nil, roleA)}}), s.guild(nil)
	key := s.reader(disabled)
	s.wantRoles(key, disabled, 1, roles{roleA}, roles{})
	wantFailure(t, s.Do("GET", rewardPath(newID(), 1), key, nil), 404)
	wantFailure(t, s.Do("GET", rewardPath(other, 1), key, nil), 403)
}
