package importer_test

import (
	"context"
	"errors"
	"testing"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/leaderboard"
)

func TestPlanByMode(t *testing.T) {
	const header = "id,xp,messages,name\n"
	now := map[id.User]importer.Current{id.User(user(1)): {
		XP: 100, MessageCount: 10, Present: true, User: leaderboard.User{Username: "a", Avatar: new("0000000000005f3a9c1e77b04d21a6e8")},
	}}
	const n, c, u = "new", "changed", "unchanged"
	for _, test := range []struct {
		row                       string
		set, higher, add, missing string
		lower                     bool
	}{
		{user(2) + ",100,10,a", n, n, n, n, false},
		{user(1) + ",100,10,", u, u, c, u, false},
		{user(1) + ",100,,", u, u, c, u, false},
		{user(1) + ",0,0,", c, u, u, u, true},
		{user(1) + ",99,10,", c, u, c, u, true},
		{user(1) + ",101,10,", c, c, c, u, false},
		{user(1) + ",100,11,", c, c, c, u, false},
		{user(1) + ",99,11,", c, c, c, u, true},
		{user(1) + ",0,,b", c, c, c, u, true},
	} {
		w := read(t, importer.Options{}, file("a.csv", header+test.row))
		for mode, want := range map[leaderboard.PutMode]string{
			leaderboard.PutSet: test.set, leaderboard.PutHigher: test.higher, leaderboard.PutAdd: test.add, leaderboard.PutMissing: test.missing,
		} {
			p, err := w.members.Plan(t.Context(), importer.PlanOptions{Mode: mode, Lookup: lookup(now)})
			got := map[string]int{n: p.New, c: p.Changed, u: p.Unchanged}
			if err != nil || got[want] != 1 || p.Members != 1 || p.New+p.Changed+p.Unchanged != 1 || (p.Lower == 1) != test.lower {
				t.Errorf("%s %s: %+v, %v; want %s", mode, test.row, p, err, want)
			}
		}
	}
}

func TestAddingToTheMostXP(t *testing.T) {
	w := read(t, importer.Options{}, file("a.csv", "id,xp\n"+user(1)+",5\n"))
	now := map[id.User]importer.Current{id.User(user(1)): {XP: level.MaxXP}}
	if p, err := w.members.Plan(t.Context(), importer.PlanOptions{Mode: leaderboard.PutAdd, Lookup: lookup(now)}); err != nil || p.Unchanged != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

func lookup(now map[id.User]importer.Current) func(context.Context, []id.User) (map[id.User]importer.Current, error) {
	return func(context.Context, []id.User) (map[id.User]importer.Current, error) { return now, nil }
}

func TestPlanOfMembersThatBecomeAbsent(t *testing.T) {
	w := read(t, importer.Options{}, file("p.json", `{"settings":{},"users":{"`+user(1)+`":{"xp":5,"missing":true},"`+user(2)+`":{"xp":5,"hidden":true}}}`))
	now := make(map[id.User]importer.Current)
	for _, row := range w.order {
		now[row.UserID] = importer.Current{XP: row.XP, Present: true}
	}
	p, err := w.members.Plan(t.Context(), importer.PlanOptions{Mode: leaderboard.PutHigher, Lookup: lookup(now)})
	if err != nil || p.Changed != 1 || p.Unchanged != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestPlanLooksUpAHundredAtATime(t *testing.T) {
	w := read(t, importer.Options{}, file("a.json", `[`+repeat(250, func(i int) string { return `{"id":"` + user(i) + `","xp":1}` })+`]`))
	var sizes []int
	p, err := w.members.Plan(t.Context(), importer.PlanOptions{Mode: leaderboard.PutSet, Lookup: func(_ context.Context, users []id.User) (map[id.User]importer.Current, error) {
		sizes = append(sizes, len(users))
		return map[id.User]importer.Current{users[0]: {XP: 5}}, nil
	}})
	if err != nil || len(sizes) != 3 || sizes[0] != importer.LookupSize || sizes[2] != 50 || p.New != 247 || p.Lower != 3 || len(p.First) != 10 {
		t.Errorf("%+v, %v, looked up %v", p, err, sizes)
	}
	broken := errors.New("broken")
	if _, err := w.members.Plan(t.Context(), importer.PlanOptions{Lookup: func(context.Context, []id.User) (map[id.User]importer.Current, error) {
		return nil, broken
	}}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

func TestMinLevelIsByTheCurveThatIsGiven(t *testing.T) {
	w := samples(t, "mee6-page0.json", "mee6-page1.json")
	mee6, _ := level.Preset(level.PresetMEE6)
	for _, c := range []struct {
		curve  level.Curve
		lowest level.Level
		left   int
	}{{mee6, 0, 12}, {mee6, 1, 10}, {mee6, 10, 6}, {level.Curve{}, 10, 7}, {mee6, 33, 0}} {
		p, err := w.members.Plan(t.Context(), importer.PlanOptions{Mode: leaderboard.PutSet, Curve: c.curve, MinLevel: c.lowest, Lookup: lookup(nil)})
		if err != nil || p.Members != c.left || p.BelowMinLevel != 12-c.left {
			t.Errorf("level %d: %+v, %v; want %d", c.lowest, p, err, c.left)
		}
	}
}

func TestNamesOfSources(t *testing.T) {
	for _, s := range importer.Sources {
		if got, err := importer.ParseFrom(string(s)); err != nil || got != s {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
	if _, err := importer.ParseFrom("mee7"); err == nil {
		t.Error("mee7 is a source")
	}
}
