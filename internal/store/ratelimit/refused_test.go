package ratelimit_test

import (
	"fmt"
	"testing"
	"time"

	"levelboard/internal/store/ratelimit"
	"levelboard/internal/testing/testenv"
)

// several runs a test with one budget and with two, of which the first has this limit.
func several(t *testing.T, limit int, test func(t *testing.T, budgets []ratelimit.Budget)) {
	t.Helper()
	for _, budgets := range [][]ratelimit.Budget{{perKey(limit)}, {perKey(limit), perOwner(1000)}} {
		t.Run(fmt.Sprintf("budgets: %d", len(budgets)), func(t *testing.T) { test(t, budgets) })
	}
}

// A Redis that refuses writes still has reads to answer, so its limits stop nobody who has not used his up.
func TestLimitsOnARedisThatRefusesWrites(t *testing.T) {
	for _, refusal := range testenv.Refusals {
		t.Run(refusal.Name, func(t *testing.T) {
			several(t, 4, func(t *testing.T, budgets []ratelimit.Budget) {
				server := testenv.Redis(t)
				l := ratelimit.New(connect(t, server.URL()))
				charge(t, l, budgets...)
				end := server.Refuse(refusal)
				left := []int{2, 2, 2}
				if refusal.Word == "OOM" { // limits are counted all the same
					left = []int{2, 1, 0}
				}
				for _, left := range left[:2] {
					if d := charge(t, l, budgets...); !d.Allowed || d.Scope != "key" || d.Limit != 4 || d.Remaining != left {
						t.Errorf("a request: %+v, want %d left", d, left)
					}
				}
				end()
				if d := charge(t, l, budgets...); !d.Allowed || d.Remaining != left[2] {
					t.Errorf("a request when it takes writes again: %+v, want %d left", d, left[2])
				}
				for charge(t, l, budgets...).Allowed {
				}
				defer server.Refuse(refusal)()
				if d := charge(t, l, budgets...); d.Allowed || d.RetryAfter <= 0 || d.RetryAfter > 15*time.Second {
					t.Errorf("who has nothing left when it refuses: %+v", d)
				}
			})
		})
	}
}

// However far the server's clock is set back, nobody has to wait for longer than with an empty bucket.
func TestAClockThatIsSetBack(t *testing.T) {
	several(t, 4, func(t *testing.T, budgets []ratelimit.Budget) {
		l, clock := frozen(t)
		charge(t, l, budgets...)
		clock.now = clock.now.Add(-24 * time.Hour)
		clock.server.SetTime(clock.now)
		d := charge(t, l, budgets...)
		if d.Allowed || !near(d.RetryAfter, 15*time.Second) || !near(d.Reset, time.Minute) {
			t.Fatalf("a day back: %+v, want an empty bucket", d)
		}
		clock.advance(d.RetryAfter + time.Microsecond)
		if d := charge(t, l, budgets...); !d.Allowed || d.Remaining != 0 {
			t.Errorf("after Retry-After: %+v", d)
		}
		clock.advance(time.Minute)
		if d := charge(t, l, budgets...); !d.Allowed || d.Remaining != 3 {
			t.Errorf("a minute later: %+v", d)
		}
	})
}
