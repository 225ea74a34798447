package app_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"
)

var idempotencyCases = cases{
	"a large call repeated is made once":      callMadeOnce,
	"each method repeated is made once":       eachMethodOnce,
	"a replay has the level of today's curve": replayByTheCurveOfTheMoment,
	"another request under the key is 409":    anotherRequestIs409,
	"method, path and body make the request":  requestIsMethodPathBody,
	"names may be long and odd":               longestName,
	"reads ignore the name":                   readingIgnoresIt,
	"a replay needs a valid key and grant":    replayIsJudged,
	"replays are counted":                     replaysAreCounted,
}

// named sends the Idempotency-Key name.
func named(name string) apitest.Option { return apitest.Header("Idempotency-Key", name) }

const replayed = "Idempotent-Replayed"

// wantReplay fails unless again equals first and only again says that it is a replay.
func wantReplay(t *testing.T, first, again apitest.Response) {
	t.Helper()
	wantHeader(t, first, replayed, "")
	wantHeader(t, again, replayed, "true")
	if again.Status != first.Status || !bytes.Equal(again.Body, first.Body) {
		t.Errorf("the repeat is %d %s, want %d %s", again.Status, again.Body, first.Status, first.Body)
	}
	wantLimits(t, again)
}

func eachMethodOnce(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	type step struct {
		method, name string
		body         any
		status       int
		answer       string
	}
	steps := []step{
		{"POST", "a", object{"xp": 100, "user": gopher}, 200, `{"level":{"level":1,"messageCount":0,"xp":100}}`},
		{"PATCH", "b", object{"xp": object{"increment": 60}}, 200, `{"level":{"level":2,"messageCount":0,"xp":160}}`},
		{"PATCH", "c", object{"xp": object{"decrement": 200}}, 200, `{"level":{"level":0,"messageCount":0,"xp":0}}`},
		{"PATCH", "d", object{"xp": maxXP}, 200, fmt.Sprintf(`{"level":{"level":6554,"messageCount":0,"xp":%d}}`, maxXP)},
		{"DELETE", "e", nil, 204, ""},
	}
	answers := make([]apitest.Response, len(steps))
	send := func(i int) apitest.Response {
		t.Helper()
		return s.Do(steps[i].method, memberPath(g, u), key, steps[i].body, named(steps[i].name)).Want(t, steps[i].status)
	}
	for i, step := range steps {
		answers[i] = send(i)
		if step.answer != "" {
			wantJSON(t, answers[i], step.answer)
		}
		etag := s.etag(key, g, 1)
		wantReplay(t, answers[i], send(i))
		if now := s.etag(key, g, 1); now != etag {
			t.Errorf("repeating %s %s changed the board's ETag from %s to %s", step.method, step.name, etag, now)
		}
	}
	// Later repeats get the first answer too: POST though the member exists, DELETE though it exists again, PATCH with its old result.
	s.create(key, g, u, 7)
	for i := range steps {
		wantReplay(t, answers[i], send(i))
	}
	if xp := s.member(key, g, u).Level.XP; xp != 7 {
		t.Errorf("after repeats of old requests the member has %d XP, want 7", xp)
	}
}

func replayByTheCurveOfTheMoment(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, u, 90)
	patch := func() apitest.Response {
		return s.Do("PATCH", memberPath(g, u), key, object{"xp": object{"increment": 10}}, named("once")).Want(t, 200)
	}
	wantJSON(t, patch(), `{"level":{"level":1,"messageCount":0,"xp":100}}`)
	s.admin("PUT", "/guilds/"+g, settings(object{"curve": []int{0, 10}})).Want(t, 200)
	s.patch(key, g, u, 5)
	again := patch()
	wantJSON(t, again, `{"level":{"level":10,"messageCount":0,"xp":100}}`)
	wantHeader(t, again, replayed, "true")
}

func requestIsMethodPathBody(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, u, 0)
	send := func(path, body string) apitest.Response {
		t.Helper()
		return s.Do("PATCH", path, key, body, named("once"))
	}
	first := send(memberPath(g, u), `{"xp":{"increment":1}}`).Want(t, 200)
	// The same JSON in other bytes is another request.
	wantFailure(t, send(memberPath(g, u), `{"xp": {"increment":1}}`), 409)
	wantFailure(t, send(memberPath(g, u), `{"xp":{"increment":1},"triggerCooldown":false}`), 409)
	wantReplay(t, first, send(memberPath(g, u), `{"xp":{"increment":1}}`))
	// Headers and the query do not matter.
	wantReplay(t, first, send(memberPath(g, u)+"?trace=1", `{"xp":{"increment":1}}`))
	wantReplay(t, first, s.Do("PATCH", memberPath(g, u), key, `{"xp":{"increment":1}}`, named("once"),
		apitest.Header("Content-Type", "application/json; charset=utf-8")))
}

