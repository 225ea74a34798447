package app_test

import (
	"fmt"
	"testing"

	"levelboard/internal/testing/apitest"
)

const maxXP = 2147483647

var memberCases = cases{
	"shared caches may not keep an answer": answerIsPrivate,
	"a created member can be read":         createdThenRead,
	"a second POST overwrites nothing":     secondPostOverwritesNothing,
	"a deleted member is 404":              deletedThenGone,
	"a user without an entry is 404":       withoutAnEntry,
	"HEAD is GET without a body":           headIsGetWithoutBody,
	"a body may have 64 KiB":               bodyOf64KiB,
	"a chunked body is bounded":            bodyOfUnknownLength,
	"names of headers ignore case":         namesOfHeaders,
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
		t.Errorf("a refused POST changed the member from %+v to %+v", flat(before), flat(after))
	}
}

// flat returns a member's fields without pointers, for comparison.
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
		t.Errorf("the remaining member has rank %d, want 1", rank)
	}
	s.Do("POST", memberPath(g, first), key, object{"xp": 3, "user": object{"avatar": nil, "discriminator": "1", "username": "new"}}).Want(t, 200)
	if m := s.member(key, g, first); m.Level.XP != 3 || m.Level.Rank != 2 || m.User["username"] != "new" {
		t.Errorf("the member created again is %v, want 3 XP, rank 2 and the new name", flat(m))
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
