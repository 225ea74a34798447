package app_test

import (
	"slices"
	"testing"

	"levelboard/internal/testing/apitest"
)

var messageCases = cases{
	"the cooldown":                          cooldownOfMessages,
	"what gains nothing starts no cooldown": nothingStartsNoCooldown,
	"levels and roles":                      levelsAndRoles,
	"members without an entry":              messagesOfNewMembers,
	"who may send them, and where":          whoMaySendMessages,
	"one call is one request":               oneCallIsOneRequest,
	"large calls":                           largeCalls,
}

// The channels of these tests, by a letter.
const (
	chanA = "500000000000000001"
	chanB = "500000000000000002"
	chanC = "500000000000000003"
	chanD = "500000000000000004"
)

func messagesPath(g string) string { return "/v2/guilds/" + g + "/messages" }

// exactly returns settings with one XP for every message.
func exactly(xp int, over object) object {
	s := object{"xpPerMessageMin": xp, "xpPerMessageMax": xp}
	for name, value := range over {
		s[name] = value
	}
	return s
}

// message is one of u in chanD, and over it what over says.
func message(u string, over object) object {
	m := object{"userId": u, "channelId": chanD}
	for name, value := range over {
		m[name] = value
	}
	return m
}

// result is what one message did.
type result struct {
	UserID       string
	Gained, XP   int
	Level        int
	MessageCount int
	LeveledUp    bool
	AddRoles     []string
	RemoveRoles  []string
}

func (s *service) send(key, g string, messages []object, options ...apitest.Option) apitest.Response {
	s.t.Helper()
	return s.Do("POST", messagesPath(g), key, object{"messages": messages}, options...)
}

func results(t *testing.T, got apitest.Response) []result {
	t.Helper()
	return apitest.JSON[struct{ Results []result }](t, got.Want(t, 200)).Results
}

// award sends messages and returns what each did.
func (s *service) award(key, g string, messages ...object) []result {
	s.t.Helper()
	got := results(s.t, s.send(key, g, messages))
	if len(got) != len(messages) {
		s.t.Fatalf("%d results for %d messages", len(got), len(messages))
	}
	return got
}

// gained is what each message gave.
func gained(results []result) []int {
	all := make([]int, len(results))
	for i, r := range results {
		all[i] = r.Gained
	}
	return all
}

func wantGained(t *testing.T, got []result, want ...int) {
	t.Helper()
	if !slices.Equal(gained(got), want) {
		t.Errorf("gained %v, want %v", gained(got), want)
	}
}

// newUsers are n users that nobody knows.
func newUsers(n int) []string {
	users := make([]string, n)
	for i := range users {
		users[i] = newID()
	}
	return users
}

func channelMultiplier(by float64, channels ...string) object {
	targets := make([]object, len(channels))
	for i, id := range channels {
		targets[i] = object{"id": id, "name": "channel", "parentId": nil, "position": 1, "type": 0}
	}
	return object{"type": "Channel", "multiplier": by, "targets": targets}
}

func cooldownOfMessages(t *testing.T, s *service) {
	g := s.guild(exactly(20, object{"xpGainInterval": 86_400_000}))
	key := s.key(g)
	a, b, c, d := newID(), newID(), newID(), newID()
	got := s.award(key, g, message(a, nil), message(b, nil), message(a, nil), message(a, nil))
	wantGained(t, got, 20, 20, 0, 0)
	if got[2].XP != 20 || got[2].MessageCount != 2 || got[3].MessageCount != 3 {
		t.Errorf("during the cooldown: %+v", got[2:])
	}
	got = s.award(key, g, message(b, nil), message(a, nil))
	wantGained(t, got, 0, 0)
	if m := s.member(key, g, a); m.Level.XP != 20 || m.Level.MessageCount != 4 {
		t.Errorf("it is %v", flat(m))
	}
	// PATCH with triggerCooldown starts it, PATCH without does not, and it holds no PATCH back.
	for _, u := range []string{c, d} {
		s.create(key, g, u, 5)
	}
	s.Do("PATCH", memberPath(g, c), key, object{"xp": object{"increment": 1}, "triggerCooldown": true}).Want(t, 200)
	s.Do("PATCH", memberPath(g, d), key, object{"xp": object{"increment": 1}, "triggerCooldown": false}).Want(t, 200)
	wantGained(t, s.award(key, g, message(c, nil), message(d, nil)), 0, 20)
	s.patch(key, g, d, object{"increment": 3})
	if m := s.member(key, g, d); m.Level.XP != 29 || m.Level.MessageCount != 1 {
		t.Errorf("it is %v", flat(m))
	}
}

func nothingStartsNoCooldown(t *testing.T, s *service) {
	g := s.guild(exactly(20, object{"ignoredChannelIds": []string{chanA}, "multipliers": []object{channelMultiplier(0, chanB)}}))
	key := s.key(g)
	a, b := newID(), newID()
	ignored, zero := object{"channelId": chanA}, object{"channelId": chanB}
	wantGained(t, s.award(key, g, message(a, ignored), message(a, zero), message(a, nil), message(a, ignored), message(a, nil)), 0, 0, 20, 0, 0)
	wantGained(t, s.award(key, g, message(b, ignored)), 0)
	wantGained(t, s.award(key, g, message(b, zero)), 0)
	wantGained(t, s.award(key, g, message(b, nil)), 20)
	if m := s.member(key, g, b); m.Level.MessageCount != 2 || m.Level.LastUpdated == nil {
		t.Errorf("it is %v", flat(m))
	}
}

// Many calls at once name the same members: every message is counted, and each member gains once in its cooldown.
