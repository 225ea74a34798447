package app_test

import (
	"slices"
	"testing"

	"levelboard/internal/testing/apitest"
)

var messageCases = cases{
	"multipliers, ignored channels and roles": whatAMessageIsWorth,
	"the cooldown":                          cooldownOfMessages,
	"what gains nothing starts no cooldown": nothingStartsNoCooldown,
	"levels and roles":                      levelsAndRoles,
	"results in the order of the messages":  resultsInOrder,
	"members without an entry":              messagesOfNewMembers,
	"settings count from the next call":     settingsCountFromTheNextCall,
	"who may send them, and where":          whoMaySendMessages,
	"one call is one request":               oneCallIsOneRequest,
	"large calls":                           largeCalls,
	"optional properties":                   optionalProperties,
}

// The channels of these tests, by a letter.
const (
	chanA = "500000000000000001"
	chanB = "500000000000000002"
	chanC = "500000000000000003"
	chanD = "500000000000000004"
)

func messagesPath(g string) string { return "/v2/guilds/" + g + "/messages" }

// exactly gives a guild messages that are always worth the same.
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

func roleMultiplier(by float64, roles ...string) object {
	targets := make([]object, len(roles))
	for i, id := range roles {
		targets[i] = object{"id": id, "name": "role", "color": nil, "position": 1}
	}
	return object{"type": "Role", "multiplier": by, "targets": targets}
}

func whatAMessageIsWorth(t *testing.T, s *service) {
	const nothing, quiet, parent = "500000000000000011", "500000000000000012", "500000000000000013"
	const uncounted = -1
	g := s.guild(exactly(20, object{
		"xpGlobalMultiplier": 1.5, "ignoredChannelIds": []string{quiet}, "ignoredRoleIds": []string{roleE},
		"multipliers": []object{
			channelMultiplier(2, chanA), channelMultiplier(3, parent, chanB), channelMultiplier(0, nothing), channelMultiplier(0.1, chanC),
			roleMultiplier(2, roleA, roleE), roleMultiplier(4, roleB), roleMultiplier(0.5, roleC), roleMultiplier(0, roleD),
		},
	}))
	key := s.key(g)
	for i, c := range []struct {
		channel string
		parent  any
		roles   []string
		want    int
	}{
		{chanD, nil, nil, 30},
		{chanD, parent, nil, 90},
		{chanA, parent, nil, 60},                         // its own counts, also when it is less
		{chanD, nil, []string{roleA, roleB, roleC}, 120}, // the largest, not the product
		{chanA, nil, []string{roleB}, 240},
		{chanC, nil, []string{roleC}, 1}, // 1.5
		{nothing, parent, nil, 0},
		{quiet, parent, nil, uncounted},
		{chanD, nil, []string{roleB, roleE}, uncounted},
	} {
		over := object{"channelId": c.channel, "parentChannelId": c.parent}
		if c.roles != nil {
			over["roleIds"] = c.roles
		}
		u := newID()
		got := s.award(key, g, message(u, over))[0]
		messages := 1
		if c.want == uncounted {
			c.want, messages = 0, 0
			s.Do("GET", memberPath(g, u), key, nil).Want(t, 404)
		}
		if got.UserID != u || got.Gained != c.want || got.XP != c.want || got.MessageCount != messages {
			t.Errorf("case %d, %+v: %+v", i, c, got)
		}
	}
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

// Members are shared by many calls at once: everything is counted, and each member gains once in its cooldown.
