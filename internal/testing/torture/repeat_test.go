package torture

import (
	"fmt"
	"time"
)

const (
	mislaid  = 8 // one of this many answers to changes with a key is dropped
	repeatIn = 1500 * time.Millisecond
)

// mislay sometimes drops an answer to a change with a key. Often the change is archived before it is repeated.
func (c *client) mislay(key string, a answer) answer {
	if key != "" && a.verdict == done && c.h.running() && c.rng.IntN(mislaid) == 0 {
		return answer{began: a.began, ended: a.ended, replica: a.replica, process: a.process, verdict: unknown, text: "mislaid: " + a.text}
	}
	return a
}

// again waits before a change is repeated, and reports whether it may be. A client may wait for a while.
func (c *client) again(attempt int, a answer) bool {
	if a.verdict == unknown && attempt == 1 && c.rng.IntN(2) == 0 {
		c.h.pause(time.Duration(c.rng.Int64N(int64(repeatIn))))
	}
	return c.h.again(attempt)
}

// repeatable reports whether a change was made under a key whose record still exists: Redis loses nothing, and the guild was not recreated.
func (c *client) repeatable(m *member) bool {
	return !c.h.mode.loses() && m.guild == mainGuild && m.made.key != ""
}

// repeat repeats a change that was made and answered under its key, which must get the same answer, or sends another under that key, which must
// be refused. Neither changes anything, so the model stays the same.
func (c *client) repeat(m *member) {
	sent, want := m.made, done
	if c.rng.IntN(4) == 0 && sent.op != remove {
		want = reused
		if sent.amount--; sent.amount < 1 {
			sent.amount = 2
		}
	}
	method, body := sent.request(m.user)
	r := c.replica()
	c.h.gate.RLock()
	a := c.h.call(r, method, memberPath(m.guild, m.user), sent.key, body)
	m.record(c.h, sent.String()+" again", a)
	c.h.gate.RUnlock()
	switch {
	case a.verdict == unknown || a.verdict == unsent:
		c.failover()
	case a.verdict != want || want == done && a.says != m.outcome:
		c.h.violation(m, fmt.Sprintf("the answer %q to %q cannot be: %q was made under this key, and answered with %+v", a.text, sent, m.made, m.outcome))
	}
}
