package torture

import (
	"fmt"
	"sync"
	"time"
)

// counter is the model of a member that every client increments and nobody changes in another way: its XP is the sum of
// what was acknowledged and of some of what may have happened.
type counter struct {
	guild, user string

	mu      sync.Mutex
	floor   int64 // what it is at least, whatever Redis loses
	acked   []acknowledged
	begun   int64 // all increments that were ever sent: what it is at most
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
	return c.leastLocked(time.Now())
}

func (c *counter) leastLocked(until time.Time) int64 {
	sum := c.floor
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
	return c.begun
}

func (c *counter) begin(amount int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun += amount
}

// ended takes the answer to an increment that was begun.
func (c *counter) ended(amount int64, a answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a.verdict == done {
		c.acked = append(c.acked, acknowledged{a.ended, amount})
	}
}

// keep drops what was acknowledged after the floor, which Redis lost, and holds it to xp at least.
func (c *counter) keep(floor time.Time, xp int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.floor = max(c.leastLocked(floor), xp)
	c.acked = nil
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
	c.floor, c.acked, c.begun = xp, nil, xp
}
