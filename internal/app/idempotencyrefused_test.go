package app_test

import (
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"
)

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
		{"PATCH", memberPath(g, u), object{"xp": object{"decrement": 1}}},
		{"PATCH", memberPath(g, u), object{"xp": 11}},
		{"PATCH", memberPath(g, other), object{"xp": object{"increment": 1}}},
		{"POST", memberPath(g, u), object{"xp": 1, "user": gopher}},
		{"POST", memberPath(g, other), object{"xp": 1, "user": gopher}},
		{"DELETE", memberPath(g, u), nil},
		{"DELETE", memberPath(g, other), nil},
	} {
		got := s.Do(c.method, c.path, key, c.body, named("once"))
		wantFailure(t, got, 409)
		wantLimits(t, got)
		wantHeader(t, got, replayed, "")
		if !strings.Contains(got.Message(t), "Idempotency-Key") {
			t.Errorf("%s: the message is %q", c.method, got.Message(t))
		}
	}
	wantReplay(t, first, s.Do("PATCH", memberPath(g, u), key, object{"xp": object{"increment": 1}}, named("once")))
	if xp := s.member(key, g, u).Level.XP; xp != 11 {
		t.Errorf("it is %d, want 11", xp)
	}
	s.Do("GET", memberPath(g, other), key, nil).Want(t, 404)
}

func nameInAnotherGuild(t *testing.T, s *service) {
	a, b, u := s.guild(nil), s.guild(nil), newID()
	key := s.key(a, b)
	s.create(key, a, u, 10)
	s.create(key, b, u, 20)
	patch := func(g string) apitest.Response {
		return s.Do("PATCH", memberPath(g, u), key, object{"xp": object{"increment": 1}}, named("once"))
	}
	first := patch(a).Want(t, 200)
	wantFailure(t, patch(b), 409)
	wantFailure(t, patch(b), 409)
	wantReplay(t, first, patch(a))
	if xp := s.member(key, b, u).Level.XP; xp != 20 {
		t.Errorf("it is %d in the other guild, want 20", xp)
	}
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
				t.Errorf("%s: %d, %v", method, got.Status, err)
			}
		}
	}
	got := s.Do("PATCH", memberPath(g, u), key, object{"xp": 1}, named("same")).Want(t, 200)
	wantHeader(t, got, replayed, "")
}

func failedMayBeSentAgain(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	patch := func() apitest.Response {
		return s.Do("PATCH", memberPath(g, u), key, object{"xp": object{"increment": 1}}, named("patch"))
	}
	remove := func() apitest.Response { return s.Do("DELETE", memberPath(g, u), key, nil, named("delete")) }
	create := func() apitest.Response {
		return s.Do("POST", memberPath(g, u), key, object{"xp": 50, "user": gopher}, named("post"))
	}
	for range 2 {
		wantFailure(t, patch(), 404)
		wantFailure(t, remove(), 404)
	}
	s.create(key, g, u, 10)
	wantFailure(t, create(), 409)
	first := patch().Want(t, 200)
	wantJSON(t, first, `{"level":{"level":0,"messageCount":0,"xp":11}}`)
	wantReplay(t, first, patch())
	gone := remove().Want(t, 204)
	made := create().Want(t, 200)
	wantReplay(t, gone, remove())
	wantReplay(t, made, create())

	// A guild that does not exist yet, and a name that failed for another request.
	later := newID()
	id, both := s.mint(object{"guildIds": []string{g}})
	set := func(g string, xp int) apitest.Response {
		return s.Do("PATCH", memberPath(g, u), both, object{"xp": xp}, named("later"))
	}
	wantFailure(t, set(later, 1), 404)
	s.admin("PUT", "/guilds/"+later, settings(nil)).Want(t, 201)
	wantFailure(t, set(later, 1), 403)
	s.admin("PUT", "/keys/"+id+"/guilds/"+later, nil).Want(t, 204)
	wantFailure(t, set(later, 1), 404)
	set(g, 2).Want(t, 200)
	s.create(both, later, u, 0)
	wantFailure(t, set(later, 1), 409)
}

func refusalChangesNothing(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	reader := s.reader(g)
	key := s.key(g)
	s.create(key, g, u, 1)
	// A refusal for any other reason leaves the name free.
	wantFailure(t, s.Do("PATCH", memberPath(g, u), reader, object{"xp": 5}, named("once")), 403)
	wantFailure(t, s.bad("PATCH", memberPath(g, u), key, object{"xp": -5}, named("once")), 400)
	wantFailure(t, s.bad("PATCH", memberPath(g, u), key, "not json", named("once")), 400)
	got := s.Do("PATCH", memberPath(g, u), key, object{"xp": 5}, named("once")).Want(t, 200)
	wantHeader(t, got, replayed, "")
}
