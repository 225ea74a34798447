package app_test

import (
	"slices"
	"testing"

	"levelboard/internal/testing/apitest"
)

var messageCases = cases{
	"a member gains once in a cooldown": cooldownOfMessages,
	"without a gain no cooldown starts": nothingStartsNoCooldown,
	"a message's level and roles":       levelsAndRoles,
	"a first message makes an entry":    messagesOfNewMembers,
	"who may send messages, and where":  whoMaySendMessages,
	"one call is one request":           oneCallIsOneRequest,
	"a call may have 1000 messages":     largeCalls,
}

// The channels of these tests.
const (
	chanA = "500000000000000001"
	chanB = "500000000000000002"
	chanC = "500000000000000003"
	chanD = "500000000000000004"
)

func messagesPath(g string) string { return "/v2/guilds/" + g + "/messages" }

// exactly returns settings that give xp for every message, overridden by over.
func exactly(xp int, over object) object {
	s := object{"xpPerMessageMin": xp, "xpPerMessageMax": xp}
	for name, value := range over {
		s[name] = value
	}
	return s
}

// message returns one of u in chanD, overridden by over.
func message(u string, over object) object {
	m := object{"userId": u, "channelId": chanD}
	for name, value := range over {
		m[name] = value
	}
	return m
}

// result is the result of one message.
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

// award sends messages and returns their results.
func (s *service) award(key, g string, messages ...object) []result {
	s.t.Helper()
	got := results(s.t, s.send(key, g, messages))
	if len(got) != len(messages) {
		s.t.Fatalf("%d messages have %d results, want one each", len(messages), len(got))
	}
	return got
}

// gained returns the XP that each message gave.
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
		t.Errorf("the messages gained %v XP, want %v", gained(got), want)
	}
}

// newUsers returns n users without entries.
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
		t.Errorf("during the cooldown the results are %+v, want 20 XP and 2 and 3 messages", got[2:])
	}
	got = s.award(key, g, message(b, nil), message(a, nil))
	wantGained(t, got, 0, 0)
	if m := s.member(key, g, a); m.Level.XP != 20 || m.Level.MessageCount != 4 {
		t.Errorf("after the cooldown's messages the member is %v, want 20 XP and 4 messages", flat(m))
	}
	// Only PATCH with triggerCooldown starts a cooldown, and no cooldown blocks PATCH.
	for _, u := range []string{c, d} {
		s.create(key, g, u, 5)
	}
	s.Do("PATCH", memberPath(g, c), key, object{"xp": object{"increment": 1}, "triggerCooldown": true}).Want(t, 200)
	s.Do("PATCH", memberPath(g, d), key, object{"xp": object{"increment": 1}, "triggerCooldown": false}).Want(t, 200)
	wantGained(t, s.award(key, g, message(c, nil), message(d, nil)), 0, 20)
	s.patch(key, g, d, object{"increment": 3})
	if m := s.member(key, g, d); m.Level.XP != 29 || m.Level.MessageCount != 1 {
		t.Errorf("after PATCH and a message the member is %v, want 29 XP and 1 message", flat(m))
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
		t.Errorf("the member is %v, want 2 counted messages and lastUpdated", flat(m))
	}
}

// Many concurrent calls name the same members. Every message is counted, and each member gains once in its cooldown.
