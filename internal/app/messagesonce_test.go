package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

var messageOnceCases = cases{
	"a call of several steps is made once": callMadeOnce,
	"another request under the name":       anotherRequestForMessages,
	"a replay is by the settings of now":   messagesReplayedBySettings,
	"one of many calls with one name":      oneOfManyCalls,
}

// fromEach is a message of each of the users.
func fromEach(users []string) []object {
	messages := make([]object, len(users))
	for i, u := range users {
		messages[i] = message(u, nil)
	}
	return messages
}

func callMadeOnce(t *testing.T, s *service) {
	g := s.guild(object{"xpPerMessageMin": 1, "xpPerMessageMax": 1000, "roleRewards": []object{reward(1, true, roleA)}}) // another draw would show
	key := s.key(g)
	messages := fromEach(newUsers(250))
	messages = append(messages, messages[:50]...)
	first := s.send(key, g, messages, named("call")).Want(t, 200)
	etag := s.etag(key, g, 1)
	for range 3 {
		wantReplay(t, first, s.send(key, g, messages, named("call")))
	}
	if now := s.etag(key, g, 1); now != etag {
		t.Errorf("replays moved the guild from %s to %s", etag, now)
	}
	s.patch(key, g, messages[0]["userId"].(string), 7)
	wantReplay(t, first, s.send(key, g, messages, named("call")))
	s.patch(key, g, messages[0]["userId"].(string), results(t, first)[0].XP)
	for _, r := range results(t, first)[250:] {
		if m := s.member(key, g, r.UserID); m.Level.XP != r.XP || m.Level.MessageCount != 2 {
			t.Errorf("it is %v, want %+v", flat(m), r)
		}
	}
	wantHeader(t, s.send(key, g, messages, named("another")).Want(t, 200), replayed, "")
}

func anotherRequestForMessages(t *testing.T, s *service) {
	g, other, u := s.guild(exactly(20, nil)), s.guild(nil), newID()
	key := s.key(g, other)
	first := s.send(key, g, []object{message(u, nil)}, named("call")).Want(t, 200)
	s.Do("PATCH", memberPath(g, u), key, object{"xp": 100}, named("patch")).Want(t, 200)
	etag := s.etag(key, g, 1)
	wantFailure(t, s.send(key, g, []object{message(u, nil), message(u, nil)}, named("call")), 409)
	wantFailure(t, s.send(key, g, []object{message(newID(), nil)}, named("call")), 409)
	wantFailure(t, s.send(key, g, fromEach(newUsers(150)), named("call")), 409)
	wantFailure(t, s.send(key, other, []object{message(u, nil)}, named("call")), 409)
	wantFailure(t, s.Do("PATCH", memberPath(g, u), key, object{"xp": 7}, named("call")), 409)
	wantFailure(t, s.Do("DELETE", memberPath(g, u), key, nil, named("call")), 409)
	wantFailure(t, s.send(key, g, []object{message(u, nil)}, named("patch")), 409)
	if now := s.etag(key, g, 1); now != etag {
		t.Errorf("refused requests moved the guild from %s to %s", etag, now)
	}
	wantReplay(t, first, s.send(key, g, []object{message(u, nil)}, named("call")))
}

func messagesReplayedBySettings(t *testing.T, s *service) {
	g, u := s.guild(exactly(100, nil)), newID()
	key := s.key(g)
	send := func() result { return results(t, s.send(key, g, []object{message(u, nil)}, named("call")))[0] }
	if r := send(); r.Level != 1 || !r.LeveledUp || len(r.AddRoles) != 0 {
		t.Errorf("first %+v", r)
	}
	s.admin("PUT", "/guilds/"+g, settings(exactly(5, object{"curve": []int{0, 10}, "roleRewards": []object{reward(10, true, roleA)}}))).Want(t, 200)
	r := send()
	want := result{u, 100, 100, 10, 1, true, []string{roleA}, []string{}}
	if fmt.Sprintf("%+v", r) != fmt.Sprintf("%+v", want) {
		t.Errorf("again %+v, want %+v", r, want)
	}
}

