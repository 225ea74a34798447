package httpapi

import (
	"testing"
	"time"
)

func TestThrottle(t *testing.T) {
	now := time.Unix(1000, 0)
	lines := throttle{perSecond: 2, now: func() time.Time { return now }}
	passed := func() (n, dropped int) {
		for range 5 {
			if ok, since := lines.pass(); ok {
				n++
				dropped += since
			}
		}
		return n, dropped
	}
	for i, want := range []int{0, 3, 3} {
		if n, dropped := passed(); n != 2 || dropped != want {
			t.Errorf("in second %d pass %d of 5, which tell of %d dropped; want 2, which tell of %d", i, n, dropped, want)
		}
		now = now.Add(time.Second)
	}
}
