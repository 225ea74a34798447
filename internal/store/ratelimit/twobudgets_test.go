package ratelimit_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"levelboard/internal/store/ratelimit"
)

func TestARefusalIsChargedToNeither(t *testing.T) {
	for name, c := range map[string]struct {
		key, owner ratelimit.Budget
		refuses    string
	}{
		"the key's budget refuses":   {perKey(5), perOwner(60), "key"},
		"the owner's budget refuses": {perKey(60), perOwner(5), "identity"},
	} {
		for _, order := range []string{"key first", "owner first"} {
			t.Run(name+", "+order, func(t *testing.T) {
				l, clock := frozen(t)
				budgets := []ratelimit.Budget{c.key, c.owner}
				if order == "owner first" {
					budgets = []ratelimit.Budget{c.owner, c.key}
				}
				for range 5 {
					charge(t, l, budgets...)
				}
				for range 100 {
					if d := charge(t, l, budgets...); d.Allowed || d.Scope != c.refuses || d.Limit != 5 || d.Remaining != 0 {
						t.Fatalf("a request over the limit: %+v", d)
					}
				}
				// Alone, each shows what the five requests left, less the one that asks now.
				if d := charge(t, l, perKey(60)); c.refuses == "identity" && d.Remaining != 54 {
					t.Fatalf("the key has %d of 60 left, want 54", d.Remaining)
				}
				if d := charge(t, l, perOwner(60)); c.refuses == "key" && d.Remaining != 54 {
					t.Fatalf("the owner has %d of 60 left, want 54", d.Remaining)
				}
				clock.advance(time.Minute)
				if d := charge(t, l, budgets...); !d.Allowed || d.Remaining != 4 {
					t.Fatalf("a minute later: %+v", d)
				}
			})
		}
	}
}

// A bucket that is full again by the time of the refund has no time left to subtract from.
func TestARefundIntoAFullBucketLeavesItFull(t *testing.T) {
	l, clock := frozen(t)
	charge(t, l, perOwner(1))
	for range 3 {
		if d := charge(t, l, perKey(10), perOwner(1)); d.Allowed {
			t.Fatalf("over the owner's limit: %+v", d)
		}
	}
	if d := charge(t, l, perKey(10)); d.Remaining != 9 || !near(d.Reset, 6*time.Second) {
		t.Fatalf("the key after its refunds: %+v", d)
	}
	if keys := clock.server.Keys(); len(keys) != 2 || keys[0] != "rate:lb:i:{100000000000000001}" || keys[1] != "rate:lb:k:{100000000000000001}:abcdefghijkl" {
		t.Fatalf("keys in Redis: %v", keys)
	}
}

func TestRefundsKeepWhatOthersCharged(t *testing.T) {
	l, _ := frozen(t)
	charge(t, l, perOwner(1))
	for n := 1; n <= 4; n++ {
		charge(t, l, perKey(10))
		charge(t, l, perKey(10), perOwner(1)) // refused and refunded
	}
	if d := charge(t, l, perKey(10)); d.Remaining != 5 {
		t.Fatalf("the key has %d left after 5 of 10, want 5", d.Remaining)
	}
}

// When neither budget has room, to retry before both have is in vain.
func TestRetryAfterIsTheLongerWait(t *testing.T) {
	l, clock := frozen(t)
	other := perKey(600)
	other.Name = "mnopqrstuvwx"
	charge(t, l, perKey(2), perOwner(5))
	charge(t, l, perKey(2), perOwner(5))
	clock.advance(29 * time.Second)
	for charge(t, l, other, perOwner(5)).Allowed {
	}
	d := charge(t, l, perKey(2), perOwner(5))
	if d.Allowed || d.Scope != "identity" || d.Limit != 5 || d.RetryAfter < 5*time.Second {
		t.Fatalf("with both budgets spent: %+v, want the owner's wait, the key's is a second", d)
	}
	clock.advance(d.RetryAfter + time.Microsecond)
	if d := charge(t, l, perKey(2), perOwner(5)); !d.Allowed {
		t.Fatalf("after Retry-After: %+v", d)
	}
}

func TestTheBudgetWithLessRemainingIsShown(t *testing.T) {
	l, _ := frozen(t)
	other := perKey(120)
	other.Name = "mnopqrstuvwx"
	if d := charge(t, l, perKey(120), perOwner(122)); d.Scope != "key" || d.Remaining != 119 {
		t.Fatalf("first: %+v", d)
	}
	for range 5 {
		charge(t, l, other, perOwner(122))
	}
	if d := charge(t, l, perKey(120), perOwner(122)); d.Scope != "identity" || d.Limit != 122 || d.Remaining != 115 {
		t.Fatalf("when the owner used another key: %+v", d)
	}
}

// One request of such a limit takes less than the time of a bucket can tell.
func TestTheHighestLimitBesideALowOne(t *testing.T) {
	l, clock := frozen(t)
	for n := range 3 {
		clock.advance(time.Duration(rand.IntN(1e9))) // the float's error depends on the time
		if d := charge(t, l, perKey(3), perOwner(math.MaxInt32)); !d.Allowed || d.Scope != "key" || d.Remaining != 2-n {
			t.Fatalf("request %d: %+v", n, d)
		}
	}
	if d := charge(t, l, perKey(3), perOwner(math.MaxInt32)); d.Allowed {
		t.Fatalf("request 4 of 3: %+v", d)
	}
	for range 1000 {
		clock.advance(time.Duration(rand.IntN(1e6)))
		if d := charge(t, l, perKey(math.MaxInt32), perOwner(math.MaxInt32)); !d.Allowed || d.Limit != math.MaxInt32 {
			t.Fatalf("the highest limits: %+v", d)
		}
	}
}
