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

func TestALimiterRecoversAfterRedisReturns(t *testing.T) {
	server := testenv.Redis(t)
	l := ratelimit.New(connect(t, server.URL()))
	charge(t, l, perKey(5))
	server.Kill()
	d, err := l.Charge(t.Context(), perKey(5))
	if err == nil || d.Allowed || !strings.Contains(err.Error(), "budget of scope key") || errors.Unwrap(err) == nil {
		t.Fatalf("with Redis down the decision is %+v (%v), want an error that names the budget", d, err)
	}
	if d, err := l.Peek(t.Context(), perKey(5)); err == nil {
		t.Errorf("with Redis down Peek returns %+v, want an error", d)
	}
	server.Start()
	if d := charge(t, l, perKey(5)); d.Remaining != 4 {
		t.Fatalf("on the new, empty Redis, which has no scripts, the decision is %+v, want 4 left", d)
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
					t.Errorf("the decision is %+v, want it allowed with all 2 left", d)
				}
			}
			if d := charge(t, l, perKey(math.MaxInt32)); !d.Allowed || d.Scope != "key" {
				t.Errorf("the decision with the highest limit is %+v, want it allowed", d)
			}
			if d, err := l.Peek(t.Context(), perKey(4)); err != nil || !d.Allowed {
				t.Errorf("Peek returns %+v (%v), want allowed", d, err)
			}
			if d := charge(t, l, spent); d.Allowed || d.RetryAfter <= 0 || d.RetryAfter > time.Minute {
				t.Errorf("with the budget used up the decision is %+v, want a refusal", d)
			}
			end()
			if d := charge(t, l, perKey(4), perOwner(2)); !d.Allowed || d.Scope != "identity" || d.Remaining != 0 {
				t.Errorf("once writes work again the decision is %+v, want it allowed and counted", d)
			}
		})
	}
}

func TestABucketExpiresInRedis(t *testing.T) {
	server := testenv.Redis(t)
	client := connect(t, server.URL())
	l := ratelimit.New(client)
	// Five a minute is one in 12 seconds, more than a slow test needs for its requests.
	last := ratelimit.Decision{Remaining: 5}
	for n := 1; n <= 5; n++ {
		d := charge(t, l, perKey(60), perOwner(5))
		if !d.Allowed || d.Scope != "identity" || d.Remaining != last.Remaining-1 || d.Reset <= last.Reset {
			t.Fatalf("the decision on request %d is %+v after %+v, want one less left", n, d, last)
		}
		last = d
	}
	for range 10 {
		d := charge(t, l, perKey(60), perOwner(5))
		if d.Allowed || d.Remaining != 0 || d.RetryAfter <= 0 || d.RetryAfter > 12*time.Second || d.Reset > time.Minute {
			t.Fatalf("over the limit the decision is %+v, want a refusal for at most 12 s", d)
		}
	}
	for _, key := range []string{"rate:lb:k:abcdefghijkl", "rate:lb:i:100000000000000001"} {
		if ttl := client.TTL(t.Context(), key).Val(); ttl <= 0 || ttl > time.Minute {
			t.Errorf("the key %s expires in %v, want within a minute", key, ttl)
		}
	}
}
