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

func TestAPlanFollowsItsMode(t *testing.T) {
	const header = "id,xp,messages,name\n"
	now := indexOf(t, importer.Row{
		UserID: id.User(user(1)), XP: 100, MessageCount: new(int64(10)), Present: true,
		User: &leaderboard.User{Username: "a", Avatar: new("0000000000005f3a9c1e77b04d21a6e8")},
	})
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
			p, err := w.members.Plan(t.Context(), importer.PlanOptions{Mode: mode, There: now})
			got := map[string]int{n: p.New, c: p.Changed, u: p.Unchanged}
			if err != nil || got[want] != 1 || p.Members != 1 || p.New+p.Changed+p.Unchanged != 1 || (p.Lower == 1) != test.lower {
				t.Errorf("%s %s: the plan is %+v (%v), want one member %s", mode, test.row, p, err, want)
			}
		}
	}
}

func TestAddingToTheMaximumXPChangesNothing(t *testing.T) {
	w := read(t, importer.Options{}, file("a.csv", "id,xp\n"+user(1)+",5\n"))
	now := indexOf(t, importer.Row{UserID: id.User(user(1)), XP: level.MaxXP})
	if p, err := w.members.Plan(t.Context(), importer.PlanOptions{Mode: leaderboard.PutAdd, There: now}); err != nil || p.Unchanged != 1 {
		t.Errorf("the plan is %+v (%v), want one unchanged member", p, err)
	}
}

func indexOf(t *testing.T, rows ...importer.Row) importer.Index {
	t.Helper()
	index, err := importer.NewIndex(t.Context(), func(yield func(importer.Row, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return index
}

func TestAPlanCountsMembersThatBecomeAbsent(t *testing.T) {
	w := read(t, importer.Options{}, file("p.json", `{"settings":{},"users":{"`+user(1)+`":{"xp":5,"missing":true},"`+user(2)+`":{"xp":5,"hidden":true}}}`))
	var rows []importer.Row
	for _, row := range w.order {
		rows = append(rows, importer.Row{UserID: row.UserID, XP: row.XP, Present: true})
	}
	now := indexOf(t, rows...)
	p, err := w.members.Plan(t.Context(), importer.PlanOptions{Mode: leaderboard.PutHigher, There: now})
	if err != nil || p.Changed != 1 || p.Unchanged != 1 {
		t.Errorf("the plan is %+v (%v), want one changed and one unchanged member", p, err)
	}
}

func TestAPlanShowsTenOfManyMembers(t *testing.T) {
	w := read(t, importer.Options{}, file("a.json", `[`+repeat(250, func(i int) string { return `{"id":"` + user(i) + `","xp":1}` })+`]`))
	there := indexOf(t, importer.Row{UserID: id.User(user(1)), XP: 5}, importer.Row{UserID: id.User(user(200)), XP: 1})
	p, err := w.members.Plan(t.Context(), importer.PlanOptions{Mode: leaderboard.PutSet, There: there})
	if err != nil || p.New != 248 || p.Lower != 1 || len(p.First) != 10 {
		t.Errorf("the plan is %+v (%v), want 248 new, 1 lower and 10 shown", p, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := w.members.Plan(ended, importer.PlanOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("planning with an ended context: %v, want context.Canceled", err)
	}
}

func TestMinLevelUsesTheGivenCurve(t *testing.T) {
	w := samples(t, "mee6-page0.json", "mee6-page1.json")
	mee6, _ := level.Preset(level.PresetMEE6)
	for _, c := range []struct {
		curve  level.Curve
		lowest level.Level
		left   int
	}{{mee6, 0, 12}, {mee6, 1, 10}, {mee6, 10, 6}, {level.Curve{}, 10, 7}, {mee6, 33, 0}} {
		p, err := w.members.Plan(t.Context(), importer.PlanOptions{Mode: leaderboard.PutSet, Curve: c.curve, MinLevel: c.lowest})
		if err != nil || p.Members != c.left || p.BelowMinLevel != 12-c.left {
			t.Errorf("from level %d the plan is %+v (%v), want %d members", c.lowest, p, err, c.left)
		}
	}
}

func TestNamesOfSources(t *testing.T) {
	for _, s := range importer.Sources {
		if got, err := importer.ParseFrom(string(s)); err != nil || got != s {
			t.Errorf("the source %s is read as %v (%v)", s, got, err)
		}
	}
	if _, err := importer.ParseFrom("mee7"); err == nil {
		t.Error("the unknown source mee7 is accepted")
	}
}
