package app_test

import (
	"testing"

	"levelboard/internal/testing/testenv"
)

// Archived members come back with the archive when Redis has lost everything, and so do the answers to repeats. While the archive is away,
// only what Redis knows is answered, and what needs no record.
func TestARepeatAfterRedisLostEverything(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t)
	database := testenv.PostgresServer(t)
	s := start(t, "LEVELBOARD_REDIS_URL="+server.URL(), "LEVELBOARD_POSTGRES_URL="+database.URL())
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, u, 100)
	plus := func(n int) object { return object{"xp": object{"increment": n}} }
	said := object{"messages": []object{{"userId": u, "channelId": newID()}, {"userId": newID(), "channelId": newID()}}}
	changed := s.Do("PATCH", memberPath(g, u), key, plus(5), named("change")).Want(t, 200)
	counted := s.Do("POST", messagesPath(g), key, said, named("messages")).Want(t, 200)
	before := s.member(key, g, u).Level
	client := redisClient(t, server)
	archived(t, client, g)
	if err := client.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}

	wantReplay(t, changed, s.Do("PATCH", memberPath(g, u), key, plus(5), named("change")))
	wantReplay(t, counted, s.Do("POST", messagesPath(g), key, said, named("messages")))
	wantFailure(t, s.Do("PATCH", memberPath(g, u), key, plus(6), named("change")), 409)
	if now := s.member(key, g, u).Level; now.XP != before.XP || now.MessageCount != before.MessageCount {
		t.Errorf("%+v after the repeats, want %+v", now, before)
	}
	s.Do("PATCH", memberPath(g, u), key, plus(1), named("new")).Want(t, 200)

	database.Kill()
	wantFailure(t, s.Do("PATCH", memberPath(g, u), key, plus(1), named("newer")), 503)
	wantReplay(t, changed, s.Do("PATCH", memberPath(g, u), key, plus(5), named("change")))
	s.Do("PATCH", memberPath(g, u), key, plus(1)).Want(t, 200)
	database.Start()
	eventually(t, "the archive is asked again", func() bool {
		return s.Do("PATCH", memberPath(g, u), key, plus(1), named("newer")).Status == 200
	})
	if xp := s.member(key, g, u).Level.XP; xp != before.XP+3 {
		t.Errorf("%d XP, want %d", xp, before.XP+3)
	}
}
