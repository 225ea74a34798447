package ratelimit_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"levelboard/internal/store/ratelimit"
	"levelboard/internal/testing/testenv"
)

func TestRedisGoneIsAnErrorAndItsReturnIsNoticed(t *testing.T) {
	server := testenv.Redis(t)
	l := ratelimit.New(connect(t, server.URL()))
	charge(t, l, perKey(5))
	server.Kill()
	d, err := l.Charge(t.Context(), perKey(5))
	if err == nil || d.Allowed || !strings.Contains(err.Error(), "budget of scope key") || errors.Unwrap(err) == nil {
		t.Fatalf("with Redis dead: %+v, %v", d, err)
	}
	if d, err := l.Peek(t.Context(), perKey(5)); err == nil {
		t.Errorf("a look with Redis dead: %+v", d)
	}
	server.Start()
	if d := charge(t, l, perKey(5)); d.Remaining != 4 {
		t.Fatalf("on the new, empty Redis, which has no scripts either: %+v", d)
	}
}

// A Redis that refuses writes still serves reads: requests pass uncounted, except for a budget that is used up.
func TestRequestsPassUncountedWhileRedisRefusesWrites(t *testing.T) {
	for _, refusal := range testenv.Refusals {
		t.Run(refusal.Name, func(t *testing.T) {
			server := testenv.Redis(t)
			l := ratelimit.New(connect(t, server.URL()))
			charge(t, l, perKey(4), perOwner(2))
			spent := ratelimit.Budget{Scope: ratelimit.ScopeAdmin, Name: "192.0.2.1", PerMinute: 1}
			charge(t, l, spent)
			end := server.Refuse(refusal)
			for range 5 {
				if d := charge(t, l, perKey(4), perOwner(2)); d != (ratelimit.Decision{Allowed: true, Scope: "identity", Limit: 2, Remaining: 2}) {
					t.Errorf("a request: %+v", d)
				}
			}
			if d := charge(t, l, perKey(math.MaxInt32)); !d.Allowed || d.Scope != "key" {
				t.Errorf("a request with the highest limit: %+v", d)
			}
			if d, err := l.Peek(t.Context(), perKey(4)); err != nil || !d.Allowed {
				t.Errorf("a look: %+v, %v", d, err)
			}
			if d := charge(t, l, spent); d.Allowed || d.RetryAfter <= 0 || d.RetryAfter > time.Minute {
				t.Errorf("a budget that is used up: %+v", d)
			}
			end()
			if d := charge(t, l, perKey(4), perOwner(2)); !d.Allowed || d.Scope != "identity" || d.Remaining != 0 {
				t.Errorf("a request when it accepts writes again: %+v", d)
			}
		})
	}
}

func TestABucketInRedis(t *testing.T) {
	server := testenv.Redis(t)
	client := connect(t, server.URL())
	l := ratelimit.New(client)
	// Five a minute is one in 12 seconds: no machine is so slow that one is refilled on the way.
	last := ratelimit.Decision{Remaining: 5}
	for n := 1; n <= 5; n++ {
		d := charge(t, l, perKey(60), perOwner(5))
		if !d.Allowed || d.Scope != "identity" || d.Remaining != last.Remaining-1 || d.Reset <= last.Reset {
			t.Fatalf("request %d: %+v after %+v", n, d, last)
		}
		last = d
	}
	for range 10 {
		d := charge(t, l, perKey(60), perOwner(5))
		if d.Allowed || d.Remaining != 0 || d.RetryAfter <= 0 || d.RetryAfter > 12*time.Second || d.Reset > time.Minute {
			t.Fatalf("over the limit: %+v", d)
		}
	}
	for _, key := range []string{"rate:lb:k:abcdefghijkl", "rate:lb:i:100000000000000001"} {
		if ttl := client.TTL(t.Context(), key).Val(); ttl <= 0 || ttl > time.Minute {
			t.Errorf("%s lives for %v", key, ttl)
		}
	}
}