func replayIsJudged(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	id, key := s.mint(object{"guildIds": []string{g}})
	create := func() apitest.Response {
		return s.Do("POST", memberPath(g, u), key, object{"xp": 50, "user": gopher}, named("post"))
	}
	create().Want(t, 200)
	s.admin("DELETE", "/keys/"+id+"/guilds/"+g, nil).Want(t, 204)
	wantFailure(t, create(), 403)
	s.admin("PUT", "/keys/"+id+"/guilds/"+g, nil).Want(t, 204)
	wantHeader(t, create().Want(t, 200), replayed, "true")
	s.admin("DELETE", "/keys/"+id, nil).Want(t, 204)
	wantFailure(t, create(), 401)
}

func replaysAreCounted(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	count := func() float64 { return s.metric("idempotent_replays_total") }
	s.create(key, g, u, 1)
	before := count()
	for range 4 {
		s.Do("PATCH", memberPath(g, u), key, object{"xp": 2}, named("once")).Want(t, 200)
	}
	// Other tests share the registry, so their replays count too.
	if n := count() - before; n < 3 {
		t.Errorf("%v replays were counted, want at least 3", n)
	}
}

func anotherRequestIs409(t *testing.T, s *service) {
	g, u, other := s.guild(nil), newID(), newID()
	key := s.key(g)
	s.create(key, g, u, 10)
	first := s.Do("PATCH", memberPath(g, u), key, object{"xp": object{"increment": 1}}, named("once")).Want(t, 200)
	for _, c := range []struct {
		method, path string
		body         any
	}{
		{"PATCH", memberPath(g, u), object{"xp": object{"increment": 2}}},
		{"PATCH", memberPath(g, other), object{"xp": object{"increment": 1}}},
		{"POST", memberPath(g, other), object{"xp": 1, "user": gopher}},
		{"DELETE", memberPath(g, other), nil},
	} {
		got := s.Do(c.method, c.path, key, c.body, named("once"))
		wantFailure(t, got, 409)
		wantLimits(t, got)
		wantHeader(t, got, replayed, "")
		if !strings.Contains(got.Message(t), "Idempotency-Key") {
			t.Errorf("%s: the message is %q, want Idempotency-Key in it", c.method, got.Message(t))
		}
	}
	wantReplay(t, first, s.Do("PATCH", memberPath(g, u), key, object{"xp": object{"increment": 1}}, named("once")))
	if xp := s.member(key, g, u).Level.XP; xp != 11 {
		t.Errorf("after refused names the member has %d XP, want 11", xp)
	}
	s.Do("GET", memberPath(g, other), key, nil).Want(t, 404)
}

func longestName(t *testing.T, s *service) {
	g := s.guild(nil)
	key := s.key(g)
	var visible strings.Builder
	for c := byte(0x21); c <= 0x7e; c++ {
		visible.WriteByte(c)
	}
	for _, name := range []string{strings.Repeat("~", 128), strings.Repeat("~", 127), visible.String(), "!", `"8e03978e-40d5-43dd-bc93-6894a57f9324"`} {
		u := newID()
		create := func() apitest.Response {
			return s.Do("POST", memberPath(g, u), key, object{"xp": 1, "user": gopher}, named(name)).Want(t, 200)
		}
		wantReplay(t, create(), create())
	}
}

func readingIgnoresIt(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, u, 5)
	for _, method := range []string{"GET", "HEAD"} {
		for _, name := range []string{"same", "not a valid one"} {
			got, err := s.quick(method, memberPath(g, u), key, "", named(name))
			if err != nil || got.Status != 200 || got.Header.Get(replayed) != "" {
				t.Errorf("%s with a name is %d (%v), want 200 and no replay", method, got.Status, err)
			}
		}
	}
	got := s.Do("PATCH", memberPath(g, u), key, object{"xp": 1}, named("same")).Want(t, 200)
	wantHeader(t, got, replayed, "")
}

// fromEach returns one message of each user.
func fromEach(users []string) []object {
	messages := make([]object, len(users))
	for i, u := range users {
		messages[i] = message(u, nil)
	}
	return messages
}

func callMadeOnce(t *testing.T, s *service) {
	g := s.guild(object{"xpPerMessageMin": 1, "xpPerMessageMax": 1000, "roleRewards": []object{reward(1, true, roleA)}}) // a second draw would show
	key := s.key(g)
	messages := fromEach(newUsers(250))
	messages = append(messages, messages[:50]...)
	first := s.send(key, g, messages, named("call")).Want(t, 200)
	etag := s.etag(key, g, 1)
	for range 3 {
		wantReplay(t, first, s.send(key, g, messages, named("call")))
	}
	if now := s.etag(key, g, 1); now != etag {
		t.Errorf("replays changed the board's ETag from %s to %s", etag, now)
	}
	s.patch(key, g, messages[0]["userId"].(string), 7)
	wantReplay(t, first, s.send(key, g, messages, named("call")))
	s.patch(key, g, messages[0]["userId"].(string), results(t, first)[0].XP)
	for _, r := range results(t, first)[250:] {
		if m := s.member(key, g, r.UserID); m.Level.XP != r.XP || m.Level.MessageCount != 2 {
			t.Errorf("the member is %v, want %d XP of the first answer and 2 messages", flat(m), r.XP)
		}
	}
	wantHeader(t, s.send(key, g, messages, named("another")).Want(t, 200), replayed, "")
	wantFailure(t, s.send(key, g, messages[:1], named("call")), 409)
}
