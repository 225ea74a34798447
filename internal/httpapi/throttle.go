package httpapi

import (
	"sync"
	"time"
)

// throttle lets so many lines a second into the log: while a store is away every request fails for the same reason, and
// the log must not be what fills the disk.
type throttle struct {
	perSecond int
	now       func() time.Time

	mu      sync.Mutex
	second  int64
	passed  int
	dropped int
}

// pass reports whether a line may be written, and how many were not since the last one that was.
func (t *throttle) pass() (ok bool, dropped int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if second := t.now().Unix(); second != t.second {
		t.second, t.passed = second, 0
	}
	if t.passed == t.perSecond {
		t.dropped++
		return false, 0
	}
	t.passed++
	dropped, t.dropped = t.dropped, 0
	return true, dropped
}
