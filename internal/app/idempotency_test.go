package app_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

var idempotencyCases = cases{
	"each method is made once":                eachMethodOnce,
	"a replay has the level of the moment":    replayByTheCurveOfTheMoment,
	"another request under the key is 409":    anotherRequestIs409,
	"the same name in another guild is 409":   nameInAnotherGuild,
	"a request is its method, path and body":  requestIsMethodPathBody,
	"names are in the namespace of the key":   namesAreOfTheKey,
	"the longest and the oddest name":         longestName,
	"reading ignores it":                      readingIgnoresIt,
	"what failed may be sent again":           failedMayBeSentAgain,
	"a guild created again":                   guildCreatedAgain,
	"a replay is judged like any request":     replayIsJudged,
	"one of many with one name":               oneOfManyWithOneName,
	"one of many different ones with a name":  oneOfManyRivals,
	"replays are counted":                     replaysAreCounted,
	"a cooldown that is started, once":        cooldownOnce,
	"the refusal of a name changes no member": refusalChangesNothing,
}

// named gives a request its name.
func named(name string) apitest.Option { return apitest.Header("Idempotency-Key", name) }

const replayed = "Idempotent-Replayed"

// wantReplay fails unless the answer is the same as the first and says that it is a replay, which the first did not.
func wantReplay(t *testing.T, first, again apitest.Response) {
	t.Helper()
	wantHeader(t, first, replayed, "")
	wantHeader(t, again, replayed, "true")
	if again.Status != first.Status || !bytes.Equal(again.Body, first.Body) {
		t.Errorf("first %d %s, again %d %s", first.Status, first.Body, again.Status, again.Body)
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
			t.Errorf("%s %s again moved the guild from %s to %s", step.method, step.name, etag, now)
		}
	}
	// And when all is over: POST although the member is there, DELETE although it is, PATCH by what it did.
	s.create(key, g, u, 7)
	for i := range steps {
		wantReplay(t, answers[i], send(i))
	}
	if xp := s.member(key, g, u).Level.XP; xp != 7 {
		t.Errorf("it is %d after old requests came again, want 7", xp)
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
	// The same to a reader, but not the same bytes.
	wantFailure(t, send(memberPath(g, u), `{"xp": {"increment":1}}`), 409)
	wantFailure(t, send(memberPath(g, u), `{"xp":{"increment":1},"triggerCooldown":false}`), 409)
	wantReplay(t, first, send(memberPath(g, u), `{"xp":{"increment":1}}`))
	// Headers and the query are no part of it.
	wantReplay(t, first, send(memberPath(g, u)+"?trace=1", `{"xp":{"increment":1}}`))
	wantReplay(t, first, s.Do("PATCH", memberPath(g, u), key, `{"xp":{"increment":1}}`, named("once"),
		apitest.Header("Content-Type", "application/json; charset=utf-8")))
}

func namesAreOfTheKey(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	owner := newID()
	_, one := s.mint(object{"guildIds": []string{g}, "ownerId": owner})
	_, two := s.mint(object{"guildIds": []string{g}, "ownerId": owner})
	s.create(one, g, u, 0)
	for i, key := range []string{one, two} {
		got := s.Do("PATCH", memberPath(g, u), key, object{"xp": object{"increment": 1}}, named("once")).Want(t, 200)
		wantHeader(t, got, replayed, "")
		if xp := apitest.At[float64](t, got, "level", "xp"); xp != float64(i+1) {
			t.Errorf("key %d: %v XP", i, xp)
		}
	}
	s.Do("DELETE", memberPath(g, u), two, nil, named("twice")).Want(t, 204)
	s.Do("POST", memberPath(g, u), one, object{"xp": 1, "user": gopher}, named("twice")).Want(t, 200)
}

