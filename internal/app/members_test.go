package app_test

import (
	"fmt"
	"slices"
	"testing"

	"levelboard/internal/testing/apitest"
)

const maxXP = 2147483647

var memberCases = cases{
	"an answer is not for shared caches": answerIsPrivate,
	"created, then read":                 createdThenRead,
	"a second POST overwrites nothing":   secondPostOverwritesNothing,
	"deleted, then gone":                 deletedThenGone,
	"without an entry":                   withoutAnEntry,
	"rank follows XP":                    rankFollowsXP,
	"HEAD is GET without a body":         headIsGetWithoutBody,
	"a body of 64 KiB":                   bodyOf64KiB,
	"a body of unknown length":           bodyOfUnknownLength,
	"names of headers and media type":    namesOfHeaders,
}

func createdThenRead(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	made := s.Do("POST", memberPath(g, u), key, object{"xp": 4200, "user": object{
		"avatar": "a_0123456789abcdef0123456789abcdef", "discriminator": "1234", "username": "ada", "globalName": "Ada L.",
	}}).Want(t, 200)
	wantJSON(t, made, `{"level":{"level":10,"messageCount":0,"xp":4200}}`)

	got := s.Do("GET", memberPath(g, u), key, nil).Want(t, 200)
	updated := apitest.At[string](t, got, "level", "lastUpdated")
	wantJSON(t, got, fmt.Sprintf(`{"level":{"lastUpdated":%q,"level":10,"messageCount":0,"rank":1,"xp":4200},
		"user":{"avatar":"a_0123456789abcdef0123456789abcdef","discriminator":"1234","globalName":"Ada L.","username":"ada"}}`, updated))
}

func secondPostOverwritesNothing(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, u, 500)
	before := s.member(key, g, u)
	again := s.Do("POST", memberPath(g, u), key, object{"xp": 7, "user": object{"avatar": nil, "discriminator": "9", "username": "other"}})
	wantFailure(t, again, 409)
	wantLimits(t, again)
	if after := s.member(key, g, u); fmt.Sprintf("%+v", flat(after)) != fmt.Sprintf("%+v", flat(before)) {
		t.Errorf("it was %+v, it is %+v", flat(before), flat(after))
	}
}

// flat is a member without pointers, for comparison.
func flat(m member) []any {
	updated := "never"
	if m.Level.LastUpdated != nil {
		updated = *m.Level.LastUpdated
	}
	return []any{updated, m.Level.Level, m.Level.MessageCount, m.Level.Rank, m.Level.XP, m.User}
}

func deletedThenGone(t *testing.T, s *service) {
	g, first, second := s.guild(nil), newID(), newID()
	key := s.key(g)
	s.create(key, g, first, 900)
	s.create(key, g, second, 100)
	gone := s.Do("DELETE", memberPath(g, first), key, nil).Want(t, 204)
	wantNoBody(t, gone)
	wantLimits(t, gone)
	wantFailure(t, s.Do("GET", memberPath(g, first), key, nil), 404)
	wantFailure(t, s.Do("DELETE", memberPath(g, first), key, nil), 404)
	if rank := s.member(key, g, second).Level.Rank; rank != 1 {
		t.Errorf("the one left has rank %d", rank)
	}
	s.Do("POST", memberPath(g, first), key, object{"xp": 3, "user": object{"avatar": nil, "discriminator": "1", "username": "new"}}).Want(t, 200)
	if m := s.member(key, g, first); m.Level.XP != 3 || m.Level.Rank != 2 || m.User["username"] != "new" {
		t.Errorf("created again it is %v", flat(m))
	}
}

// memberCalls are valid calls of endpoints 3, 5 and 6 on a member.
var memberCalls = []struct{ method, body string }{{"GET", ""}, {"HEAD", ""}, {"PATCH", `{"xp":{"increment":1}}`}, {"DELETE", ""}}

func (s *service) call(method, path, key, body string) apitest.Response {
	s.t.Helper()
	if body == "" {
		return s.Do(method, path, key, nil)
	}
	return s.Do(method, path, key, body)
}

func rankFollowsXP(t *testing.T, s *service) {
	g := s.guild(nil)
	key := s.key(g)
	a, b, c := newID(), newID(), newID()
	s.create(key, g, a, 100)
	s.create(key, g, b, 300)
	s.create(key, g, c, 200)
	wantRanks := func(users ...string) {
		t.Helper()
		for i, u := range users {
			if rank := s.member(key, g, u).Level.Rank; rank != i+1 {
				t.Errorf("rank %d, want %d", rank, i+1)
			}
		}
		if on := s.board(key, g, 1).order(); !slices.Equal(on, users) {
			t.Errorf("the board is in the order %v, want %v", on, users)
		}
	}
	wantRanks(b, c, a)
	s.patch(key, g, a, object{"increment": 500})
	wantRanks(a, b, c)
	s.patch(key, g, b, 0)
	wantRanks(a, c, b)
	// Equal XP: the id that is greater as text comes first, as in ZREVRANGE.
	s.patch(key, g, a, 0)
	s.patch(key, g, c, 0)
	wantRanks(c, b, a)
}
