package torture

import (
	"fmt"
	"sync"
	"time"
)

// counter is the model of a member that every client increments and nobody changes in another way: its XP is the sum of what was
// acknowledged and of some of what may have happened. An increment with a key counts once, however often it is sent and whatever is lost
// between.
type counter struct {
	guild, user string
	keyed       bool // all increments have a key, so that in the end nothing is unknown

	mu      sync.Mutex
	sure    int64 // what was acknowledged and survives all losses so far
	acked   []acknowledged
	lowest  int64            // what it had after the last loss, at least, and what was begun and acknowledged since
	highest int64            // what it had after the last loss, at most, and all that was sent since, or may be sent again
	begun   int64            // all that was ever sent, each increment once
	open    map[string]int64 // by key: increments that were sent and not acknowledged
	history []event
}

type acknowledged struct {
	ended  time.Time
	amount int64
}

// least is what it is at least, given the answers until now.
func (c *counter) least() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(c.sureUntil(time.Now()), c.lowest)
}

func (c *counter) sureUntil(until time.Time) int64 {
	sum := c.sure
	for _, a := range c.acked {
		if !a.ended.After(until) {
			sum += a.amount
		}
	}
	return sum
}

func (c *counter) most() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return min(c.begun, c.highest)
}

// begin takes an increment that is sent for the first time.
func (c *counter) begin(wanted change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun += wanted.amount
	c.highest += wanted.amount
	if wanted.key != "" {
		c.open[wanted.key] = wanted.amount
	}
}

// ended takes the answer to an increment; before says that it was begun before the last loss, and may be in what survived that.
func (c *counter) ended(wanted change, a answer, before bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a.verdict != done {
		return
	}
	delete(c.open, wanted.key)
	c.acked = append(c.acked, acknowledged{a.ended, wanted.amount})
	if !before {
		c.lowest += wanted.amount
	}
}

// returned takes a loss: what was acknowledged after the floor may be gone, and its XP is from lowest to highest. What is not acknowledged
// is only made again under a key.
func (c *counter) returned(floor time.Time, lowest, highest int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sure, c.acked = c.sureUntil(floor), nil
	c.lowest, c.highest = lowest, highest
	for _, amount := range c.open {
		c.highest += amount
	}
}

func (c *counter) note(e event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history = append(c.history, e)
	c.history = c.history[max(0, len(c.history)-historyKept):]
}

func (c *counter) String() string {
	return fmt.Sprintf("%d to %d", c.least(), c.most())
}

// settledAt fixes what it is: nobody changes it any more, and another replica has to show the same.
func (c *counter) settledAt(xp int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sure, c.acked, c.begun, c.highest = xp, nil, xp, xp
}
