package torture

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// settleTime is how long after a lost answer its change may still happen, because its bytes may be anywhere between the replica and Redis. It
// is counted from the end of the last stop of Redis, which keeps bytes waiting.
const settleTime = 2 * time.Second

// mostPending is the number of changes with an unknown outcome that a member may have before its client waits for them to settle.
const mostPending = 2

// possible is one possible state of a member, given all answers so far.
type possible struct {
	state
	open   uint8   // a bit for each pending change that may still happen
	result outcome // of the change being repeated under its key, once it has happened
}

// member is the model of a member that one client owns, so that its changes come one after another. It has a set of possible states.
// Unknown outcomes enlarge the set, and the next definite answer reduces it.
type member struct {
	guild, user string
	may         map[possible]bool
	pending     []pendingChange
	keyed       int // index in pending of the change being repeated under its key, or -1

	made    change    // the last change made and answered under a key
	outcome outcome   // its answer
	held    time.Time // no message can give it XP until then, if known
	free    time.Time // messages must give it XP from then on, if nothing is pending

	flags     flags  // who hides it
	flagged   bool   // its flags changed at least once
	flaggedBy string // the process that acknowledged their last change

	counted  bool // its guild counts gains
	fleeting bool // a read may show what is lost with its master, until it is acknowledged

	trail   []moment // earlier possible states; nil if Redis never loses data
	history []event
}

type pendingChange struct {
	change
	ended time.Time
}

func newMember(guild, user string, trailed bool) *member {
	m := &member{guild: guild, user: user, may: map[possible]bool{{}: true}, keyed: -1}
	if trailed {
		m.trail = []moment{{from: time.Now(), states: []known{{}}}}
	}
	return m
}

// closure returns the possible states after any of the pending changes happened, in any order.
func (m *member) closure() map[possible]bool {
	all := maps.Clone(m.may)
	todo := slices.Collect(maps.Keys(all))
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for i, c := range m.pending {
			bit := uint8(1) << i
			if p.open&bit == 0 {
				continue
			}
			// A change that would be refused now has no effect, so it stays open.
			for _, e := range m.effects(c.change, p.state) {
				next := possible{state: e.after, open: p.open &^ bit, result: p.result}
				if i == m.keyed {
					next.result = e.says
				}
				if !all[next] {
					all[next] = true
					todo = append(todo, next)
				}
			}
		}
	}
	return all
}

// effects returns the possible effects of a change on the member.
func (m *member) effects(c change, s state) []effect {
	all := c.effects(s)
	for i := range all {
		if !m.counted {
			all[i].after.gained = 0
		}
	}
	return all
}

// answered records an answer to a change. It returns false if no order of events explains the answer.
func (m *member) answered(c change, a answer) bool {
	if a.verdict == unsent {
		return true
	}
	if a.verdict == unknown && c.mayCool() || a.verdict == done && c.cooled(a.says) {
		m.free = a.ended.Add(cooldown)
	}
	if a.verdict == unknown {
		m.mayHappen(c, a.ended)
		return true
	}
	next := map[possible]bool{}
	for p := range m.closure() {
		if m.keyed >= 0 {
			bit := uint8(1) << m.keyed
			if p.open&bit == 0 {
				// An earlier attempt made the change, and its recorded outcome is the answer.
				if a.verdict == done && a.says == p.result {
					next[possible{state: p.state, open: p.open}] = true
				}
				continue
			}
			if a.verdict == done {
				p.open &^= bit
			}
		}
		effects := m.effects(c, p.state)
		if a.verdict != done && len(effects) == 0 && a.verdict.fits(p.state) {
			next[possible{state: p.state, open: p.open}] = true
		}
		for _, e := range effects {
			if a.verdict == done && a.says == e.says {
				next[possible{state: e.after, open: p.open}] = true
			}
		}
	}
	if m.fleeting && a.verdict != done && len(m.pending) > 0 { // as for a read
		m.keyed = -1
		return len(next) > 0
	}
	m.dropHappened(next, a.ended)
	m.keyed = -1
	return m.become(next)
}

// dropHappened forgets the pending changes if all of them have happened in each possible state. Call it after an answer, while the answered
// change still counts as the repeated one.
func (m *member) dropHappened(next map[possible]bool, now time.Time) {
	for p := range next {
		if p.open != 0 {
			return
		}
	}
	for i, c := range m.pending {
		if i != m.keyed && c.mayCool() {
			m.free = now.Add(cooldown)
		}
	}
	m.pending = nil
}

// mayHappen records a change with an unknown outcome.
func (m *member) mayHappen(c change, ended time.Time) {
	if m.keyed >= 0 {
		m.pending[m.keyed].ended = ended
		return
	}
	m.pending = append(m.pending, pendingChange{c, ended})
	bit := uint8(1) << (len(m.pending) - 1)
	next := map[possible]bool{}
	for p := range m.may {
		p.open |= bit
		next[p] = true
	}
	m.may = next
	if c.key != "" {
		m.keyed = len(m.pending) - 1
	}
}

// saw records a read of the member. It returns false if no possible state explains the read.
func (m *member) saw(s state) bool { return m.shows(s.isRead) }

// shows records that the member is in one of these states. It returns false if none is possible.
func (m *member) shows(is func(state) bool) bool {
	next := m.showing(is)
	if m.fleeting && len(m.pending) > 0 {
		return len(next) > 0
	}
	return m.become(next)
}

// showing returns the possible states that are among these.
func (m *member) showing(is func(state) bool) map[possible]bool {
	next := map[possible]bool{}
	for p := range m.closure() {
		if is(p.state) {
			next[p] = true
		}
	}
	return next
}

func (m *member) become(next map[possible]bool) bool {
	if len(next) == 0 {
		return false
	}
	m.may = next
	return true
}

// settle drops pending changes that had not happened when a read began so late that they never will. The state that it read also lasts,
// because Redis had no fault for so long.
func (m *member) settle(s state, readBegan, flowing time.Time) {
	if len(m.pending) == 0 || m.keyed >= 0 {
		return
	}
	for _, c := range m.pending {
		if readBegan.Sub(c.ended) < settleTime || readBegan.Sub(flowing) < settleTime {
			return
		}
	}
	m.forgetPending(m.showing(s.isRead))
	m.free = time.Now().Add(cooldown)
}

// forgetPending sets the member's possible states to those in from, without pending changes.
func (m *member) forgetPending(from map[possible]bool) {
	next := map[possible]bool{}
	for p := range from {
		next[possible{state: p.state}] = true
	}
	m.may, m.pending = next, nil
}

// states lists the member's possible states.
func (m *member) states() []state {
	distinct := map[state]bool{}
	for p := range m.closure() {
		distinct[p.state] = true
	}
	return slices.Collect(maps.Keys(distinct))
}

func (m *member) String() string {
	var texts []string
	for _, s := range m.states() {
		texts = append(texts, s.String())
	}
	slices.Sort(texts)
	text := strings.Join(texts, " | ")
	if len(m.pending) > 0 {
		text += fmt.Sprintf("  (%d pending)", len(m.pending))
	}
	return text
}
