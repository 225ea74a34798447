package app_test

import (
	"net/http"
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"
)

func withoutAnEntry(t *testing.T, s *service) {
	g := s.guild(nil)
	key := s.key(g)
	for _, c := range memberCalls {
		got := s.call(c.method, memberPath(g, newID()), key, c.body)
		if c.method == "HEAD" {
			got.Want(t, 404)
			wantNoBody(t, got)
			continue
		}
		wantFailure(t, got, 404)
		wantLimits(t, got)
	}
	if entries := s.board(key, g, 1).Levels; len(entries) != 0 {
		t.Errorf("a call on an unknown member left %v on the board", entries)
	}
}

func headIsGetWithoutBody(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.reader(g)
	s.create(s.key(g), g, u, 10)
	for _, path := range []string{
		memberPath(g, u), boardPath(g, 1), "/v2/openapi.json", "/v2/guilds/" + g + "/role-rewards/level?level=1&userId=" + u,
	} {
		get, head := s.Do("GET", path, key, nil).Want(t, 200), s.Do("HEAD", path, key, nil).Want(t, 200)
		wantNoBody(t, head)
		for _, name := range []string{"Content-Type", "ETag", "Cache-Control", "Vary", "X-Ratelimit-Limit"} {
			wantHeader(t, head, name, strings.Join(get.Header.Values(name), ", "))
		}
	}
}

func bodyOf64KiB(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	body := `{"xp":5,"user":{"avatar":null,"discriminator":"0","username":"ada"}}`
	body += strings.Repeat(" ", 64<<10-len(body))
	s.Do("POST", memberPath(g, u), s.key(g), body).Want(t, 200)
}

func bodyOfUnknownLength(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	chunked := func(r *http.Request) { r.ContentLength = -1 }
	s.Do("POST", memberPath(g, u), key, object{"xp": 1, "user": gopher}, chunked).Want(t, 200)
	large := s.bad("PATCH", memberPath(g, u), key, `{"xp":2}`+strings.Repeat(" ", 64<<10), chunked)
	wantRefused(t, large, 413)
	if xp := s.member(key, g, u).Level.XP; xp != 1 {
		t.Errorf("after refused requests the member has %d XP, want 1", xp)
	}
}

func namesOfHeaders(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	for _, media := range []string{"application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"} {
		s.Do("POST", memberPath(g, newID()), key, object{"xp": 1, "user": gopher}, apitest.Header("Content-Type", media)).Want(t, 200)
	}
	s.Do("POST", memberPath(g, newID()), key, object{"xp": 1, "user": gopher}, apitest.Header("Content-Encoding", "Identity")).Want(t, 200)
	s.create(key, g, u, 1)
	got, err := s.quick("GET", memberPath(g, u), "", "", func(r *http.Request) { r.Header["x-api-KEY"] = []string{key} })
	if err != nil {
		t.Fatal(err)
	}
	got.Want(t, 200)
}

func answerIsPrivate(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, u, 1)
	for _, path := range []string{memberPath(g, u), "/v2/guilds/" + g + "/role-rewards/level?level=1&userId=" + u} {
		got := s.Do("GET", path, key, nil).Want(t, 200)
		if cache := got.Header.Get("Cache-Control"); !strings.Contains(cache, "private") {
			t.Errorf("%s: Cache-Control is %q, want private in it", path, cache)
		}
		if vary := strings.Join(got.Header.Values("Vary"), ","); !strings.Contains(vary, "X-Api-Key") {
			t.Errorf("%s: Vary is %q, want X-Api-Key in it", path, vary)
		}
	}
}
