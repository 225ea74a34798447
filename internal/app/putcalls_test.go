package app_test

import (
	"testing"
)

// putThousand sets a thousand members in one call: one event for each level that changes, and none for what is repeated.
func putThousand(t *testing.T, s *service) {
	g := s.guild(nil)
	key := s.key(g)
	f := s.follow(key, g, "")
	users, members := newUsers(1000), make([]object, 1000)
	for i, u := range users {
		members[i] = given(u, 10*i, nil)
	}
	wantEvents := func(what string) {
		t.Helper()
		seen := map[string]int{}
		for range 990 { // the first ten have no level
			up := f.levelUp()
			seen[up.UserID]++
			if up.PreviousLevel != 0 || up.Level != levelAt(up.XP) || seen[up.UserID] > 1 {
				t.Fatalf("%s: %+v, event %d of the member", what, up, seen[up.UserID])
			}
		}
	}
	first := s.sendPut(key, g, "set", members, named("thousand"))
	for i, r := range putResults(t, first) {
		if want := (putResult{users[i], "created", 10 * i, levelAt(10 * i), 0}); r != want {
			t.Fatalf("result %d is %+v, want %+v", i, r, want)
		}
	}
	wantEvents("first")
	etag := s.etag(key, g, 1)
	wantReplay(t, first, s.sendPut(key, g, "set", members, named("thousand")))
	for i, r := range s.put(key, g, "set", members...) {
		if r.Outcome != "unchanged" {
			t.Fatalf("again, result %d is %+v", i, r)
		}
	}
	if now := s.etag(key, g, 1); now != etag {
		t.Errorf("what changed nothing moved the guild from %s to %s", etag, now)
	}
	last := s.board(key, g, 10)
	if len(last.Levels) != 100 || last.Levels[99].UserID != users[0] || last.Levels[0].Rank != 901 {
		t.Errorf("page 10 has %d members", len(last.Levels))
	}
	// All change, and no level does: no event comes before that of the marker.
	for i := range members {
		members[i] = given(users[i], 0, count(1))
	}
	for i, r := range s.put(key, g, "add", members...) {
		if r.Outcome != "changed" || r.XP != 10*i || r.MessageCount != 1 {
			t.Fatalf("counted, result %d is %+v", i, r)
		}
	}
	marker := newID()
	s.create(key, g, marker, 100)
	if up := f.levelUp(); up.UserID != marker {
		t.Errorf("%+v came before the marker", up)
	}
}

func givenEach(users []string, xp int) (members []object) {
	for _, u := range users {
		members = append(members, given(u, xp, nil))
	}
	return members
}

func whoMayPut(t *testing.T, s *service) {
	g, disabled, u := s.guild(nil), s.guild(object{"enabled": false}), newID()
	key := s.key(g, disabled)
	// As PATCH, both work while leveling is disabled.
	if got := s.put(key, disabled, "set", given(u, 5, nil))[0]; got.Outcome != "created" {
		t.Errorf("in a disabled guild: %+v", got)
	}
	s.leave(key, disabled, u)
	s.comeBack(key, disabled, u)
	if xp := s.member(key, disabled, u).Level.XP; xp != 5 {
		t.Errorf("it is %d", xp)
	}
	_, limited := s.mint(object{"guildIds": []string{g}, "rateLimit": 1})
	wantHeader(t, s.sendPut(limited, g, "set", givenEach(newUsers(250), 1)).Want(t, 200), "X-Ratelimit-Remaining", "0")
	wantFailure(t, s.sendPut(limited, g, "set", givenEach(newUsers(1), 1)), 429)
}
