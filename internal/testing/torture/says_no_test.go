package torture

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// The model must refuse answers that break a promise.
func TestTheModelRefusesBrokenPromises(t *testing.T) {
	now := time.Now()
	plus := change{op: increment, amount: 10}
	keyed := change{op: increment, amount: 10, key: "k"}
	lost, made := answer{verdict: unknown, ended: now}, func(xp int64) answer { return answer{verdict: done, says: outcome{xp: xp}, ended: now} }
	at := func(xp int64) state { return state{true, xp, "n", 0, 0, false} }
	sent := change{op: award, amount: 10, messages: 2, key: "k"}
	said := func(xp, gained, messages int64) answer {
		return answer{verdict: done, says: outcome{xp, gained, messages, ""}, ended: now}
	}
	moved := func(changed string) answer { return answer{verdict: done, says: outcome{became: changed}, ended: now} }
	became := func(xp int64, how string) answer {
		return answer{verdict: done, says: outcome{xp: xp, became: how}, ended: now}
	}
	higher := change{op: put, mode: "higher", amount: 200, messages: -1}
	cases := []struct {
		name  string
		steps func(m *member) bool // must return false
	}{
		{"an acknowledged change is lost", func(m *member) bool { return m.answered(plus, made(110)) && m.saw(at(100)) }},
		{"a change is made twice", func(m *member) bool { return m.answered(plus, made(110)) && m.saw(at(120)) }},
		{"an answer is not the sum", func(m *member) bool { return m.answered(plus, made(120)) }},
		{"an unknown change is made twice", func(m *member) bool { return m.answered(plus, lost) && m.saw(at(120)) }},
		{"an unknown change comes and goes", func(m *member) bool { return m.answered(plus, lost) && m.saw(at(110)) && m.saw(at(100)) }},
		{"a change comes after it has settled", func(m *member) bool {
			if !m.answered(plus, lost) || !m.saw(at(100)) {
				return true
			}
			m.settle(at(100), now.Add(time.Minute), now)
			return m.saw(at(110))
		}},
		{"a change is made again under its key", func(m *member) bool { return m.answered(keyed, lost) && m.answered(keyed, made(110)) && m.saw(at(120)) }},
		{"an answered keyed change is not made", func(m *member) bool { return m.answered(keyed, lost) && m.answered(keyed, made(110)) && m.saw(at(100)) }},
		{"a repeat has another outcome", func(m *member) bool { return m.answered(keyed, lost) && m.answered(keyed, made(120)) }},
		{"a deleted member comes back", func(m *member) bool { return m.answered(change{op: remove}, made(0)) && m.saw(at(100)) }},
		{"an entry replaces an entry", func(m *member) bool { return m.answered(change{op: create, amount: 1}, made(1)) }},
		{"messages do not count", func(m *member) bool { return m.answered(sent, said(100, 0, 2)) && m.saw(at(100)) }},
		{"messages count twice", func(m *member) bool {
			return m.answered(sent, lost) && m.answered(sent, said(110, 10, 2)) && m.saw(state{true, 110, "n", 4, 0, false})
		}},
		{"messages give XP twice", func(m *member) bool {
			return m.answered(sent, lost) && m.answered(sent, said(110, 10, 2)) && m.saw(state{true, 120, "n", 2, 0, false})
		}},
		{"unknown messages count in part", func(m *member) bool {
			return m.answered(change{op: award, amount: 10, messages: 2}, lost) && m.saw(state{true, 110, "n", 1, 0, false})
		}},
		{"messages give more than they are worth", func(m *member) bool { return m.answered(sent, said(111, 11, 2)) }},
		{"a new entry has a cooldown", func(m *member) bool {
			return m.answered(change{op: remove}, answer{verdict: done, ended: now}) && m.answered(sent, said(0, 0, 2))
		}},
		{"messages give XP during the cooldown", func(m *member) bool {
			return m.cooled(true, now, now, true) && m.cooled(true, now, now.Add(cooldown/2), true)
		}},
		{"an absent member is shown", func(m *member) bool { return m.answered(change{op: leave}, moved("1")) && m.saw(at(100)) }},
		{"an absent member is changed", func(m *member) bool { return m.answered(change{op: leave}, moved("1")) && m.answered(plus, made(110)) }},
		{"a present member is refused as absent", func(m *member) bool { return m.answered(plus, answer{verdict: left, ended: now}) }},
		{"an absent member is refused as unknown", func(m *member) bool {
			return m.answered(change{op: leave}, moved("1")) && m.answered(plus, answer{verdict: absent, ended: now})
		}},
		{"a member leaves twice", func(m *member) bool {
			first := m.answered(change{op: leave}, moved("1"))
			return first && m.answered(change{op: leave}, moved("1"))
		}},
		{"a member returns with other XP", func(m *member) bool {
			return m.answered(change{op: leave}, moved("1")) && m.answered(change{op: comeBack}, moved("1")) && m.saw(at(0))
		}},
		{"an ignored message brings a member back", func(m *member) bool {
			return m.answered(change{op: leave}, moved("1")) && m.answered(change{op: award}, said(100, 0, 0)) && m.saw(at(100))
		}},
		{"a counted message brings nobody back", func(m *member) bool {
			return m.answered(change{op: leave}, moved("1")) && m.answered(sent, said(110, 10, 2)) && m.saw(hasLeft)
		}},
		{"a put brings a member back", func(m *member) bool {
			return m.answered(change{op: leave}, moved("1")) && m.answered(higher, became(200, "changed")) && m.saw(at(200))
		}},
		{"a put that changed says unchanged", func(m *member) bool { return m.answered(higher, became(200, "unchanged")) }},
		{"a put of mode higher lowers", func(m *member) bool {
			return m.answered(change{op: put, mode: "higher", amount: 50, messages: -1}, became(50, "changed"))
		}},
		{"a put of mode missing changes", func(m *member) bool {
			return m.answered(change{op: put, mode: "missing", amount: 200, messages: -1}, became(100, "unchanged")) && m.saw(at(200))
		}},
		{"a put is added twice", func(m *member) bool {
			add := change{op: put, mode: "add", amount: 10, messages: -1, key: "k"}
			return m.answered(add, lost) && m.answered(add, became(110, "changed")) && m.saw(at(120))
		}},
		{"an archived change is lost", func(m *member) bool {
			m.answered(plus, made(110))
			m.note(now, time.Time{})
			saved := m.since(now.Add(time.Millisecond))
			m.returned(now.Add(time.Second), saved)
			return m.saw(at(100))
		}},
		{"a change that survived a loss is made again", func(m *member) bool {
			survives(m, keyed, lost, at(110))
			return m.answered(keyed, made(120))
		}},
		{"a lost change is answered and not made", func(m *member) bool {
			survives(m, keyed, lost, at(100))
			return m.answered(keyed, made(110)) && m.saw(at(100))
		}},
		{"a state from before a change includes it", func(m *member) bool {
			m.answered(plus, made(110))
			m.note(now, time.Time{})
			survives(m, keyed, lost, at(110))
			return m.answered(keyed, made(110))
		}},
	}
	for _, c := range cases {
		m := newMember("g", "u", true)
		m.may = map[possible]bool{{state: at(100)}: true}
		m.trail = []moment{{from: now.Add(-time.Second), states: []known{{state: at(100)}}}}
		if c.steps(m) {
			t.Errorf("the model accepts that %s: %s", c.name, m)
		}
	}
}

