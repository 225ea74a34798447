package torture

import (
	"fmt"
	"slices"
	"time"
)

// killRedis kills Redis in the middle of everything, and tells the model what it may have lost before Redis comes back.
func (h *harness) killRedis() {
	h.redis.Kill()
	if !h.mode.loses() {
		return
	}
	h.gate.Lock() // all running attempts have ended, with an answer or an unknown outcome
	defer h.gate.Unlock()
	var rows map[string]archived
	if h.mode == backwards {
		var err error
		if rows, err = h.quietRows(); err != nil {
			h.t.Fatalf("reading the archive while Redis is down: %v", err)
		}
	}
	h.losses++
	now := time.Now()
	for _, m := range h.members() {
		floor := h.floorOf(m.guild, m.user)
		states := m.since(floor)
		if h.mode == backwards {
			if states = h.merged(m, rows); len(states) == 0 {
				h.violation(m, fmt.Sprintf("the archive has %+v, and the dump had it as %v: that cannot be", rows[m.guild+"/"+m.user], m.trail[0].states))
			}
		}
		m.returned(now, states)
		m.remember(event{began: now, ended: now, replica: "-", what: "Redis is killed", outcome: "what was so at " + floor.Format(clock) + " survives", after: m.String()})
	}
	if h.restorer != nil {
		h.restorer.lost()
	}
	for _, c := range h.counters {
		at := c.guild + "/" + c.user
		floor := h.floorOf(c.guild, c.user)
		if h.mode == backwards {
			c.returned(floor, rows[at].XP, max(rows[at].XP, h.dumped.scores[at]))
		} else {
			c.returned(floor, 0, maxXP)
		}
		c.note(event{began: now, ended: now, replica: "-", what: "Redis is killed", outcome: "what was so at " + floor.Format(clock) + " survives", after: c.String()})
	}
}

// merged returns a member's possible states after an old dump came back: that of the archive, that of the dump, or, if the archive lacked the
// dump's change, the merge of both. The merge never has less XP than either, so it may undo a decrement that only one of them has.
func (h *harness) merged(m *member, rows map[string]archived) []known {
	at := m.guild + "/" + m.user
	row, ok := rows[at]
	m.prune(h.dumped.at)
	created := m.trail[0].from.After(h.dumped.at) // created after the dump, which has at most an earlier guild
	// A row has the rev at which its page was read, so the dump knows no newer ones.
	newer := ok && (created || h.dumped.archived[m.guild].before(row.Epoch, row.Rev))
	archive := []known{{}}
	if ok {
		archive = m.rowOf(row.state(), newer)
	}
	if created || newer && row.Deleted {
		return archive
	}
	before := m.trail[0].of(m.now(h.dumped.at).key)
	var all []known
	if !newer {
		all = slices.Clone(before) // the dump may have everything archived, and then it counts
	}
	least, unsaved := h.dumped.unsaved[at]
	for _, a := range archive {
		for _, d := range before {
			// A member that did not wait at the dump is archived with everything recorded of it.
			if (!unsaved || a.exists && a.xp >= least) && (a.made || !d.made) {
				all = append(all, a)
			}
			if h.dumped.waiting[at] && d.exists {
				all = append(all, both(a, d)...)
			}
		}
	}
	return slices.DeleteFunc(all, func(k known) bool { return k.exists && k.xp < least })
}

// both merges a member's states in the archive and in an old dump. User data comes from the later state, and the higher gain counts. A gain
// of 0 has no record, so a gain below 0 in the other state may count.
func both(a, d known) []known {
	if !a.exists {
		return []known{d}
	}
	if !d.made {
		d.made, d.result = a.made, a.result
	}
	d.xp, d.messages = max(d.xp, a.xp), max(d.messages, a.messages)
	lower := min(d.gained, a.gained)
	d.gained = max(d.gained, a.gained)
	named := d
	named.name = a.name
	all := []known{d, named}
	if d.gained == 0 && lower < 0 {
		d.gained, named.gained = lower, lower
		all = append(all, d, named)
	}
	if a.away != d.away { // the later update decides the presence
		for _, k := range all {
			k.away = a.away
			all = append(all, k)
		}
	}
	return all
}

// rowOf returns the possible states for a member's row in the archive. The row does not show whether it includes the change that is being
// repeated, but the trail's moments with that state, from the dump on, do. A row not newer than the dump may be from before the change.
func (m *member) rowOf(row state, newer bool) (all []known) {
	now := m.now(time.Time{})
	moments := append(m.trail[:len(m.trail):len(m.trail)], now)
	if !newer {
		moments, all = moments[:1], []known{{state: row}}
	}
	for _, past := range moments {
		for _, k := range past.of(now.key) {
			if !newer || k.state == row {
				all = append(all, known{row, k.made, k.result})
			}
		}
	}
	return all
}

// members lists every member that one client owns.
func (h *harness) members() []*member {
	var all []*member
	for _, c := range h.clients {
		all = append(all, c.members...)
	}
	if h.operator.alive {
		all = append(all, h.operator.members...)
	}
	return all
}
