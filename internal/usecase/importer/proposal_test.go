package importer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/importer"
)

func settings(t testing.TB) guild.Settings {
	t.Helper()
	s, err := guild.Parse(guild1, []byte(`{"name":"Gophers","memberCount":5,"ownerId":"100000000000000001","roleRewards":[
{"level":5,"id":"6ba7b810-9dad-41d1-80b4-00c04fd430c8","roles":[{"id":"1092837465019283811","name":"Regular","color":5}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// applied returns the guild's settings with the files' proposal, as far as the guild accepts it.
func (w *imported) applied() guild.Settings {
	w.t.Helper()
	document, err := w.Proposal.In(settings(w.t))
	if err != nil {
		w.t.Fatal(err)
	}
	s, wrong := settings(w.t).With(document)
	if wrong.Len() > 0 {
		w.t.Fatal(wrong.Err())
	}
	return s
}

func (w *imported) notTaken(want ...string) {
	w.t.Helper()
	var got []string
	for _, n := range w.Proposal.NotTaken {
		got = append(got, n.What)
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("the properties not taken are %q, want %q", w.Proposal.NotTaken, want)
	}
}

func reward(at level.Level, stack bool, role id.Role, name string) guild.RoleReward {
	return guild.RoleReward{Level: at, Stack: stack, Roles: []guild.Role{{ID: role, Name: name}}}
}

func (w *imported) rewards(got []guild.RoleReward, want ...guild.RoleReward) {
	w.t.Helper()
	same := func(a, b guild.RoleReward) bool {
		return a.Level == b.Level && a.Stack == b.Stack && slices.EqualFunc(a.Roles, b.Roles, func(a, b guild.Role) bool { return a.ID == b.ID && a.Name == b.Name })
	}
	if !slices.EqualFunc(got, want, same) {
		w.t.Errorf("the rewards are %+v, want %+v", got, want)
	}
}

func TestSettingsOfMEE6AreProposed(t *testing.T) {
	w := samples(t, "mee6-page0.json", "mee6-page1.json")
	w.notTaken()
	s := w.applied()
	if name, _ := s.Curve.PresetName(); name != level.PresetMEE6 || s.XPPerMessageMin != 15 || s.XPPerMessageMax != 25 || s.XPGlobalMultiplier != 1 {
		t.Errorf("the settings are %+v, want MEE6's curve, 15 to 25 XP and no multiplier", s)
	}
	w.rewards(s.RoleRewards, reward(5, true, "1092837465019283811", "Wick"), reward(20, true, "1092837465019283829", "Beacon"))
	if s.RoleRewards[0].ID != settings(t).RoleRewards[0].ID || *s.RoleRewards[0].Roles[0].Color != 3447003 {
		t.Errorf("the first reward is %+v, want the guild's id and the role's color", s.RoleRewards[0])
	}
}

func TestAColorOf0IsLeftOut(t *testing.T) {
	w := read(t, importer.Options{}, file("a.json", `{"players":[],"role_rewards":[{"rank":1,"role":{"id":"1092837465019283811","name":"a","color":0}}]}`))
	if c := w.applied().RoleRewards[0].Roles[0].Color; c != nil {
		t.Errorf("the color is %d, want none", *c)
	}
}

func TestSettingsOfAmariAreProposed(t *testing.T) {
	w := samples(t, "amari-rewards.json", "amari-leaderboard.json")
	s := w.applied()
	if name, _ := s.Curve.PresetName(); name != level.PresetAmari || len(s.RoleRewards) != 5 || s.XPPerMessageMax != 40 {
		t.Errorf("the settings are %+v, want Amari's curve, 5 rewards and at most 40 XP", s)
	}
}

func TestSettingsOfPolarisAreProposed(t *testing.T) {
	w := samples(t, "polaris-everything.json")
	w.notTaken("the curve's rounding", "the highest level")
	s := w.applied()
	if s.Curve.XPFor(2) != 408 || s.XPPerMessageMin != 50 || s.XPPerMessageMax != 100 || s.XPGainInterval != 60000 {
		t.Errorf("the settings are %+v, want 408 XP for level 2, 50 to 100 XP and a minute", s)
	}
	// The guild knows the name of one of the roles.
	w.rewards(s.RoleRewards, reward(5, true, "1092837465019283811", "Regular"), reward(20, false, "1092837465019283829", "1092837465019283829"))
	if w.plan(s.Curve).ChangeLevel != 3 { // 400 XP, 199 XP, and the one above both caps
		t.Errorf("the plan is %+v, want 3 members whose level changes", w.plan(s.Curve))
	}
}

func TestSettingsOfLevelUpAreProposed(t *testing.T) {
	w := samples(t, "levelup-guild.json")
	w.notTaken()
	s := w.applied()
	if s.Curve.XPFor(18) != 32400 || s.XPPerMessageMin != 3 || s.XPPerMessageMax != 6 || s.XPGainInterval != 60000 {
		t.Errorf("the settings are %+v, want 32400 XP for level 18, 3 to 6 XP and a minute", s)
	}
	w.rewards(s.RoleRewards, reward(5, true, "1092837465019283811", "Regular"), reward(20, true, "1092837465019283829", "1092837465019283829"))

	w = read(t, importer.Options{}, file("a.json", `{"users":{"`+user(1)+`":{"xp":250.0,"level":1}},"algorithm":{"base":150},"autoremove":true,
"levelroles":{"5":1092837465019283811,"ten":1092837465019283811,"7":1e18}}`))
	w.notTaken(`the reward of role "1e18" at level 7`, `the role of level "ten"`)
	if s := w.applied(); s.Curve.XPFor(2) != 600 || s.RoleRewards[0].Stack {
		t.Errorf("the proposal is %+v with the curve %v, want 600 XP for level 2 and no stacking", w.Proposal, s.Curve.Coefficients())
	}
}

// A fractional exponent gives no polynomial, so levels change.
func TestACurveThatIsNoPolynomialIsNotProposed(t *testing.T) {
	w := read(t, importer.Options{}, file("a.json", `{"users":{"`+user(1)+`":{"xp":800.0,"level":2},"`+user(2)+`":{"xp":100.0,"level":1}},"algorithm":{"exp":2.5}}`))
	w.notTaken("algorithm")
	if p := w.plan(level.Curve{}); w.Proposal.Given("curve") != "" || p.ChangeLevel != 1 {
		t.Errorf("the plan is %+v, want no curve and one member whose level changes", p)
	}
}

func TestInvalidSettingsAreNotTaken(t *testing.T) {
	w := read(t, importer.Options{}, file("a.json", `{"settings":{"gain":{"min":0,"max":2000,"time":5},"curve":{"1":-100},
"rewards":[{"id":"5","level":1},{"id":"1092837465019283811","level":10001},{"id":"1092837465019283829","level":3,"noSync":true}]},"users":{}}`))
	w.notTaken("the reward of role 5 at level 1", "the reward of role 1092837465019283811 at level 10001", "noSync of role 1092837465019283829",
		"XP per message", "the cooldown", "the curve")
	if s := w.applied(); len(s.RoleRewards) != 1 || s.XPPerMessageMax != 40 || s.XPGainInterval != 60000 || !s.Curve.Equal(level.Curve{}) {
		t.Errorf("the settings are %+v, want one reward and the guild's own XP, cooldown and curve", s)
	}
	for _, n := range w.Proposal.NotTaken {
		if n.Why == "" || strings.Contains(n.Why, "internal") {
			t.Errorf("the property %+v has no reason that a user understands", n)
		}
	}
	page := `{"guild":{},"levels":[],"xpPerMessageMin":1e3,"xpPerMessageMax":9999,"xpGainInterval":9223372036854775807,"xpGlobalMultiplier":1e300}`
	read(t, importer.Options{}, file("a.json", page)).notTaken("XP per message", "the cooldown", "the global multiplier")
	for _, settings := range []string{`5`, `{"gain":5}`, `{"curve":{"4":1}}`, `{"curve":{"1":1,"x":2}}`} {
		w := read(t, importer.Options{}, file("a.json", `{"settings":`+settings+`,"users":{"`+user(1)+`":{"xp":1}}}`))
		if len(w.Proposal.NotTaken) != 1 || !w.Proposal.Empty() || len(w.rows) != 1 {
			t.Errorf("with the settings %s the proposal is %+v, want one property not taken, and the member read", settings, w.Proposal)
		}
	}
}

// A file may have more rewards than a guild. Reading them must not take quadratic time.
func TestExcessRewardsAreNotTaken(t *testing.T) {
	rewards := func(n int) string {
		return repeat(n, func(i int) string { return fmt.Sprintf(`{"roleID":"%s","level":%d}`, user(i), (5000-i)%10000) })
	}
	bad := repeat(200, func(i int) string { return fmt.Sprintf(`{"roleID":"%d","level":1}`, i) })
	w := read(t, importer.Options{}, file("a.json", `{"data":[`+bad+`,`+rewards(1000)+`]}`))
	s := w.applied()
	if len(s.RoleRewards) != 250 || s.RoleRewards[249].Level != 4250 || len(w.Proposal.NotTaken) != 100 {
		t.Errorf("%d rewards are taken and %d are not, want 250 and 100", len(s.RoleRewards), len(w.Proposal.NotTaken))
	}
	w = read(t, importer.Options{}, file("a.json", `{"data":[`+rewards(60_000)+`]}`)) // 3 MB
	w.notTaken("the other role rewards", "the role rewards from level 3251 on")
}

// A number written as a decimal is accepted, and an invalid setting costs only itself.
func TestSettingsAreReadOneByOne(t *testing.T) {
	const role = "1092837465019283811"
	for name, c := range map[string]struct {
		content  string
		notTaken []string
		want     string // minimum and maximum XP, cooldown, number of rewards, XP of level 1
	}{
		"Polaris, decimals": {
			`{"settings":{"gain":{"min":10.0,"max":20.9,"time":60.5},"curve":{"1":100.0,"2":50.0},"maxLevel":50.0,"rewards":[{"id":"` + role + `","level":5.0}]},"users":{}}`,
			[]string{"the highest level"}, "10 20 60500 1 150",
		},
		"Polaris, unreadable": {
			`{"settings":{"gain":{"min":10,"max":20,"time":"a minute"},"curve":5,"rounding":"no","rewards":[5,{"id":"` + role + `","level":5},{"id":"` + role + `","level":"x"}]},"users":{}}`,
			[]string{"gain.time", "the curve", "rounding", "rewards"}, "10 20 60000 1 100",
		},
		"LevelUp": {
			`{"users":{"` + user(1) + `":{"xp":1}},"xp":[3.0,6.5],"cooldown":60.25,"algorithm":{"base":"x","exp":2.0},"levelroles":{"5":` + role + `}}`,
			[]string{"base"}, "3 6 60250 1 100",
		},
		"MEE6": {
			`{"players":[],"xp_per_message":[15.0,25.0],"role_rewards":[{"rank":5.0,"role":{"id":"` + role + `","color":0.0,"position":1.0}},{"rank":5,"role":"x"}]}`,
			[]string{"role rewards"}, "15 25 60000 1 100",
		},
		"a page of the API": {
			`{"guild":{},"levels":[],"xpGainInterval":60500.0,"xpPerMessageMin":1.0,"xpPerMessageMax":2.0,"roleRewards":[{"level":5.0,"roles":[{"id":"` + role + `"}]}]}`,
			nil, "1 2 60500 1 100",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := read(t, importer.Options{}, file("a.json", c.content))
			w.notTaken(c.notTaken...)
			s := w.applied()
			got := fmt.Sprint(s.XPPerMessageMin, s.XPPerMessageMax, s.XPGainInterval, len(s.RoleRewards), s.Curve.XPFor(1))
			if got != c.want {
				t.Errorf("the settings taken are %s, want %s", got, c.want)
			}
		})
	}
}

func TestTheFirstFilesSettingsCount(t *testing.T) {
	w := samples(t, "mee6-page0.json", "amari-leaderboard.json", "levelup-guild.json")
	w.notTaken("the curve", "algorithm", "XP per message")
	if w.Proposal.Given("curve") != `"mee6"` || w.Proposal.Given("xpPerMessageMin") != "15" {
		t.Errorf("the proposal is %+v, want the first file's curve and minimum", w.Proposal)
	}
}

func TestAPageOfTheAPIIsImported(t *testing.T) {
	w := read(t, importer.Options{Guild: guild2}, file("page.json", `{"guild":{"id":"`+string(guild1)+`","icon":null,"memberCount":5,"name":"a"},"isManager":false,
"levels":[{"rank":1,"level":7,"messageCount":2,"nextLevelXp":9,"progress":1.5,"userId":"`+user(1)+`","xp":5,
"user":{"accentColour":null,"avatar":null,"discriminator":"0","globalName":null,"username":"a"}}],
"roleRewards":[{"id":"6ba7b810-9dad-41d1-80b4-00c04fd430c8","level":4,"roles":[{"id":"1092837465019283811","name":"Wick","color":null,"position":1}]}],
"xpGainInterval":30000,"xpGlobalMultiplier":1.5,"xpPerMessageMax":30,"xpPerMessageMin":20,"vanity":null,"multipliers":[]}`))
	w.warns("is about guild " + string(guild1))
	s := w.applied()
	if s.XPGainInterval != 30000 || s.XPGlobalMultiplier != 1.5 || s.XPPerMessageMin != 20 || s.XPPerMessageMax != 30 || w.Proposal.Given("curve") != "" {
		t.Errorf("the settings are %+v, want the page's cooldown, multiplier and XP, and no curve", s)
	}
	w.rewards(s.RoleRewards, reward(4, true, "1092837465019283811", "Wick"))
	w.xp(map[id.User]level.XP{id.User(user(1)): 5})
}