// survives takes an answer to a change, and then a loss after which the member has this state.
func survives(m *member, c change, a answer, left state) {
	m.answered(c, a)
	m.note(a.ended, time.Time{})
	m.returned(a.ended, slices.DeleteFunc(m.since(a.ended), func(k known) bool { return k.state != left }))
}

// The model accepts everything that may really happen, in every order.
func TestTheModelAcceptsWhatMayHappen(t *testing.T) {
	now := time.Now()
	plus := change{op: increment, amount: 10}
	lost := answer{verdict: unknown, ended: now}
	m := newMember("g", "u", true)
	m.may = map[possible]bool{{state: state{true, 100, "n", 0, 0, false}}: true}
	m.trail = []moment{{from: now.Add(-time.Second), states: []known{{state: state{true, 100, "n", 0, 0, false}}}}}
	m.answered(plus, answer{verdict: done, says: outcome{xp: 110}, ended: now})
	m.note(now, time.Time{})
	m.returned(now.Add(time.Second), m.since(now.Add(-time.Millisecond)))
	if !m.saw(state{true, 100, "n", 0, 0, false}) {
		t.Error("the model refuses the loss of a change that was not archived")
	}
	for _, left := range []int64{100, 110} {
		m := newMember("g", "u", true)
		m.may = map[possible]bool{{state: state{true, 100, "n", 0, 0, false}}: true}
		keyed := change{op: increment, amount: 10, key: "k"}
		survives(m, keyed, lost, state{true, left, "n", 0, 0, false})
		if !m.answered(keyed, answer{verdict: done, says: outcome{xp: 110}, ended: now}) || !m.saw(state{true, 110, "n", 0, 0, false}) {
			t.Errorf("after a loss that leaves %d XP the model refuses that the repeated change is made once", left)
		}
	}
	for _, seen := range [][]int64{{100, 100}, {100, 110}, {110, 110}, {110, 120}, {120, 120}} {
		m := newMember("g", "u", false)
		m.may = map[possible]bool{{state: state{true, 100, "n", 0, 0, false}}: true}
		m.answered(plus, lost)
		m.answered(plus, lost)
		for _, xp := range seen {
			if !m.saw(state{true, xp, "n", 0, 0, false}) {
				t.Errorf("100 XP and twice an unknown 10: the model refuses %v", seen)
			}
		}
	}
}

