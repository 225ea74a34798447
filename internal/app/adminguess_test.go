package app_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

// Each address may send 20 wrong admin tokens a minute, counted over all replicas, even if they come at once. After that even the
// right token is rejected unread. Other addresses are not affected.
func TestGuessingTheAdminTokenIsLimited(t *testing.T) {
	t.Parallel()
	environ := onServers(t)
	s := start(t, append(environ, "LEVELBOARD_TRUSTED_PROXIES=127.0.0.1")...)
	began := time.Now()
	var wrong, limited atomic.Int64
	together(t, 60, 12, func(i int) error {
		got, err := s.quick("GET", "/admin/guilds", "", "", apitest.AdminToken(fmt.Sprintf("%032d", i)), from("203.0.113.1"))
		switch {
		case err != nil:
			return err
		case got.Status == 401:
			wrong.Add(1)
		case got.Status == 429:
			limited.Add(1)
		default:
			return fmt.Errorf("status %d: %s", got.Status, got.Body)
		}
		return nil
	})
	added := int64(time.Since(began)*20/time.Minute) + 1
	if n := wrong.Load(); n < 20 || n > 20+added || n+limited.Load() != 60 {
		t.Errorf("%d wrong tokens are 401 and %d are 429, want 20 and 40 of 60", n, limited.Load())
	}
	for {
		got := s.Do("GET", "/admin/guilds", "", nil, apitest.AdminToken(strings.Repeat("x", 32)), from("203.0.113.1"))
		if got.Status != 429 { // one was just refilled
			continue
		}
		if retry := header(t, got, "Retry-After"); retry < 1 || retry > 3 {
			t.Errorf("Retry-After is %d, want 1 to 3", retry)
		}
		break
	}
	if got := s.admin("GET", "/guilds", nil, from("203.0.113.1")); got.Status != 429 && time.Since(began) < 3*time.Second {
		t.Errorf("the right token after 20 wrong ones is %d, want 429", got.Status)
	}
	for range 30 {
		s.admin("GET", "/guilds", nil, from("203.0.113.2")).Want(t, 200)
		s.Do("GET", "/admin/guilds", "", nil, from("203.0.113.1")).Want(t, 401) // a request without a token is no guess
	}
}

// The right token is accepted while Redis, which counts the wrong ones, is down.
func TestTheAdminTokenWorksWithoutRedis(t *testing.T) {
	t.Parallel()
	redis := testenv.Redis(t)
	s := startSilent(t, "LEVELBOARD_REDIS_URL="+redis.URL(), "LEVELBOARD_POSTGRES_URL="+testenv.Postgres(t), "LEVELBOARD_REDIS_TIMEOUT=500ms")
	redis.Kill()
	defer redis.Start() // so that the last snapshot can be written
	s.admin("GET", "/guilds", nil).Want(t, 200)
	s.Do("GET", "/admin/guilds", "", nil, apitest.AdminToken(strings.Repeat("x", 32))).Want(t, 401)
}