func oneOfManyCalls(t *testing.T, s *service) {
	const clients = 12
	g := s.guild(nil)
	key := s.key(g)
	users := newUsers(150)
	text := jsonText(t, object{"messages": fromEach(users)})
	bodies, first := make(chan string, clients), make(chan struct{}, clients)
	wantCounts(t, s.statuses(clients, func(int) (apitest.Response, error) {
		got, err := s.quick("POST", messagesPath(g), key, text, named("call"))
		if got.Header.Get(replayed) == "" {
			first <- struct{}{}
		}
		bodies <- string(got.Body)
		return got, err
	}), map[int]int{200: clients})
	one := <-bodies
	for range clients - 1 {
		if other := <-bodies; other != one {
			t.Fatalf("one was answered\n%s\nanother\n%s", one, other)
		}
	}
	// Several may have made a step each; none of them is a replay of the whole.
	if len(first) == 0 || len(first) > 2 {
		t.Errorf("%d said that they were not a replay", len(first))
	}
	for _, u := range users {
		if m := s.member(key, g, u); m.Level.MessageCount != 1 {
			t.Fatalf("it is %v", flat(m))
		}
	}
}

// A call of three steps whose connection to Redis is cut at every place there is: what was made is not made again, and what was
// not is made, by sending the same call until it is answered.
func TestACallCutAnywhereIsCompletedByRepeatingIt(t *testing.T) {
	t.Parallel()
	s, server, proxy := behindProxy(t)
	client := redisClient(t, server)
	halfDone := map[testenv.Fault]int{}
	for _, fault := range []testenv.Fault{testenv.NotSent, testenv.NoReply, testenv.HalfAReply} {
		for try := range 35 {
			place := try % 7
			if try >= 7 && halfDone[fault] > 0 {
				break // what the service sends by itself may have taken the fault at all places of a round
			}
			g := s.guild(object{"xpPerMessageMin": 1, "xpPerMessageMax": 1000})
			key := s.key(g)
			s.create(key, g, newID(), 0) // the guild is loaded
			users := newUsers(250)
			text := jsonText(t, object{"messages": append(fromEach(users), fromEach(users[:40])...)})
			call := func() apitest.Response {
				t.Helper()
				got, err := s.quick("POST", messagesPath(g), key, text, named("call"))
				if err != nil {
					t.Fatal(err)
				}
				return got
			}
			proxy.Next(append(make([]testenv.Fault, place), fault)...)
			got := call()
			if n := client.ZCard(t.Context(), "lb:{"+g+"}:xp").Val(); n > 0 && n < 250 {
				halfDone[fault]++
				if got.Status != 503 {
					t.Errorf("fault %d at %d: half a call is answered %d", fault, place, got.Status)
				}
			}
			if got.Status == 503 {
				eventually(t, "the call is completed", func() bool { got = call(); return got.Status != 503 })
			}
			proxy.Next()
			answered := results(t, got)
			again := call()
			wantHeader(t, again, replayed, "true")
			if string(again.Body) != string(got.Body) {
				t.Errorf("fault %d at %d: completed with\n%s\nand again\n%s", fault, place, got.Body, again.Body)
			}
			last := map[string]result{}
			for _, r := range answered {
				if r.Gained == 0 && r.MessageCount == 1 {
					t.Errorf("fault %d at %d: a first message gave nothing: %+v", fault, place, r)
				}
				last[r.UserID] = r
			}
			for page := range 3 {
				for _, m := range s.board(key, g, page+1).Levels {
					if r := last[m.UserID]; m.MessageCount != r.MessageCount || m.XP != r.XP {
						t.Fatalf("fault %d at %d: a member is %+v, answered %+v", fault, place, m, r)
					}
					delete(last, m.UserID)
				}
			}
			if len(last) != 0 {
				t.Errorf("fault %d at %d: not on the board: %v", fault, place, last)
			}
		}
	}
	t.Logf("left half done, by fault: %v", halfDone)
	if len(halfDone) != 3 {
		t.Errorf("calls left half done: %v; that proves little", halfDone)
	}
}

