package app_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// A budget is one over all replicas: however the requests are spread, so many pass as one replica would let pass.
func TestLimitsAreThoseOfAllReplicas(t *testing.T) {
	t.Parallel()
	limitsOfAll(t, onServers(t))
}

func limitsOfAll(t *testing.T, environ []string) {
	const perKey, perOwner = 20, 30
	three := startTrio(t, append(environ, fmt.Sprintf("LEVELBOARD_RATE_LIMIT_IDENTITY=%d", perOwner))...)
	g := newID()
	three[0].admin("PUT", "/guilds/"+g, settings(nil)).Want(t, 201)

	// crowd sends requests with these keys to all replicas at once, and checks that a budget of limit a minute let as many
	// pass as it has, or one fewer, and what the time that it took has added.
	crowd := func(t *testing.T, limit int, keys ...string) {
		t.Helper()
		var passed, refused atomic.Int64
		began := time.Now()
		together(t, 4*limit, 24, func(i int) error {
			got, err := three[i%3].quick("GET", rewardPath(g, 1), keys[i%len(keys)], "")
			switch {
			case err != nil:
				return err
			case got.Status == 200:
				passed.Add(1)
			case got.Status == 429:
				refused.Add(1)
			default:
				return fmt.Errorf("status %d: %s", got.Status, got.Body)
			}
			return nil
		})
		added := int64(time.Since(began) * time.Duration(limit) / time.Minute)
		if n := passed.Load(); n < int64(limit)-1 || n > int64(limit)+added || n+refused.Load() != int64(4*limit) {
			t.Errorf("%d requests passed of a budget of %d, to which the time had added %d; %d were refused", n, limit, added, refused.Load())
		}
	}

	t.Run("of a key", func(t *testing.T) {
		_, key := three[0].mint(object{"guildIds": []string{g}, "rateLimit": perKey})
		crowd(t, perKey, key)
	})
	t.Run("of an owner over keys", func(t *testing.T) {
		boss := newID()
		var keys []string
		for range 4 {
			_, key := three[0].mint(object{"guildIds": []string{g}, "ownerId": boss, "rateLimit": perOwner})
			keys = append(keys, key)
		}
		crowd(t, perOwner, keys...)
	})
	t.Run("as the headers say", func(t *testing.T) {
		_, key := three[0].mint(object{"guildIds": []string{g}, "rateLimit": perKey})
		began := time.Now()
		for n := 1; n <= perKey; n++ {
			got := limitsOf(t, three[n%3].Do("GET", rewardPath(g, 1), key, nil).Want(t, 200))
			added := int(time.Since(began) * perKey / time.Minute)
			if got.limit != perKey || got.remaining < perKey-n || got.remaining > perKey-n+added || got.reset < (n-added-1)*60/perKey || got.reset > n*60/perKey {
				t.Errorf("after %d requests replica %d says %+v", n, n%3, got)
			}
		}
		if time.Since(began) < time.Minute/perKey {
			for i, s := range three {
				got := s.Do("GET", rewardPath(g, 1), key, nil)
				if got.Status == 200 { // the next one was just earned
					continue
				}
				if seen := limitsOf(t, got); got.Status != 429 || seen.limit != perKey || seen.remaining != 0 {
					t.Errorf("replica %d answers %d to a budget that is used up: %+v", i, got.Status, seen)
				}
			}
		}
	})
}
