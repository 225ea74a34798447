package logs

import (
	"log/slog"
	"sync"
	"time"
)

const (
	// burst is how many lines with one message are written at once, and refill is after how long there may be one more.
	// While a store is away every request fails for the same reason, and the log must not be what fills the disk.
	burst  = 10
	refill = time.Second
	// linesKept bounds for how many messages that is counted. Messages are constants, so there are far fewer.
	linesKept = 1000
)

// line is what two lines of the log have in common when one repeats the other.
type line struct {
	level   slog.Level
	message string
}

type bucket struct {
	left    int
	since   time.Time // up to when left was filled up
	dropped int
}

// limiter counts lines.
type limiter struct {
	now func() time.Time

	mu    sync.Mutex
	lines map[line]*bucket
}

func newLimiter(now func() time.Time) *limiter {
	return &limiter{now: now, lines: map[line]*bucket{}}
}

// pass reports whether the line may be written, and how many like it were not since the last one that was.
func (l *limiter) pass(what line) (ok bool, dropped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b := l.lines[what]
	if b == nil {
		if len(l.lines) == linesKept {
			clear(l.lines)
		}
		b = &bucket{left: burst, since: now}
		l.lines[what] = b
	}
	if more := int(now.Sub(b.since) / refill); more > 0 {
		b.left, b.since = min(b.left+more, burst), b.since.Add(time.Duration(more)*refill)
	}
	if b.left == 0 {
		b.dropped++
		return false, 0
	}
	b.left--
	dropped, b.dropped = b.dropped, 0
	return true, dropped
}