func guildCreatedAgain(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	id, key := s.mint(object{"guildIds": []string{g}})
	create := func(xp int) apitest.Response {
		return s.Do("POST", memberPath(g, u), key, object{"xp": xp, "user": gopher}, named("post"))
	}
	create(50).Want(t, 200)
	s.admin("DELETE", "/guilds/"+g, nil).Want(t, 204)
	wantFailure(t, create(50), 404)
	s.admin("PUT", "/guilds/"+g, settings(nil)).Want(t, 201)
	s.admin("PUT", "/keys/"+id+"/guilds/"+g, nil).Want(t, 204)
	wantFailure(t, create(51), 409)
	made := create(50).Want(t, 200)
	wantReplay(t, made, create(50))
	if xp := s.member(key, g, u).Level.XP; xp != 50 {
		t.Errorf("it is %d, want 50", xp)
	}
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

func oneOfManyWithOneName(t *testing.T, s *service) {
	const clients = 50
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, u, 0)
	first := make(chan struct{}, clients)
	wantCounts(t, s.statuses(clients, func(int) (apitest.Response, error) {
		got, err := s.quick("PATCH", memberPath(g, u), key, `{"xp":{"increment":7}}`, named("once"))
		if got.Header.Get(replayed) == "" {
			first <- struct{}{}
		}
		if err == nil && !strings.Contains(string(got.Body), `"xp":7}`) {
			err = fmt.Errorf("answer %s", got.Body)
		}
		return got, err
	}), map[int]int{200: clients})
	if xp := s.member(key, g, u).Level.XP; xp != 7 || len(first) != 1 {
		t.Errorf("it is %d and %d said that they were the first, want 7 and 1", xp, len(first))
	}
}

func oneOfManyRivals(t *testing.T, s *service) {
	const clients = 16
	g, u := s.guild(nil), newID()
	key := s.key(g)
	wantCounts(t, s.statuses(clients, func(i int) (apitest.Response, error) {
		return s.quick("POST", memberPath(g, u), key, fmt.Sprintf(`{"xp":%d,"user":{"avatar":null,"discriminator":"0","username":"u"}}`, i), named("once"))
	}), map[int]int{200: 1, 409: clients - 1})
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
	// Other tests share the registry.
	if n := count() - before; n < 3 {
		t.Errorf("%v replays were counted, want 3", n)
	}
}

func cooldownOnce(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, u, 1)
	patch := func() apitest.Response {
		return s.Do("PATCH", memberPath(g, u), key, object{"xp": object{"increment": 1}, "triggerCooldown": true}, named("once")).Want(t, 200)
	}
	first := patch()
	updated := s.member(key, g, u).Level.LastUpdated
	pause()
	wantReplay(t, first, patch())
	if now := s.member(key, g, u).Level.LastUpdated; *now != *updated {
		t.Errorf("a replay moved lastUpdated from %s to %s", *updated, *now)
	}
}

// A request that was answered 503 may be sent again: Redis was away, or the guild had to be loaded and could not.
func TestAfterAnOutageTheRequestIsSentAgain(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t, testenv.WithAOF())
	s := start(t, "LEVELBOARD_REDIS_URL="+server.URL(), "LEVELBOARD_POSTGRES_URL="+testenv.Postgres(t))
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, u, 5)
	patch := func(name string) apitest.Response {
		return s.Do("PATCH", memberPath(g, u), key, object{"xp": object{"increment": 1}}, named(name))
	}
	first := patch("made-before").Want(t, 200)
	server.Kill()
	wantFailure(t, patch("sent-meanwhile"), 503)
	wantFailure(t, patch("made-before"), 503)
	server.Start()
	eventually(t, "the service answers again", func() bool { return patch("made-before").Status == 200 })
	// A Redis that keeps its data keeps what it was asked.
	wantReplay(t, first, patch("made-before"))
	second := patch("sent-meanwhile").Want(t, 200)
	wantJSON(t, second, `{"level":{"level":0,"messageCount":0,"xp":7}}`)
	wantReplay(t, second, patch("sent-meanwhile"))
}