// The cooldown lasts for the guild's interval. It is in Redis, where it can be made to be over.
func TestAfterTheCooldown(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t)
	s := start(t, "LEVELBOARD_REDIS_URL="+server.URL(), "LEVELBOARD_POSTGRES_URL="+testenv.Postgres(t))
	client := redisClient(t, server)
	const interval = 600_000
	g, u := s.guild(exactly(20, object{"xpGainInterval": interval})), newID()
	key := s.key(g)
	entry := func() (count, updated, ends int64) {
		t.Helper()
		text := client.HGet(t.Context(), "lb:{"+g+"}:entry", u).Val()
		if _, err := fmt.Sscan(text, &count, &updated, &ends); err != nil {
			t.Fatalf("the entry is %q: %v", text, err)
		}
		return count, updated, ends
	}
	expire := func() {
		t.Helper()
		count, updated, ends := entry()
		if ends-updated != interval {
			t.Errorf("the cooldown lasts %d ms, want %d", ends-updated, interval)
		}
		client.HSet(t.Context(), "lb:{"+g+"}:entry", u, fmt.Sprint(count, " ", updated, " ", updated))
	}
	wantGained(t, s.award(key, g, message(u, nil), message(u, nil)), 20, 0)
	expire()
	got := s.award(key, g, message(u, nil), message(u, nil))
	wantGained(t, got, 20, 0)
	if got[1].XP != 40 || got[1].MessageCount != 4 {
		t.Errorf("%+v", got[1])
	}
	expire()
	s.Do("PATCH", memberPath(g, u), key, object{"xp": 5, "triggerCooldown": true}).Want(t, 200)
	wantGained(t, s.award(key, g, message(u, nil)), 0)
	// A message during the cooldown does not prolong it.
	if _, updated, ends := entry(); ends-updated > interval || ends <= time.Now().UnixMilli() {
		t.Errorf("changed at %d, the cooldown ends at %d", updated, ends)
	}
}

// It runs alone: the metrics are of the whole process.
func TestMessagesAreCounted(t *testing.T) {
	s := start(t, onDataDir(t)...)
	g := s.guild(exactly(60, object{"ignoredChannelIds": []string{chanA}}))
	key := s.key(g)
	names := []string{`messages_total{outcome="gained"}`, `messages_total{outcome="cooldown"}`, `messages_total{outcome="nothing"}`, `xp_awarded_total`, `level_ups_total`}
	before := make([]float64, len(names))
	for i, name := range names {
		before[i] = s.metric(name)
	}
	up, full := newID(), newID()
	s.create(key, g, up, 50)
	s.create(key, g, full, 2147483647)
	messages := []object{
		message(up, nil), message(up, nil), message(newID(), nil), message(newID(), object{"channelId": chanA}), message(full, nil), message(full, nil),
	}
	for range 3 { // two of them are replays
		s.send(key, g, messages, named("call")).Want(t, 200)
	}
	wantFailure(t, s.send(s.reader(g), g, messages), 403)
	for i, want := range []float64{2, 1, 3, 120, 1} {
		if n := s.metric(names[i]) - before[i]; n != want {
			t.Errorf("%s went up by %v, want %v", names[i], n, want)
		}
	}
	route := `levelboard_http_request_duration_seconds_count{method="POST",route="/v2/guilds/:guildId/messages",status="200"}`
	if text := string(s.ops("/metrics").Body); !strings.Contains(text, route) {
		t.Errorf("no %s in /metrics", route)
	}
}
