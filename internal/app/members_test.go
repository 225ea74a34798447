package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

const maxXP = 2147483647

var memberCases = cases{
	"an answer is not for shared caches":  answerIsPrivate,
	"created, then read":                  createdThenRead,
	"globalName may be left out":          globalNameMayBeLeftOut,
	"user data is kept to the byte":       userDataIsKept,
	"XP at its bounds":                    xpAtItsBounds,
	"a second POST overwrites nothing":    secondPostOverwritesNothing,
	"increment, decrement, set":           incrementDecrementSet,
	"PATCH changes nothing but XP":        patchChangesOnlyXP,
	"triggerCooldown holds no PATCH back": cooldownHoldsNoPatchBack,
	"deleted, then gone":                  deletedThenGone,
	"without an entry":                    withoutAnEntry,
	"lastUpdated moves with each change":  lastUpdatedMoves,
	"rank follows XP":                     rankFollowsXP,
	"HEAD is GET without a body":          headIsGetWithoutBody,
	"a disabled guild still has members":  disabledGuildHasMembers,
	"a body of 64 KiB":                    bodyOf64KiB,
	"a body of unknown length":            bodyOfUnknownLength,
	"names of headers and media type":     namesOfHeaders,
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

func globalNameMayBeLeftOut(t *testing.T, s *service) {
	g := s.guild(nil)
	key := s.key(g)
	for name, user := range map[string]string{
		"absent": `{"avatar":null,"discriminator":"0","username":"ada"}`,
		"null":   `{"avatar":null,"discriminator":"0","username":"ada","globalName":null}`,
	} {
		u := newID()
		s.Do("POST", memberPath(g, u), key, `{"xp":0,"user":`+user+`}`).Want(t, 200)
		if got := s.member(key, g, u).User; got["globalName"] != nil || got["avatar"] != nil || len(got) != 4 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func userDataIsKept(t *testing.T, s *service) {
	g := s.guild(nil)
	key := s.key(g)
	longest := strings.Repeat("é", 128)
	for _, user := range []object{
		{"avatar": "0123456789abcdef0123456789abcdef", "discriminator": "", "globalName": "", "username": ""},
		{"avatar": "a_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz", "discriminator": longest, "globalName": longest, "username": longest},
		{"avatar": nil, "discriminator": "0", "globalName": " \t\r\n\u0001\u007f ", "username": `"\</script>&'`},
		{"avatar": nil, "discriminator": "0", "globalName": "👩‍👩‍👧\u2028\ufeff", "username": "nil|null|:0"},
	} {
		u := newID()
		s.Do("POST", memberPath(g, u), key, object{"xp": 1, "user": user}).Want(t, 200)
		got := s.member(key, g, u).User
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", user) {
			t.Errorf("got %q, want %q", got, user)
		}
	}
}

func xpAtItsBounds(t *testing.T, s *service) {
	g := s.guild(nil)
	key := s.key(g)
	for xp, level := range map[int]int{0: 0, 99: 0, 100: 1, 149: 1, 150: 2, 4149: 9, 4150: 10, 490150: 100, maxXP: 6554} {
		made := s.create(key, g, newID(), xp)
		wantJSON(t, made, fmt.Sprintf(`{"level":{"level":%d,"messageCount":0,"xp":%d}}`, level, xp))
	}
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

func incrementDecrementSet(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, u, 90)
	for _, step := range []struct {
		xp        string
		want, lvl int
	}{
		{`{"increment":10}`, 100, 1}, {`{"increment":1}`, 101, 1}, {`{"decrement":2}`, 99, 0},
		{`4150`, 4150, 10}, {`0`, 0, 0}, {`{"increment":2147483647}`, maxXP, 6554}, {`{"decrement":2147483647}`, 0, 0},
	} {
		got := s.Do("PATCH", memberPath(g, u), key, `{"xp":`+step.xp+`}`).Want(t, 200)
		wantJSON(t, got, fmt.Sprintf(`{"level":{"level":%d,"messageCount":0,"xp":%d}}`, step.lvl, step.want))
		if m := s.member(key, g, u); m.Level.XP != step.want || m.Level.Level != step.lvl {
			t.Errorf("after %s it reads %+v", step.xp, flat(m))
		}
	}
}

func patchChangesOnlyXP(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.Do("POST", memberPath(g, u), key, object{"xp": 1, "user": object{
		"avatar": "0123456789abcdef0123456789abcdef", "discriminator": "7", "username": "ada", "globalName": "Ada",
	}}).Want(t, 200)
	before := s.member(key, g, u)
	s.patch(key, g, u, 5)
	after := s.member(key, g, u)
	if fmt.Sprint(before.User) != fmt.Sprint(after.User) || after.Level.MessageCount != 0 || after.Level.XP != 5 {
		t.Errorf("it was %v, it is %v", flat(before), flat(after))
	}
}

func cooldownHoldsNoPatchBack(t *testing.T, s *service) {
	g, u := s.guild(object{"xpGainInterval": 86400000}), newID()
	key := s.key(g)
	s.create(key, g, u, 0)
	for i, trigger := range []string{"true", "true", "false", "true"} {
		got := s.Do("PATCH", memberPath(g, u), key, `{"xp":{"increment":5},"triggerCooldown":`+trigger+`}`).Want(t, 200)
		if xp := apitest.At[float64](t, got, "level", "xp"); xp != float64(5*(i+1)) {
			t.Errorf("after %d it is %v", i+1, xp)
		}
	}
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

func lastUpdatedMoves(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	updated := func() time.Time {
		text := s.member(key, g, u).Level.LastUpdated
		if text == nil || !strings.HasSuffix(*text, "Z") {
			t.Fatalf("lastUpdated is %v, want RFC 3339 in UTC", text)
		}
		at, err := time.Parse(time.RFC3339Nano, *text)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	began := time.Now().Truncate(time.Millisecond)
	s.create(key, g, u, 50)
	last := updated()
	if last.Before(began) || last.After(time.Now()) {
		t.Errorf("created at %v, it says %v", began, last)
	}
	if again := updated(); !again.Equal(last) {
		t.Errorf("reading moved it from %v to %v", last, again)
	}
	for _, xp := range []any{object{"increment": 1}, object{"decrement": 1}, 50} {
		testenv.Wait(t, fmt.Sprintf("lastUpdated moves with %v", xp), func() bool {
			s.patch(key, g, u, xp)
			return updated().After(last)
		})
		last = updated()
	}
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

func disabledGuildHasMembers(t *testing.T, s *service) {
	g, u := s.guild(object{"enabled": false}), newID()
	key := s.key(g)
	s.create(key, g, u, 10)
	s.patch(key, g, u, object{"increment": 1})
	if m := s.member(key, g, u); m.Level.XP != 11 || m.Level.Rank != 1 {
		t.Errorf("it is %v", flat(m))
	}
	s.Do("DELETE", memberPath(g, u), key, nil).Want(t, 204)
}
