package app_test

import (
	"fmt"
	"slices"
	"testing"

	"levelboard/internal/testing/apitest"
)

var putCases = cases{
	"each mode, by example":               putModesByExample,
	"user data":                           putUserData,
	"results in the order of the request": putInOrder,
	"a thousand members":                  putThousand,
	"what is put is made once":            putMadeOnce,
	"who may put, and where":              whoMayPut,
	"the largest body":                    largestPut,
}

func bulkPath(g string) string { return "/v2/guilds/" + g + "/members" }

// putResult is what became of one member.
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

// put puts members and returns what became of each.
func (s *service) put(key, g, mode string, members ...object) []putResult {
	s.t.Helper()
	got := putResults(s.t, s.sendPut(key, g, mode, members))
	if len(got) != len(members) {
		s.t.Fatalf("%d results for %d members", len(got), len(members))
	}
	return got
}

// given is what a member is given, and over it what over says.
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
		outcome  string // for one with 500 XP and 7 messages
		after    int
		level    int
		messages int
	}{
		{"set", 100, nil, "changed", 100, 1, 7},
		{"set", 500, nil, "unchanged", 500, 3, 7},
		{"set", 500, count(7), "unchanged", 500, 3, 7},
		{"set", 500, count(0), "changed", 500, 3, 0},
		{"set", 0, nil, "changed", 0, 0, 7},
		{"set", maxXP, count(maxXP), "changed", maxXP, 6554, maxXP},
		{"higher", 499, nil, "unchanged", 500, 3, 7},
		{"higher", 550, nil, "changed", 550, 4, 7},
		{"higher", 100, count(9), "changed", 500, 3, 9},
		{"higher", 501, count(3), "changed", 501, 3, 7},
		{"higher", 500, count(3), "unchanged", 500, 3, 7},
		{"add", 0, nil, "unchanged", 500, 3, 7},
		{"add", 50, nil, "changed", 550, 4, 7},
		{"add", 0, count(5), "changed", 500, 3, 12},
		{"add", 0, count(0), "unchanged", 500, 3, 7},
		{"add", maxXP, count(maxXP), "changed", maxXP, 6554, maxXP},
		{"missing", 9, count(9), "unchanged", 500, 3, 7},
		{"missing", maxXP, object{"user": gopher}, "unchanged", 500, 3, 7},
	} {
		there, fresh := newID(), newID()
		s.put(key, g, "set", given(there, 500, count(7)))
		got := s.put(key, g, c.mode, given(there, c.xp, c.over), given(fresh, c.xp, c.over))
		messages, _ := c.over["messageCount"].(int)
		want := []putResult{{there, c.outcome, c.after, c.level, c.messages}, {fresh, "created", c.xp, levelAt(c.xp), messages}}
		if !slices.Equal(got, want) {
			t.Errorf("%s %d %v:\ngot  %+v\nwant %+v", c.mode, c.xp, c.over, got, want)
		}
		for _, r := range want {
			if m := s.member(key, g, r.UserID).Level; m.XP != r.XP || m.Level != r.Level || m.MessageCount != r.MessageCount || m.LastUpdated == nil {
				t.Errorf("%s %d %v: the member is %+v, want %+v", c.mode, c.xp, c.over, m, r)
			}
		}
	}
	full := newID()
	s.create(key, g, full, maxXP)
	if got := s.put(key, g, "add", given(full, 5, nil))[0]; got.Outcome != "unchanged" || got.XP != maxXP {
		t.Errorf("added to the highest XP: %+v", got)
	}
}

// levelAt is the level by the default curve.
func levelAt(xp int) (n int) {
	for n < 10000 && 150-100*(n+1)+50*(n+1)*(n+1) <= xp {
		n++
	}
	return n
}

func putUserData(t *testing.T, s *service) {
	g, u, fresh := s.guild(nil), newID(), newID()
	key := s.key(g)
	ada := object{"user": object{"avatar": "a_0123456789abcdef0123456789abcdef", "discriminator": "1", "username": "ada", "globalName": "Ada \"é\"\n"}}
	s.create(key, g, u, 100)
	for _, step := range []struct {
		mode    string
		over    object
		outcome string
		name    string
	}{
		{"set", nil, "unchanged", "gopher"},
		{"missing", ada, "unchanged", "gopher"},
		{"set", object{"user": gopher}, "unchanged", "gopher"},
		{"higher", ada, "changed", "ada"},
		{"higher", ada, "unchanged", "ada"},
		{"set", count(0), "unchanged", "ada"},
	} {
		if got := s.put(key, g, step.mode, given(u, 100, step.over))[0]; got.Outcome != step.outcome {
			t.Errorf("%s %v: %+v", step.mode, step.over, got)
		}
		if name := s.member(key, g, u).User["username"]; name != step.name {
			t.Errorf("%s %v: the name is %v", step.mode, step.over, name)
		}
	}
	if user := s.member(key, g, u).User; fmt.Sprint(user) != fmt.Sprint(decoded(t, []byte(jsonText(t, ada["user"])))) {
		t.Errorf("the user data is %v", user)
	}
	s.put(key, g, "missing", given(fresh, 1, nil))
	if user := s.member(key, g, fresh).User; user["username"] != "" || user["discriminator"] != "" || user["avatar"] != nil || user["globalName"] != nil {
		t.Errorf("who came without user data has %v", user)
	}
}

// putInOrder mixes members with user data and without, new ones and others, in a call of three steps.
func putInOrder(t *testing.T, s *service) {
	g := s.guild(nil)
	key := s.key(g)
	users := newUsers(250)
	var members []object
	for i, u := range users {
		if i%3 == 0 {
			s.create(key, g, u, i)
		}
		over := object{}
		if i%7 < 3 {
			over = object{"user": object{"avatar": nil, "discriminator": "0", "username": fmt.Sprint("u", i)}}
		}
		members = append(members, given(u, i, over))
	}
	for i, r := range s.put(key, g, "set", members...) {
		outcome := "created"
		if i%3 == 0 {
			if outcome = "unchanged"; i%7 < 3 {
				outcome = "changed"
			}
		}
		if want := (putResult{users[i], outcome, i, levelAt(i), 0}); r != want {
			t.Errorf("result %d is %+v, want %+v", i, r, want)
		}
	}
	for _, i := range []int{1, 2, 100, 225} { // 100 and 225 have a name
		name := ""
		if i%7 < 3 {
			name = fmt.Sprint("u", i)
		}
		if got := s.member(key, g, users[i]).User["username"]; got != name {
			t.Errorf("member %d is called %q, want %q", i, got, name)
		}
	}
}
