package testenv

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	awakeTick = 10 * time.Millisecond
	awakeMost = 250 * time.Millisecond // of the time between two ticks that counts: a busy machine does not stand still
)

var (
	awake      atomic.Int64 // nanoseconds
	startAwake = sync.OnceFunc(func() { go countAwake() })
)

// Awake is a clock that stands still while the machine does: the difference of
// two calls is what something took, to 10 ms, without the times for which this
// process could not run. Use it for a time that is promised.
func Awake() time.Duration {
	startAwake()
	return time.Duration(awake.Load())
}

func countAwake() {
	last := time.Now()
	for now := range time.Tick(awakeTick) {
		awake.Add(int64(min(now.Sub(last), awakeMost)))
		last = now
	}
}

// Again tries up to five times. Use it for a check that fails when the machine
// stands still for seconds; a real fault fails each try, and then the test.
func Again(tb testing.TB, try func() error) {
	tb.Helper()
	for n := 1; ; n++ {
		err := try()
		if err == nil {
			return
		}
		if n == 5 {
			tb.Fatal(err)
		}
		tb.Logf("try %d: %v", n, err)
	}
}
