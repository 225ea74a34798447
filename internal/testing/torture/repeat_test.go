package torture

import "fmt"

// repeatable reports whether a change was made under a key whose record is still there: in a Redis that loses nothing, and
// not of a guild that may be another one by now.
func (c *client) repeatable(m *member) bool {
	return c.h.mode == durable && m.guild == mainGuild && m.made.key != ""
}

// repeat sends a change again that was made and answered under its key, or another change under that key. The first is
// answered as then, the second is refused, and neither changes anything, so the model is left alone.
func (c *client) repeat(m *member) {
	sent, want := m.made, done
	if c.rng.IntN(4) == 0 && sent.op != remove {
		want = reused
		if sent.amount--; sent.amount < 1 {
			sent.amount = 2
		}
	}
	method, body := sent.request()
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
