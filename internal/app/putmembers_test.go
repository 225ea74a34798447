package app_test

import (
	"slices"
	"testing"

	"levelboard/internal/testing/apitest"
)

var putCases = cases{
	"each mode, by example":       putModesByExample,
	"a call may set 1000 members": putThousand,
	"who may put, and where":      whoMayPut,
}

func bulkPath(g string) string { return "/v2/guilds/" + g + "/members" }

// putResult is the result for one member.
type putResult struct {
	UserID, Outcome         string
	XP, Level, MessageCount int
}

func (s *service) sendPut(key, g, mode string, members []object, options ...apitest.Option) apitest.Response {
	s.t.Helper()
	return s.Do("PUT", bulkPath(g), key, object{"mode": mode, "members": members}, options...)
}

func putResults(t *testing.T, got apitest.Response) []putResult {
	t.Helper()
	return apitest.JSON[struct{ Results []putResult }](t, got.Want(t, 200)).Results
}

// put puts members and returns their results.
func (s *service) put(key, g, mode string, members ...object) []putResult {
	s.t.Helper()
	got := putResults(s.t, s.sendPut(key, g, mode, members))
	if len(got) != len(members) {
		s.t.Fatalf("%d members have %d results, want one each", len(members), len(got))
	}
	return got
}

// given returns a member for put, overridden by over.
func given(u string, xp int, over object) object {
	m := object{"userId": u, "xp": xp}
	for name, value := range over {
		m[name] = value
	}
	return m
}

func count(n int) object { return object{"messageCount": n} }

func putModesByExample(t *testing.T, s *service) {
	g := s.guild(nil)
	key := s.key(g)
	for _, c := range []struct {
		mode     string
		xp       int
		over     object
		outcome  string // for a member with 500 XP and 7 messages
		after    int
		level    int
		messages int
	}{
		{"set", 100, nil, "changed", 100, 1, 7},
		{"set", 500, count(0), "changed", 500, 3, 0},
		{"set", maxXP, count(maxXP), "changed", maxXP, 6554, maxXP},
		{"higher", 100, count(9), "changed", 500, 3, 9},
		{"higher", 500, count(3), "unchanged", 500, 3, 7},
		{"add", 50, nil, "changed", 550, 4, 7},
		{"add", maxXP, count(maxXP), "changed", maxXP, 6554, maxXP},
		{"missing", 9, count(9), "unchanged", 500, 3, 7},
	} {
		there, fresh := newID(), newID()
		s.put(key, g, "set", given(there, 500, count(7)))
		got := s.put(key, g, c.mode, given(there, c.xp, c.over), given(fresh, c.xp, c.over))
		messages, _ := c.over["messageCount"].(int)
		want := []putResult{{there, c.outcome, c.after, c.level, c.messages}, {fresh, "created", c.xp, levelAt(c.xp), messages}}
		if !slices.Equal(got, want) {
			t.Errorf("mode %s with %d XP and %v:\ngot  %+v\nwant %+v", c.mode, c.xp, c.over, got, want)
		}
		for _, r := range want {
			if m := s.member(key, g, r.UserID).Level; m.XP != r.XP || m.Level != r.Level || m.MessageCount != r.MessageCount || m.LastUpdated == nil {
				t.Errorf("mode %s with %d XP and %v: the member is %+v, want %+v", c.mode, c.xp, c.over, m, r)
			}
		}
	}
}

// levelAt returns the level of the default curve.
func levelAt(xp int) (n int) {
	for n < 10000 && 150-100*(n+1)+50*(n+1)*(n+1) <= xp {
		n++
	}
	return n
}
