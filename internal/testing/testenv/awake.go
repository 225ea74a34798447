package testenv

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	awakeTick = 10 * time.Millisecond
	awakeMost = 250 * time.Millisecond // the most of the time between two ticks that counts
)

var (
	awake      atomic.Int64 // nanoseconds
	startAwake = sync.OnceFunc(func() { go countAwake() })
)

// Awake is a clock that stops while the machine hangs. The difference of two
// calls is the time that something took, to 10 ms, without the times when this
// process could not run. Use it for promised times.
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
// hangs for seconds. A real fault fails each try, and then the test.
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
		tb.Logf("try %d failed: %v", n, err)
	}
}
