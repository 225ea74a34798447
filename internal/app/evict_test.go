package app_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

const idle = "LEVELBOARD_GUILD_IDLE=10m"

func usedKey(g string) string { return "lb:{" + g + "}:meta" }

// aged sets a guild's last use to this long ago.
func aged(t *testing.T, client *redis.Client, g string, ago time.Duration) {
	t.Helper()
	if err := client.HSet(t.Context(), usedKey(g), "used", time.Now().Add(-ago).UnixMilli()).Err(); err != nil {
		t.Fatal(err)
	}
}

func usedWithin(t *testing.T, client *redis.Client, g string, ago time.Duration) bool {
	t.Helper()
	ms, err := strconv.ParseInt(client.HGet(t.Context(), usedKey(g), "used").Val(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Since(time.UnixMilli(ms)) < ago
}

// rested returns when the replica has noted all uses so far; it notes none of them again for over a minute. It uses two more guilds and
// waits for both notes, because a round that was running before may include the first one.
func (s *service) rested(client *redis.Client) {
	s.t.Helper()
	for range 2 {
		testenv.Wait(s.t, "a use is noted", func() bool {
			later := s.guild(nil)
			s.create(s.key(later), later, newID(), 1)
			aged(s.t, client, later, 8*time.Minute) // so that the new note is visible
			return testenv.Poll(2*time.Second, func() bool { return usedWithin(s.t, client, later, time.Minute) })
		})
	}
}

// Clients of a guild do not notice that it was evicted from Redis and loaded again.
func TestAnIdleGuildComesBack(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t)
	s := start(t, "LEVELBOARD_REDIS_URL="+server.URL(), "LEVELBOARD_POSTGRES_URL="+testenv.Postgres(t), often, idle)
	client := redisClient(t, server)
	g, u, other := s.guild(object{"xpPerMessageMin": 20, "xpPerMessageMax": 20, "xpGainInterval": 3600000}), newID(), newID()
	key := s.key(g)
	f := s.follow(key, g, "")
	s.create(key, g, u, 90)
	message := object{"messages": []object{{"userId": u, "channelId": newID()}}}
	s.Do("POST", "/v2/guilds/"+g+"/messages", key, message).Want(t, 200)
	f.levelUp()
	f.cancel()
	named := apitest.Header("Idempotency-Key", "once")
	first := s.Do("PATCH", memberPath(g, u), key, object{"xp": object{"increment": 5}}, named).Want(t, 200)
	s.create(key, g, other, 3)
	before := s.seen(key, g, u, other)
	archived(t, client, g)

	s.rested(client)
	aged(t, client, g, time.Hour)
	testenv.Wait(t, "the guild leaves Redis", func() bool {
		return client.Exists(t.Context(), usedKey(g)).Val() == 0
	})
	if left := client.Keys(t.Context(), "lb:{"+g+"}:*").Val(); len(left) != 3 {
		t.Errorf("Redis still has %v, want three keys: a request's record, the mark that no record is lost, and the events", left)
	}

	again := s.Do("PATCH", memberPath(g, u), key, object{"xp": object{"increment": 5}}, named).Want(t, 200)
	if again.Header.Get("Idempotent-Replayed") != "true" || string(again.Body) != string(first.Body) {
		t.Errorf("the repeated request is answered %s, want the replay of %s", again.Body, first.Body)
	}
	if after := s.seen(key, g, u, other); after != before {
		t.Errorf("after the eviction clients see %s, want %s", after, before)
	}
	cooled := s.Do("POST", "/v2/guilds/"+g+"/messages", key, message).Want(t, 200)
	if results := apitest.JSON[struct{ Results []struct{ Gained int } }](t, cooled).Results; results[0].Gained != 0 {
		t.Errorf("a message during the cooldown gained %+v, want 0", results)
	}
	// The stream resumes after its last event, without a reset.
	f = s.follow(key, g, f.last)
	s.patch(key, g, u, 150)
	if up := f.levelUp(); up.UserID != u || up.XP != 150 {
		t.Errorf("the resumed stream sent %+v, want the level-up of %s to 150 XP", up, u)
	}
}
