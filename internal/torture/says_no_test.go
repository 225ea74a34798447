package torture

import (
	"testing"
	"time"
)

// The model is only worth what it refuses.
func TestTheModelRefuses(t *testing.T) {
	now := time.Now()
	plus := change{op: increment, amount: 10}
	keyed := change{op: increment, amount: 10, key: "k"}
	lost, made := answer{verdict: unknown, ended: now}, func(xp int64) answer { return answer{verdict: done, xp: xp, ended: now} }
	at := func(xp int64) state { return state{true, xp, "n"} }
	cases := []struct {
		name  string
		steps func(m *member) bool // what it returns must be false
	}{
		{"an acknowledged change that is lost", func(m *member) bool { return m.answered(plus, made(110)) && m.saw(at(100)) }},
		{"one that is made twice", func(m *member) bool { return m.answered(plus, made(110)) && m.saw(at(120)) }},
		{"an answer that is not the sum", func(m *member) bool { return m.answered(plus, made(120)) }},
		{"an unknown one that is made twice", func(m *member) bool { return m.answered(plus, lost) && m.saw(at(120)) }},
		{"an unknown one that comes and goes", func(m *member) bool { return m.answered(plus, lost) && m.saw(at(110)) && m.saw(at(100)) }},
		{"one that comes after it has settled", func(m *member) bool {
			if !m.answered(plus, lost) || !m.saw(at(100)) {
				return true
			}
			m.settle(now.Add(time.Minute), now)
			return m.saw(at(110))
		}},
		{"one made again under its key", func(m *member) bool { return m.answered(keyed, lost) && m.answered(keyed, made(110)) && m.saw(at(120)) }},
		{"one answered and not made under its key", func(m *member) bool { return m.answered(keyed, lost) && m.answered(keyed, made(110)) && m.saw(at(100)) }},
		{"another outcome under its key", func(m *member) bool { return m.answered(keyed, lost) && m.answered(keyed, made(120)) }},
		{"a member that comes back", func(m *member) bool { return m.answered(change{op: remove}, made(0)) && m.saw(at(100)) }},
		{"an entry over an entry", func(m *member) bool { return m.answered(change{op: create, amount: 1}, made(1)) }},
		{"a loss of what was saved", func(m *member) bool {
			m.answered(plus, made(110))
			m.note(now, time.Time{})
			saved := m.since(now.Add(time.Millisecond))
			m.returned(now.Add(time.Second), saved)
			return m.saw(at(100))
		}},
	}
	for _, c := range cases {
		m := newMember("g", "u", true)
		m.may = map[possible]bool{{state: at(100)}: true}
		m.trail = []moment{{now.Add(-time.Second), []state{at(100)}}}
		if c.steps(m) {
			t.Errorf("the model accepts %s: %s", c.name, m)
		}
	}
}

// What may really happen is accepted, in every order.
func TestTheModelAccepts(t *testing.T) {
	now := time.Now()
	plus := change{op: increment, amount: 10}
	lost := answer{verdict: unknown, ended: now}
	m := newMember("g", "u", true)
	m.may = map[possible]bool{{state: state{true, 100, "n"}}: true}
	m.trail = []moment{{now.Add(-time.Second), []state{{true, 100, "n"}}}}
	m.answered(plus, answer{verdict: done, xp: 110, ended: now})
	m.note(now, time.Time{})
	m.returned(now.Add(time.Second), m.since(now.Add(-time.Millisecond)))
	if !m.saw(state{true, 100, "n"}) {
		t.Error("the model refuses a loss of what was not saved")
	}
	for _, seen := range [][]int64{{100, 100}, {100, 110}, {110, 110}, {110, 120}, {120, 120}} {
		m := newMember("g", "u", false)
		m.may = map[possible]bool{{state: state{true, 100, "n"}}: true}
		m.answered(plus, lost)
		m.answered(plus, lost)
		for _, xp := range seen {
			if !m.saw(state{true, xp, "n"}) {
				t.Errorf("100 and twice an unknown 10: the model refuses %v", seen)
			}
		}
	}
}
