package app_test

import (
	"testing"
)

// putThousand sets a thousand members in one call. Each level that changes makes one event, and a repeat makes none.
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
		for range 990 { // the first ten stay at level 0
			up := f.levelUp()
			seen[up.UserID]++
			if up.PreviousLevel != 0 || up.Level != levelAt(up.XP) || seen[up.UserID] > 1 {
				t.Fatalf("%s: the level-up %+v is number %d of its member, want one from level 0 to the level of its XP", what, up, seen[up.UserID])
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
			t.Fatalf("repeated, result %d is %+v, want unchanged", i, r)
		}
	}
	if now := s.etag(key, g, 1); now != etag {
		t.Errorf("a call that changed nothing changed the ETag from %s to %s", etag, now)
	}
	last := s.board(key, g, 10)
	if len(last.Levels) != 100 || last.Levels[99].UserID != users[0] || last.Levels[0].Rank != 901 {
		t.Errorf("page 10 has %d members, want 100 from rank 901 to the lowest", len(last.Levels))
	}
	// All members change and no level does, so the marker's event comes first.
	for i := range members {
		members[i] = given(users[i], 0, count(1))
	}
	for i, r := range s.put(key, g, "add", members...) {
		if r.Outcome != "changed" || r.XP != 10*i || r.MessageCount != 1 {
			t.Fatalf("with a message counted, result %d is %+v, want changed, %d XP and 1 message", i, r, 10*i)
		}
	}
	marker := newID()
	s.create(key, g, marker, 100)
	if up := f.levelUp(); up.UserID != marker {
		t.Errorf("the event %+v came before the marker's, want none", up)
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
	// Like PATCH, both work while leveling is disabled.
	if got := s.put(key, disabled, "set", given(u, 5, nil))[0]; got.Outcome != "created" {
		t.Errorf("in a disabled guild the result is %+v, want created", got)
	}
	s.leave(key, disabled, u)
	s.comeBack(key, disabled, u)
	if xp := s.member(key, disabled, u).Level.XP; xp != 5 {
		t.Errorf("in a disabled guild the member has %d XP, want 5", xp)
	}
	_, limited := s.mint(object{"guildIds": []string{g}, "rateLimit": 1})
	wantHeader(t, s.sendPut(limited, g, "set", givenEach(newUsers(250), 1)).Want(t, 200), "X-Ratelimit-Remaining", "0")
	wantFailure(t, s.sendPut(limited, g, "set", givenEach(newUsers(1), 1)), 429)
}
