package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/testing/testenv"
)

// A Postgres that accepts connections and never answers makes callers hang. The service still serves cached data and changes, and
// requests that need Postgres fail soon, even many at once.
func TestASilentPostgresHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	server, archive := testenv.Redis(t), testenv.PostgresServer(t)
	client := redisClient(t, server)
	environ := []string{"LEVELBOARD_REDIS_URL=" + server.URL(), "LEVELBOARD_POSTGRES_URL=" + archive.URL(), often}
	s, other := start(t, environ...), start(t, environ...)
	g, evicted, u := s.guild(object{"vanity": "silent"}), s.guild(nil), newID()
	key, uncached := s.key(g, evicted), other.key(g)
	s.create(key, g, u, 5)
	s.create(key, evicted, u, 7)
	s.board(key, "silent", 1)
	archived(t, client, g)
	archived(t, client, evicted)

	archive.Pause()
	// 600 unknown keys delay no other client: the service looks up only an address's share of them, and rejects the rest.
	flood := make(chan error, 1)
	go func() {
		flood <- floodOf(600, func() error {
			madeUp, _ := apikey.Mint(apikey.NewID())
			got, err := s.quick("GET", memberPath(g, u), madeUp, "")
			if err == nil && got.Status != 503 && got.Status != 429 {
				err = fmt.Errorf("an unknown key is %d %s, want 503 or 429", got.Status, got.Body)
			}
			return err
		})
	}()
	for i := range 20 {
		s.patch(key, g, u, object{"increment": 1})
		if xp := s.board(key, "silent", 1).Levels[0].XP; xp != 6+i {
			t.Errorf("while Postgres is silent the board shows %d XP, want %d", xp, 6+i)
		}
	}
	s.create(key, g, newID(), 1)
	wantJSON(t, s.ops("/readyz?verbose").Want(t, 200), `{"ready":true,"service":{"state":"running"},"redis":{"state":"ok"},
		"archive":{"state":"unreachable","reason":"it does not answer in time"}}`)
	if err := <-flood; err != nil {
		t.Error(err)
	}
	s.board("", g, 1)
	wantRefused(t, s.Do("GET", memberPath(g, u), "letmein", nil), 401)
	s.allRefused(30*time.Second, []call{{"GET", memberPath(g, u), uncached, ""}, {"GET", boardPath("unheardof", 1), "", ""}})

	// A request waits for the load of its guild, longer than the timeout of Redis, but at most 5 s.
	testenv.Again(t, func() error {
		keys, err := client.Keys(t.Context(), "lb:{"+evicted+"}*").Result()
		if err != nil {
			t.Fatal(err)
		}
		client.Del(t.Context(), keys...)
		archive.Pause()
		defer archive.Resume()
		waited := s.later("GET", memberPath(evicted, u), key, "")
		select {
		case got := <-waited:
			return fmt.Errorf("a request for a guild that cannot be loaded yet is answered: %d %s", got.Status, got.Body)
		case <-time.After(time.Second):
		}
		archive.Resume()
		if got := <-waited; got.Status != 200 {
			return fmt.Errorf("the request that waited for its guild is %d %s, want 200", got.Status, got.Body)
		}
		return nil
	})
	testenv.Wait(t, "the key that was not cached is known again", func() bool {
		return s.Do("GET", memberPath(g, u), uncached, nil).Status == 200
	})
	archived(t, client, g)
	before := s.seen(key, g, u)
	client.FlushAll(t.Context())
	if after := s.seen(key, g, u); after != before || !strings.Contains(after, `"xp":25`) {
		t.Errorf("from Redis the members are\n%s\nand from the archive\n%s\nwant the same with 25 XP", before, after)
	}
}

// floodOf calls do n times at once and returns the first error.
func floodOf(n int, do func() error) error {
	errs := make(chan error, n)
	for range n {
		go func() { errs <- do() }()
	}
	var first error
	for range n {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	return first
}
