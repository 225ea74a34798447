package torture

import (
	"time"
)

// note adds what the member may be from now on to its trail, and drops what is older than what must survive.
func (m *member) note(now, floor time.Time) {
	if m.trail == nil {
		return
	}
	m.trail = append(m.trail, moment{now, m.states()})
	m.prune(floor)
}

// prune drops the moments that ended before floor: what the member was at floor, or later, is all that may come back.
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

// since lists what the member may have been at floor and later, up to now.
func (m *member) since(floor time.Time) []state {
	m.prune(floor)
	all := m.states()
	for _, past := range m.trail {
		all = append(all, past.states...)
	}
	return all
}

// returned takes a loss of Redis: the member is one of these states now. What was pending died with the Redis that it was
// sent to, but for a change that is still being repeated: if its record is lost it happens once more, if not it does not.
//
// The trail goes on: the same old dump may come back again.
func (m *member) returned(now time.Time, states []state) {
	next := map[possible]bool{}
	var results []outcome
	open := uint8(0)
	if m.keyed < 0 {
		m.pending = nil
	} else {
		results, open = m.results(), 1
		m.pending, m.keyed = []pendingChange{m.pending[m.keyed]}, 0
	}
	for _, s := range states {
		next[possible{state: s, open: open}] = true
		for _, result := range results {
			next[possible{state: s, result: result}] = true
		}
	}
	m.may, m.free = next, now.Add(cooldown)
	m.trail = append(m.trail, moment{now, m.states()})
}

// results lists what the change that is being repeated may have answered already.
func (m *member) results() []outcome {
	var all []outcome
	for p := range m.closure() {
		if p.open&(1<<m.keyed) == 0 {
			all = append(all, p.result)
		}
	}
	return all
}
