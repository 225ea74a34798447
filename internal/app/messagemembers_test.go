package app_test

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func levelsAndRoles(t *testing.T, s *service) {
	g := s.guild(exactly(1000, object{"roleRewards": []object{
		reward(1, true, roleA), reward(2, false, roleB), reward(5, true, roleC, roleD), reward(6, true, roleE),
	}}))
	key := s.key(g)
	several, one, none, fresh := newID(), newID(), newID(), newID()
	s.create(key, g, several, 90)
	s.create(key, g, one, 900)
	s.create(key, g, none, 490150)
	got := s.award(key, g, message(several, nil), message(several, nil), message(one, nil), message(none, nil), message(fresh, nil))
	want := []result{
		{several, 1000, 1090, 5, 1, true, []string{roleA, roleC, roleD}, []string{roleB, roleE}}, // from level 0
		{several, 0, 1090, 5, 2, false, []string{}, []string{}},
		{one, 1000, 1900, 7, 1, true, []string{roleA, roleC, roleD, roleE}, []string{roleB}},
		{none, 1000, 491150, 100, 1, false, []string{}, []string{}},
		{fresh, 1000, 1000, 5, 1, true, []string{roleA, roleC, roleD}, []string{roleB, roleE}},
	}
	for i := range want {
		if fmt.Sprintf("%+v", got[i]) != fmt.Sprintf("%+v", want[i]) {
			t.Errorf("result %d is\n%+v, want\n%+v", i, got[i], want[i])
		}
		if got[i].AddRoles == nil || got[i].RemoveRoles == nil {
			t.Errorf("the roles of result %d are null, want lists", i)
		}
	}
	// The endpoint for a level has the same roles.
	s.wantRoles(key, g, 5, want[0].AddRoles, want[0].RemoveRoles)
}

func messagesOfNewMembers(t *testing.T, s *service) {
	g := s.guild(exactly(20, object{"multipliers": []object{channelMultiplier(0, chanA)}, "roleRewards": []object{reward(0, true, roleA), reward(1, true, roleB)}}))
	key := s.key(g)
	unknown, known, silent := newID(), newID(), newID()
	began := time.Now().Add(-time.Minute)
	made := s.award(key, g, message(unknown, nil), message(silent, object{"channelId": chanA}), message(known, object{"user": object{
		"avatar": "a_0123456789abcdef0123456789abcdef", "discriminator": "1234", "username": "ada", "globalName": "Ada \"é\"\n",
	}}), message(unknown, nil))
	for i, r := range made { // a new entry gets the reward at level 0
		add, remove := roles{roleA}, roles{roleB}
		if i == 3 {
			add, remove = roles{}, roles{}
		}
		if r.LeveledUp || !slices.Equal(r.AddRoles, add) || !slices.Equal(r.RemoveRoles, remove) {
			t.Errorf("result %d is %+v, want no level-up, roles to add %v and to remove %v", i, r, add, remove)
		}
	}
	for u, want := range map[string]string{
		unknown: `{"avatar":null,"discriminator":"","globalName":null,"username":""}`,
		silent:  `{"avatar":null,"discriminator":"","globalName":null,"username":""}`,
		known:   `{"avatar":"a_0123456789abcdef0123456789abcdef","discriminator":"1234","globalName":"Ada \"é\"\n","username":"ada"}`,
	} {
		m := s.member(key, g, u)
		messages := 1
		if u == unknown {
			messages = 2
		}
		if fmt.Sprint(m.User) != fmt.Sprint(decoded(t, []byte(want))) || m.Level.MessageCount != messages {
			t.Errorf("the member is %v, want the user %s and %d messages", flat(m), want, messages)
		}
		updated, err := time.Parse(time.RFC3339, *m.Level.LastUpdated)
		if err != nil || updated.Before(began) || updated.After(time.Now().Add(time.Minute)) {
			t.Errorf("lastUpdated is %s (%v), want the time of the message", *m.Level.LastUpdated, err)
		}
	}
	if m := s.member(key, g, silent); m.Level.XP != 0 || m.Level.Rank != 3 {
		t.Errorf("the member who gained nothing is %v, want 0 XP and rank 3", flat(m))
	}
	wantFailure(t, s.Do("POST", memberPath(g, silent), key, object{"xp": 1, "user": gopher}), 409)
}
