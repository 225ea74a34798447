package torture

import (
	"time"
)

// known is one possible state of a member at some time. For the change that was being repeated under a key then, it also has whether the state
// includes the change, and its answer.
type known struct {
	state
	made   bool
	result outcome
}

// moment has a member's possible states from a time until the next moment.
type moment struct {
	from   time.Time
	key    string // of the change that was being repeated then; may be empty
	states []known
}

// of returns the moment's states for a change under a key. At a moment of another key that change had not been sent.
func (past moment) of(key string) []known {
	if key != "" && past.key == key {
		return past.states
	}
	var all []known
	for _, k := range past.states {
		all = append(all, known{state: k.state})
	}
	return all
}

// now returns the member's possible states.
func (m *member) now(at time.Time) moment {
	past, distinct := moment{from: at}, map[known]bool{}
	if m.keyed >= 0 {
		past.key = m.pending[m.keyed].key
	}
	for p := range m.closure() {
		k := known{state: p.state}
		if m.keyed >= 0 && p.open&(1<<m.keyed) == 0 {
			k.made, k.result = true, p.result
		}
		if !distinct[k] {
			distinct[k] = true
			past.states = append(past.states, k)
		}
	}
	return past
}

// note adds the member's current states to its trail, and drops moments before what must survive.
func (m *member) note(now, floor time.Time) {
	if m.trail == nil {
		return
	}
	m.trail = append(m.trail, m.now(now))
	m.prune(floor)
}

// prune drops the moments that ended before floor. Only states from floor or later may come back.
func (m *member) prune(floor time.Time) {
	last := 0
	for i, past := range m.trail {
		if past.from.After(floor) {
			break
		}
		last = i
	}
	m.trail = m.trail[last:]
}

// since lists the member's possible states at floor and later.
func (m *member) since(floor time.Time) []known {
	m.prune(floor)
	now := m.now(floor)
	all := now.states
	for _, past := range m.trail {
		all = append(all, past.of(now.key)...)
	}
	return all
}

// returned records a loss of Redis: the member is in one of these states now. Pending changes died with the old Redis. A change that is
// being repeated happens again exactly in those states that do not include it.
//
// The trail continues, because the same old dump may come back again.
func (m *member) returned(now time.Time, states []known) {
	if m.keyed < 0 {
		m.pending = nil
	} else {
		m.pending, m.keyed = []pendingChange{m.pending[m.keyed]}, 0
	}
	next := map[possible]bool{}
	for _, k := range states {
		p := possible{state: k.state, result: k.result}
		if m.keyed >= 0 && !k.made {
			p.open = 1
		}
		next[p] = true
	}
	m.may, m.free = next, now.Add(cooldown)
	m.trail = append(m.trail, m.now(now))
}
