package torture

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// flags says who hides a user, in the order of flagNames. A change of flags is repeated until it is answered, so flags are always
// certain.
type flags uint8

var flagNames = []string{"manager", "self"}

func (f flags) words() []string {
	words := []string{}
	for i, name := range flagNames {
		if f&(1<<i) != 0 {
			words = append(words, name)
		}
	}
	return words
}

func hiddenPath(guild string) string { return "/v2/guilds/" + guild + "/hidden" }

// hide sets or lifts one flag of some of the client's members, and of its stranger, who has no entry.
func (c *client) hide(m *member) {
	i := c.rng.IntN(len(flagNames))
	bit := flags(1 << i)
	hidden := m.flags&bit == 0
	chosen := map[*member]bool{m: true}
	for range c.rng.IntN(3) {
		chosen[c.pick()] = true
	}
	if m.guild == mainGuild && c.rng.IntN(3) == 0 {
		chosen[c.stranger] = true
	}
	users, changes := []string{}, 0
	for one := range chosen {
		if users = append(users, one.user); one.flags&bit == 0 == hidden {
			changes++
		}
	}
	slices.Sort(users)
	what := fmt.Sprintf("hidden %v by %s of %v", hidden, flagNames[i], users)
	for attempt := 1; ; attempt++ {
		c.h.gate.RLock()
		a := c.h.call(c.replica(), http.MethodPut, hiddenPath(m.guild), "", map[string]any{"hidden": hidden, "by": flagNames[i], "userIds": users})
		for one := range chosen {
			if a.verdict == done {
				one.flags, one.flagged, one.flaggedBy = one.flags&^bit, true, a.process
				if hidden {
					one.flags |= bit
				}
			}
			one.record(c.h, what, a)
		}
		c.h.gate.RUnlock()
		switch {
		case a.verdict > done:
			c.h.violation(m, fmt.Sprintf("%s was answered with %s", what, a.text))
			return
		case a.verdict == done:
			var body struct{ Changed int }
			_ = json.Unmarshal(a.body, &body)
			// An earlier attempt may have changed the flags.
			if body.Changed != changes && (attempt == 1 || body.Changed != 0) {
				c.h.violation(m, fmt.Sprintf("%s changed %d, not %d", what, body.Changed, changes))
			}
			c.calls.hides++
			c.showsFlags(m)
			return
		}
		c.failover()
		if !c.again(attempt, a) {
			c.h.violation(m, fmt.Sprintf("%s was not answered within %v of the last fault", what, patience))
			return
		}
	}
}

// showsFlags reads a member's flags. The process that acknowledged their last change must show it at once, the others soon.
func (c *client) showsFlags(m *member) (right bool) {
	c.h.gate.RLock()
	defer c.h.gate.RUnlock()
	a := c.h.call(c.replica(), http.MethodGet, "/v2/guilds/"+m.guild+"/members/"+m.user, "", nil)
	var body struct{ Hidden []string }
	switch {
	case a.verdict == absent || a.verdict == left:
		return true
	case a.verdict != done:
		return false
	case json.Unmarshal(a.body, &body) == nil && slices.Equal(body.Hidden, m.flags.words()):
		return true
	}
	a.text = fmt.Sprintf("200 hidden by %v", body.Hidden)
	m.record(c.h, "flags", a)
	if a.process == m.flaggedBy {
		c.h.violation(m, fmt.Sprintf("replica %s says that member %s is hidden by %v, and acknowledged %v", a.replica, m.user, body.Hidden, m.flags.words()))
	}
	return false
}

// everybody returns every member and the strangers.
func (h *harness) everybody() []*member {
	all := h.members()
	for _, c := range h.clients {
		all = append(all, c.stranger)
	}
	return all
}

// hidden lists the users who must be hidden in a guild, with the names of their flags.
func (h *harness) hidden(guild string) map[string]string {
	all := map[string]string{}
	for _, m := range h.everybody() {
		if m.guild == guild && m.flags != 0 {
			all[m.user] = strings.Join(m.flags.words(), " ")
		}
	}
	if guild == restoreGuild && h.restorer != nil {
		all[ghost] = "manager"
	}
	return all
}

// checkHidden waits until a replica shows the right flags of all users whose flags ever changed, and compares its lists of hidden users.
func (h *harness) checkHidden(reader *client) bool {
	for _, m := range h.members() {
		if m.flagged && !h.until(m, func() bool { return reader.showsFlags(m) }, "the flags of member %s, which are %v", m.user, m.flags.words()) {
			return false
		}
	}
	guilds := []string{mainGuild}
	if h.operator.alive {
		guilds = append(guilds, churnGuild)
	}
	if h.restorer != nil {
		guilds = append(guilds, restoreGuild)
	}
	for _, guild := range guilds {
		listed := map[string]string{}
		for number := 1; ; number++ {
			var page struct {
				Hidden []struct {
					UserID string
					By     []string
				}
			}
			if !h.get(reader, fmt.Sprintf("%s?page=%d", hiddenPath(guild), number), &page) {
				return false
			}
			for _, one := range page.Hidden {
				listed[one.UserID] = strings.Join(one.By, " ")
			}
			if len(page.Hidden) < pageSize {
				break
			}
		}
		if want := h.hidden(guild); !maps.Equal(listed, want) {
			h.violation(nil, fmt.Sprintf("hidden in guild %s are %v, and %v are listed", guild, want, listed))
			return false
		}
	}
	return true
}

// checkHiddenRank compares the rank of a hidden member with the board without that member.
func (h *harness) checkHiddenRank(m *member, rank int64, board []pageRow) {
	want := int64(1)
	for _, row := range board {
		if row.UserID == m.user {
			h.violation(m, fmt.Sprintf("member %s is hidden by %v and on the board", m.user, m.flags.words()))
		}
		if xp := m.states()[0].xp; row.XP > xp {
			want++
		}
	}
	if rank > 0 && rank != want {
		h.violation(m, fmt.Sprintf("hidden member %s has rank %d, and %d on the board have more XP", m.user, rank, want-1))
	}
}
