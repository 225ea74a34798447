package snapshot

import (
	"context"
	"time"

	"levelboard/internal/pause"
)

// pace spreads the members of a large guild evenly over the time that they may take, for the sake of the others whom the machine is
// for: written as fast as can be, 60,000 of them take a core from the requests for more than a second.
type pace struct {
	began  time.Time
	within time.Duration
	size   int64
	passed int64 // members
}

// fastestPace is how many members a second are spread at most. More is about what an archive takes, so there is no time to spare.
const fastestPace = 40_000

func newPace(size int64, due time.Time) *pace {
	within := max(time.Until(due), 0)
	if float64(size) > fastestPace*within.Seconds() {
		within = 0
	}
	return &pace{began: time.Now(), within: within, size: max(size, 1)}
}

// behind reports whether more than the next members, so many, are due.
func (p *pace) behind(members int) bool { return p.early(p.passed+int64(members)) < 0 }

// wait waits until the next members, so many, are due, or ctx ends. What is late does not wait.
func (p *pace) wait(ctx context.Context, members int) {
	pause.For(ctx, p.early(p.passed))
	p.passed += int64(members)
}

// early is how long it is until the members after so many of them are due.
func (p *pace) early(members int64) time.Duration {
	share := min(float64(members)/float64(p.size), 1)
	return time.Duration(share*float64(p.within)) - time.Since(p.began)
}
