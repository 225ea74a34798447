package snapshot

import (
	"context"
	"time"

	"levelboard/internal/platform/pause"
)

// pace spreads the members of a large guild evenly over the time that they may take, for the sake of the others whom the machine is
// for: written as fast as can be, 60,000 of them take a core from the requests for more than a second.
type pace struct {
	began  time.Time
	within time.Duration
	size   int64
	passed int64 // members
}

func newPace(size int64, due time.Time) *pace {
	return &pace{began: time.Now(), within: max(time.Until(due), 0), size: max(size, 1)}
}

// late reports whether the members are behind by a quarter of the time that all of them may take.
func (p *pace) late() bool { return p.early(p.passed) <= -p.within/4 }

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
