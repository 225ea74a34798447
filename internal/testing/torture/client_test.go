package torture

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
)

// client sends one request after another. Its members are changed by nobody else, but all clients increment the counters.
type client struct {
	h       *harness
	name    string
	rng     *rand.Rand
	members []*member
	current int // index of its front, modulo their number
	serial  int // numbers names and keys
	calls   callCount
	said    *messagesCall // the last call with messages that can be repeated
	// stranger is a user without an entry.
	stranger *member
}

// run works until the run is over, and then until its last change is answered.
func (c *client) run() {
	for c.h.running() {
		c.step()
		c.h.pause(time.Duration(c.rng.IntN(12)) * time.Millisecond)
	}
}

func (c *client) step() {
	m := c.pick()
	c.h.gate.RLock() // a loss of Redis changes the members' possible states
	waits, is, unsure := len(m.pending) >= mostPending, m.states()[0], m.unsure()
	c.h.gate.RUnlock()
	switch n := c.rng.IntN(100); {
	case n < 8:
		kind := ""
		if m.counted && c.rng.IntN(2) == 0 {
			kind = kinds[c.rng.IntN(len(kinds))]
		}
		c.page(m.guild, kind, 1+c.rng.IntN(3))
	case n < 20 && len(c.h.counters) > 0:
		c.count(c.h.counters[c.rng.IntN(len(c.h.counters))])
	case n < 22:
		c.hide(m)
	case n < 40 || waits:
		c.read(m)
		if c.h.counts && (unsure || c.rng.IntN(4) == 0) {
			c.history(m)
		}
	case n < 43 && c.repeatable(m):
		c.repeat(m)
	case n < 46 && c.said != nil:
		c.repeatMessages()
	case n < 58 || n < 75 && len(c.members) > membersEach:
		c.many()
	default:
		c.change(m, c.choose(is))
	}
}

// pick chooses a member. In a crowd it mostly takes one of the first, so that each of these changes often.
func (c *client) pick() *member {
	n := len(c.members)
	if c.rng.IntN(3) > 0 {
		n = min(n, membersEach)
	}
	return c.members[c.rng.IntN(n)]
}

// choose prefers changes that the member's state allows, so that most are not refused.
func (c *client) choose(is state) change {
	exists := is.exists
	if c.rng.IntN(20) == 0 {
		exists = !exists
	}
	if n := c.rng.IntN(100); exists && n < 8 || is.away && n < 40 {
		if is.away != (c.rng.IntN(10) == 0) {
			return change{op: comeBack}
		}
		return change{op: leave}
	}
	var chosen change
	switch n := c.rng.IntN(100); {
	case !exists:
		c.serial++
		chosen = change{op: create, amount: c.amount(), name: fmt.Sprintf("%s-%d", c.name, c.serial)}
	case n < 50:
		chosen = change{op: increment, amount: max(c.amount(), 1)}
	case n < 72:
		chosen = change{op: decrement, amount: max(c.amount(), 1)}
	case n < 88:
		chosen = change{op: set, amount: c.amount()}
	default:
		chosen = change{op: remove}
	}
	chosen.cooldown = c.rng.IntN(4) == 0
	if c.rng.IntN(100) < 40 {
		chosen.key = c.newKey()
	}
	return chosen
}

// amount returns a mostly small number, so that sums identify changes, and sometimes one at the limits.
func (c *client) amount() int64 {
	switch c.rng.IntN(20) {
	case 0:
		return maxXP
	case 1:
		return 0
	case 2:
		return c.rng.Int64N(maxXP)
	default:
		return c.rng.Int64N(10_000)
	}
}

func (c *client) newKey() string {
	c.serial++
	return c.name + "/" + strconv.Itoa(c.serial)
}

// replica returns the client's replica, or another one while that is down.
func (c *client) replica() *replica {
	if r := c.front(); r.url.Load() != nil {
		return r
	}
	return c.failover()
}

func (c *client) front() *replica { return c.h.fronts[c.current%len(c.h.fronts)] }

func (c *client) failover() *replica {
	c.current++
	return c.front()
}

// change sends one change. With a key it repeats the change until it is answered.
func (c *client) change(m *member, wanted change) {
	if wanted.op == remove {
		m.held = time.Time{} // the cooldown may go with the member
	}
	method, body := wanted.request(m.user)
	r := c.replica()
	// A change with a key is sent until it is answered, so the model knows its exact effect.
	for attempt := 1; ; attempt++ {
		c.h.gate.RLock()
		a := c.mislay(wanted.key, c.h.call(r, method, wanted.path(m.guild, m.user), wanted.key, body))
		refused := (a.verdict == absent || a.verdict == left) && wanted.op == create || a.verdict == conflict && wanted.op != create
		explained := a.verdict != wrong && a.verdict != reused && !refused && m.answered(wanted, a)
		m.record(c.h, wanted.String(), a)
		c.h.gate.RUnlock()
		if !explained {
			c.h.violation(m, fmt.Sprintf("the answer %q to %q cannot be: the member was %s", a.text, wanted, m))
			return
		}
		if a.verdict == done && wanted.key != "" {
			m.made, m.outcome = wanted, a.says
		}
		if a.verdict != unknown && a.verdict != unsent {
			return
		}
		r = c.failover()
		if wanted.key == "" {
			return
		}
		if !c.again(attempt, a) {
			c.h.violation(m, fmt.Sprintf("%q was not answered within %v of the last fault", wanted, patience))
			return
		}
	}
}

