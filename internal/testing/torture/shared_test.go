package torture

import (
	"fmt"
	"sync"
	"time"
)

// counter is the model of a member that all clients increment and nobody changes otherwise. Its XP is the sum of all acknowledged increments
// and of some others. An increment with a key counts once, even if it is repeated after a loss.
type counter struct {
	guild, user string
	keyed       bool // all increments have keys, so that nothing is unknown at the end

	mu      sync.Mutex
	sure    int64 // acknowledged XP that survives all losses so far
	acked   []acknowledged
	lowest  int64            // least XP after the last loss, with all increments begun and acknowledged since
	highest int64            // most XP after the last loss, with all increments sent since or that may be repeated
	begun   int64            // sum of all increments, each once
	open    map[string]int64 // unacknowledged increments by key
	history []event
}

type acknowledged struct {
	ended  time.Time
	amount int64
}

// least returns the lowest XP that the answers so far allow.
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

// begin records an increment that is sent for the first time.
func (c *counter) begin(wanted change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun += wanted.amount
	c.highest += wanted.amount
	if wanted.key != "" {
		c.open[wanted.key] = wanted.amount
	}
}

// ended records the answer to an increment. before says that it was begun before the last loss, so that it may have survived the loss.
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

// returned records a loss: increments acknowledged after the floor may be lost, and the XP is from lowest to highest. An unacknowledged
// increment is repeated only under a key.
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

// settledAt fixes the XP, because no client changes it any more. Another replica must show the same.
func (c *counter) settledAt(xp int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sure, c.acked, c.begun, c.highest = xp, nil, xp, xp
}
