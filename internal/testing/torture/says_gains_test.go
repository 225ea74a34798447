package torture

import (
	"slices"
	"testing"
	"time"
)

// Only periods show gains. Gains are as safe as XP.
func TestTheModelTracksGains(t *testing.T) {
	now := time.Now()
	lost, made := answer{verdict: unknown, ended: now}, func(xp int64) answer { return answer{verdict: done, says: outcome{xp: xp}, ended: now} }
	plus, keyed := change{op: increment, amount: 10}, change{op: increment, amount: 10, key: "k"}
	minus, over := change{op: decrement, amount: 30}, change{op: increment, amount: maxXP}
	sets, gone := change{op: set, amount: 500}, change{op: remove}
	said := answer{verdict: done, says: outcome{977, 977, 1, ""}, ended: now}
	cases := []struct {
		name   string
		steps  func(m *member) bool
		gained []int64 // the possible gains afterwards, lowest first
	}{
		{"nothing", func(*member) bool { return true }, []int64{5}},
		{"an increment", func(m *member) bool { return m.answered(plus, made(110)) }, []int64{15}},
		{"a decrement, down to 0", func(m *member) bool { return m.answered(change{op: decrement, amount: 300}, made(0)) }, []int64{-95}},
		{"an increment, up to the highest XP", func(m *member) bool { return m.answered(over, made(maxXP)) }, []int64{5 + maxXP - 100}},
		{"a set", func(m *member) bool { return m.answered(sets, made(500)) }, []int64{5}},
		{"a new entry", func(m *member) bool {
			return m.answered(gone, made(0)) && m.answered(change{op: create, amount: 7}, made(7))
		}, []int64{0}},
		{"messages that make an entry", func(m *member) bool {
			return m.answered(gone, made(0)) && m.answered(change{op: award, amount: 977, messages: 1}, said)
		}, []int64{977}},
		{"unknown changes", func(m *member) bool { return m.answered(plus, lost) && m.answered(minus, lost) }, []int64{-25, -15, 5, 15}},
		{"a bulk addition", func(m *member) bool {
			return m.answered(change{op: put, mode: "add", amount: 10, messages: -1}, answer{verdict: done, says: outcome{xp: 110, became: "changed"}, ended: now})
		}, []int64{15}},
		{"a bulk addition while absent, and the return", func(m *member) bool {
			left, back := answer{verdict: done, says: outcome{became: "1"}, ended: now}, change{op: comeBack}
			return m.answered(change{op: leave}, left) && m.answered(change{op: put, mode: "add", amount: 10, messages: 3}, answer{verdict: done, says: outcome{xp: 110, messages: 3, became: "changed"}, ended: now}) &&
				m.answered(back, left)
		}, []int64{15}},
		{"an unknown change before a set", func(m *member) bool {
			return m.answered(plus, lost) && m.answered(sets, made(500)) && m.saw(state{true, 500, "n", 0, 0, false})
		},
			[]int64{5, 15}},
		{"a change repeated under its key", func(m *member) bool { return m.answered(keyed, lost) && m.answered(keyed, made(110)) }, []int64{15}},
		{"a change that may be lost", func(m *member) bool {
			m.answered(plus, made(110))
			m.note(now, time.Time{})
			m.returned(now.Add(time.Second), m.since(now.Add(-time.Millisecond)))
			return true
		}, []int64{5, 15}},
	}
	for _, c := range cases {
		for _, counted := range []bool{true, false} {
			m := newMember("g", "u", true)
			first, want := state{true, 100, "n", 0, 5, false}, c.gained
			if m.counted = counted; !counted {
				first.gained, want = 0, []int64{0}
			}
			m.may = map[possible]bool{{state: first}: true}
			m.trail = []moment{{from: now.Add(-time.Second), states: []known{{state: first}}}}
			if !c.steps(m) {
				t.Fatalf("%s: the model refuses the steps", c.name)
			}
			var got []int64
			for _, s := range m.states() {
				got = append(got, s.gained)
			}
			slices.Sort(got)
			if got = slices.Compact(got); !slices.Equal(got, want) {
				t.Errorf("%s, counted %v: the possible gains are %v, want %v", c.name, counted, got, want)
			}
			if m.unsure() != (len(want) > 1) && len(m.pending) == 0 {
				t.Errorf("%s: unsure is %v with the gains %v", c.name, m.unsure(), want)
			}
		}
	}
}

// If Redis and the archive have different gains of a member, the higher one counts. A gain below 0 may count if the other has no record.
func TestTheModelMergesGains(t *testing.T) {
	for _, c := range []struct {
		archive, dump int64
		want          []int64
	}{{5, 7, []int64{7}}, {7, 5, []int64{7}}, {-5, -7, []int64{-5}}, {0, 5, []int64{5}}, {0, -5, []int64{-5, 0}}, {-5, 0, []int64{-5, 0}}} {
		var got []int64
		for _, k := range both(known{state: state{true, 1, "a", 0, c.archive, false}}, known{state: state{true, 1, "d", 0, c.dump, false}}) {
			got = append(got, k.gained)
		}
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, c.want) {
			t.Errorf("with %d archived and %d in the dump the possible gains are %v, want %v", c.archive, c.dump, got, c.want)
		}
	}
}

// At any time of the week a run ends before the day does.
func TestTheZoneLeavesTimeForARun(t *testing.T) {
	for at, end := time.Date(2026, time.November, 29, 0, 0, 0, 0, time.UTC), time.Date(2026, time.December, 2, 0, 0, 0, 0, time.UTC); at.Before(end); at = at.Add(20 * time.Minute) {
		zone, err := time.LoadLocation(pickZone(at))
		if err != nil {
			t.Fatal(err)
		}
		if hour := at.In(zone).Hour(); hour != 1 {
			t.Errorf("at %v the hour in %v is %d, want 1", at, zone, hour)
		}
	}
}