type entryBody struct {
	Level struct {
		XP           int64 `json:"xp"`
		Rank         int64 `json:"rank"`
		MessageCount int64 `json:"messageCount"`
	} `json:"level"`
	User struct {
		Username string `json:"username"`
	} `json:"user"`
}

// read reads a member and returns its rank, or 0 without a definite answer or an entry.
func (c *client) read(m *member) (rank int64, definite bool) {
	r := c.replica()
	c.h.gate.RLock()
	a := c.h.call(r, "GET", memberPath(m.guild, m.user), "", nil)
	var seen state
	explained := a.verdict != wrong && a.verdict != conflict && a.verdict != reused
	definite = a.verdict == done || a.verdict == absent || a.verdict == left
	if a.verdict == left {
		seen = hasLeft
	}
	if a.verdict == done {
		var entry entryBody
		explained = json.Unmarshal(a.body, &entry) == nil && entry.Level.Rank >= 1
		seen, rank = state{true, entry.Level.XP, entry.User.Username, entry.Level.MessageCount, 0, false}, entry.Level.Rank
		a.text = fmt.Sprintf("200 %s rank %d", seen, rank)
	}
	if explained && definite {
		explained = m.saw(seen)
		m.settle(seen, a.began, c.h.flowing())
	}
	m.record(c.h, "read", a)
	c.h.gate.RUnlock()
	if !explained {
		c.h.violation(m, fmt.Sprintf("the answer %q to a read cannot be: the member was %s", a.text, m))
	}
	if !definite {
		c.failover()
	}
	return rank, definite
}

// count adds to a counter.
func (c *client) count(counter *counter) {
	if c.rng.IntN(3) == 0 {
		c.readCounter(counter)
		return
	}
	wanted := change{op: increment, amount: 1 + c.rng.Int64N(50)}
	if counter.keyed || c.rng.IntN(100) < 30 {
		wanted.key = c.newKey()
	}
	method, body := wanted.request(counter.user)
	r := c.replica()
	losses := 0
	for attempt := 1; ; attempt++ {
		c.h.gate.RLock()
		if attempt == 1 {
			counter.begin(wanted)
			losses = c.h.losses
		}
		least := counter.least()
		a := c.mislay(wanted.key, c.h.call(r, method, memberPath(counter.guild, counter.user), wanted.key, body))
		counter.ended(wanted, a, losses != c.h.losses)
		most := counter.most()
		counter.note(newEvent(c.h, c.name+": "+wanted.String(), a, fmt.Sprintf("%d to %d", least, most)))
		c.h.gate.RUnlock()
		inside := a.verdict != done || attempt > 1 || a.says.xp >= least+wanted.amount && a.says.xp <= most
		if !inside || a.verdict > done {
			c.h.violation(counter, fmt.Sprintf("the answer %q to %q cannot be: the counter was %d to %d", a.text, wanted, least, most))
			return
		}
		if a.verdict == done {
			return
		}
		r = c.failover()
		if wanted.key == "" {
			return
		}
		if !c.again(attempt, a) {
			c.h.violation(counter, fmt.Sprintf("%q was not answered within %v of the last fault", wanted, patience))
			return
		}
	}
}

// readCounter reads a counter. definite is false without an answer.
func (c *client) readCounter(counter *counter) (xp int64, definite bool) {
	r := c.replica()
	c.h.gate.RLock()
	least := counter.least()
	a := c.h.call(r, "GET", memberPath(counter.guild, counter.user), "", nil)
	most := counter.most()
	counter.note(newEvent(c.h, c.name+": read", a, fmt.Sprintf("%d to %d", least, most)))
	c.h.gate.RUnlock()
	if a.verdict == unknown || a.verdict == unsent {
		c.failover()
		return 0, false
	}
	if a.verdict != done || a.says.xp < least || a.says.xp > most {
		c.h.violation(counter, fmt.Sprintf("the answer %q to a read cannot be: the counter was %d to %d", a.text, least, most))
	}
	return a.says.xp, true
}

// until repeats an operator's request until its answer has one of these statuses. A repeat must change nothing.
func (c *client) until(method, path string, body any, statuses ...int) (a answer, ok bool) {
	for attempt := 1; ; attempt++ {
		a := c.h.call(c.replica(), method, path, "", body)
		if slices.Contains(statuses, a.status) {
			return a, true
		}
		if a.verdict != unknown && a.verdict != unsent {
			c.h.violation(nil, fmt.Sprintf("%s %s was answered with %s", method, path, a.text))
			return a, false
		}
		c.failover()
		if !c.h.again(attempt) {
			return a, false
		}
	}
}
