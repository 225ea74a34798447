package app_test

import (
	"fmt"
	"slices"
	"testing"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

func thousandLeave(t *testing.T, s *service) {
	g := s.guild(nil)
	key := s.key(g)
	users, nobody := newUsers(998), newID()
	s.put(key, g, "set", givenEach(users, 5)...)
	s.setPresence(key, g, false, 998, []string{nobody}, append(slices.Clone(users), users[0], nobody)...)
	if n := len(s.board(key, g, 1).Levels); n != 0 {
		t.Errorf("%d are left on the board", n)
	}
	s.setPresence(key, g, true, 1, []string{nobody}, users[7], nobody, users[7], nobody)
	s.setPresence(key, g, true, 997, nil, users...)
	if n := len(s.board(key, g, 10).Levels); n != 98 {
		t.Errorf("page 10 has %d members, want 98", n)
	}
}

// Members leave while their messages come in. Each message is counted, whatever comes first.
func leavingWhileWriting(t *testing.T, s *service) {
	const rounds = 40
	g := s.guild(exactly(20, nil))
	key := s.key(g)
	users := newUsers(120)
	s.put(key, g, "set", givenEach(users, 1000)...)
	leave := jsonText(t, object{"present": false, "userIds": users})
	say := jsonText(t, object{"messages": fromEach(users)})
	together(t, rounds, 6, func(i int) error {
		path, method, body := presencePath(g), "PUT", leave
		if i%2 == 0 {
			path, method, body = messagesPath(g), "POST", say
		}
		got, err := s.quick(method, path, key, body)
		if err == nil && got.Status != 200 {
			err = fmt.Errorf("status %d: %s", got.Status, got.Body)
		}
		return err
	})
	s.Do("PUT", presencePath(g), key, leave).Want(t, 200)
	s.comeBack(key, g, users...)
	for _, u := range users {
		if m := s.member(key, g, u).Level; m.XP != 1020 || m.MessageCount != rounds/2 {
			t.Errorf("it is %+v, want 1020 XP and %d messages", m, rounds/2)
		}
	}
}

// A change that was made under a name is answered as then, although its member has left.
func leftUnderAName(t *testing.T, s *service) {
	g, u := s.guild(exactly(20, nil)), newID()
	key := s.key(g)
	s.create(key, g, u, 100)
	patch := func() apitest.Response {
		return s.Do("PATCH", memberPath(g, u), key, object{"xp": object{"increment": 5}}, named("patch"))
	}
	say := func() apitest.Response { return s.send(key, g, []object{message(u, nil)}, named("say")) }
	patched, said := patch().Want(t, 200), say().Want(t, 200)
	s.leave(key, g, u)
	wantReplay(t, patched, patch())
	wantReplay(t, said, say())
	s.wantLeft(key, g, u) // a replay is no message
}

func TestPresenceSurvivesARestart(t *testing.T) {
	t.Parallel()
	environ := onServers(t)
	s := start(t, environ...)
	g, key, users := s.awayAndBack()
	s.stop(t)
	s = start(t, environ...)
	s.wantAway(g, key, users)
	s.stop(t)
	s = start(t, environ...)
	if n := len(s.board(key, g, 1).Levels); n != 4 {
		t.Errorf("%d are on the board after all came back", n)
	}
}

func TestPresenceSurvivesTheLossOfRedis(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t)
	s := start(t, "LEVELBOARD_REDIS_URL="+server.URL(), "LEVELBOARD_POSTGRES_URL="+testenv.Postgres(t), often)
	client := redisClient(t, server)
	g, key, users := s.awayAndBack()
	archived(t, client, g)
	if err := client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	// A message is the first that brings the guild back, and its author, who has left, too.
	if got := s.award(key, g, message(users[0], nil))[0]; got.XP != 100+got.Gained || got.MessageCount != 1 {
		t.Errorf("%+v", got)
	}
	s.leave(key, g, users[0])
	s.put(key, g, "set", given(users[0], 100, count(0)))
	archived(t, client, g)
	if err := client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if order := s.board(key, g, 1).order(); !slices.Equal(order, []string{users[3], users[1]}) {
		t.Errorf("on the board are %v of %v", order, users)
	}
	s.wantLeft(key, g, users[0])
}

// awayAndBack makes a guild with members who have left, are back, or were changed meanwhile.
func (s *service) awayAndBack() (g, key string, users []string) {
	s.t.Helper()
	g = s.guild(counting(s.t, nil))
	key, users = s.key(g), newUsers(4)
	for i, u := range users {
		s.put(key, g, "add", given(u, 100*(i+1), object{"messageCount": i, "user": gopher}))
	}
	s.leave(key, g, users[0], users[1], users[2])
	s.comeBack(key, g, users[1])
	s.put(key, g, "add", given(users[2], 7, count(1)))
	return g, key, users
}

// wantAway holds a guild to what awayAndBack made, and then brings all back.
func (s *service) wantAway(g, key string, users []string) {
	s.t.Helper()
	if order := s.board(key, g, 1).order(); !slices.Equal(order, []string{users[3], users[1]}) {
		s.t.Errorf("on the board are %v of %v", order, users)
	}
	s.wantLeft(key, g, users[0])
	s.wantRows(g, "day", row(1, users[3], 400), row(2, users[1], 200))
	s.comeBack(key, g, users[0], users[2])
	for i, xp := range []int{100, 200, 307, 400} {
		want := i
		if i == 2 {
			want = 3
		}
		if m := s.member(key, g, users[i]); m.Level.XP != xp || m.Level.MessageCount != want || m.User["username"] != "gopher" {
			s.t.Errorf("member %d is %v", i, flat(m))
		}
	}
	s.wantRows(g, "day", row(1, users[3], 400), row(2, users[2], 307), row(3, users[1], 200), row(4, users[0], 100))
}