// A read's XP may be lost with its master, until an answer says that the replicas have it, or it is old.
func TestTheModelAllowsLossesWithAMaster(t *testing.T) {
	now := time.Now()
	plus := change{op: increment, amount: 10}
	at := func(xp int64) state { return state{true, xp, "n", 0, 0, false} }
	fresh := func() *member {
		m := newMember("g", "u", false)
		m.fleeting, m.may = true, map[possible]bool{{state: at(100)}: true}
		m.answered(plus, answer{verdict: unknown, ended: now})
		return m
	}
	m := fresh()
	if !m.saw(at(110)) || !m.saw(at(100)) || !m.answered(plus, answer{verdict: done, says: outcome{xp: 110}, ended: now}) {
		t.Error("the model refuses that an unknown change is seen and then lost")
	}
	if m.saw(at(100)) {
		t.Error("the model accepts that an acknowledged change is lost")
	}
	m = fresh()
	m.settle(at(110), now.Add(time.Minute), now)
	if len(m.pending) > 0 || m.saw(at(100)) {
		t.Error("the model accepts the loss of a change that all replicas had time to get")
	}
}

// A counter counts an increment under a key once, however many losses are between its attempts.
func TestTheCounterCountsAKeyOnce(t *testing.T) {
	began := time.Now()
	c := &counter{highest: maxXP, open: map[string]int64{}}
	add := func(key string, verdict verdict, before bool) {
		wanted := change{op: increment, amount: 10, key: key}
		if !before {
			c.begin(wanted)
		}
		c.ended(wanted, answer{verdict: verdict, ended: time.Now()}, before)
	}
	holds := func(what string, least, most int64) {
		t.Helper()
		if c.least() != least || c.most() != most {
			t.Errorf("%s: the counter is %s, want %d to %d", what, c, least, most)
		}
	}
	add("", done, false)
	add("", unknown, false)
	add("k", unknown, false)
	holds("one that was made and two that may be", 10, 30)
	c.returned(began, 0, 10)
	holds("what was acknowledged may be lost, and what has no key is not made again", 0, 20)
	add("k", done, true)
	holds("what survived may have had it", 10, 20)
	c.returned(time.Now(), 20, 20)
	holds("it survived", 20, 20)
}

// An answer to messages must fit its call.
func TestAnswersToMessagesMustFitTheCall(t *testing.T) {
	call := &messagesCall{
		authors: []*member{newMember("g", "1", false), newMember("g", "2", false)},
		from:    []int{0, 1, 0}, worth: []int64{0, messageXP, messageXP}, sent: make([]map[string]any, 3),
	}
	row := func(user string, gained, xp, count int) string {
		return fmt.Sprintf(`{"userId":"%s","gained":%d,"xp":%d,"messageCount":%d}`, user, gained, xp, count)
	}
	read := func(rows ...string) ([]outcome, string) {
		return call.read([]byte(`{"results":[` + strings.Join(rows, ",") + `]}`))
	}
	says, problem := read(row("1", 0, 5, 8), row("2", 7, maxXP, 1), row("1", messageXP, messageXP+5, 9))
	if want := []outcome{{messageXP + 5, messageXP, 9, ""}, {maxXP, 7, 1, ""}}; problem != "" || !slices.Equal(says, want) {
		t.Errorf("the outcomes are %v (%s), want %v", says, problem, want)
	}
	for name, rows := range map[string][]string{
		"one is missing":              {row("1", 0, 5, 8), row("2", 0, 5, 1)},
		"another order":               {row("2", 0, 5, 8), row("1", 0, 5, 1), row("1", 0, 5, 2)},
		"XP for a message worth none": {row("1", messageXP, 5, 8), row("2", 0, 5, 1), row("1", 0, 5, 9)},
		"less than it is worth":       {row("1", 0, 5, 8), row("2", 7, 7, 1), row("1", 0, 5, 9)},
		"a message not counted":       {row("1", 0, 5, 8), row("2", 0, 5, 1), row("1", 0, 5, 8)},
		"XP not added":                {row("1", 0, 5, 8), row("2", 0, 5, 1), row("1", messageXP, messageXP, 9)},
	} {
		if _, problem := read(rows...); problem == "" {
			t.Errorf("an answer is accepted in which %s", name)
		}
	}
}
