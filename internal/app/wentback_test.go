package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"levelboard/internal/testing/testenv"
)

// Redis comes back with a dump from before the last snapshot. What the API tells from then on, on every replica and from
// the first answer, is never less than what is archived, and changes continue from there.
func TestRedisComesBackOlder(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t)
	environ := []string{"LEVELBOARD_REDIS_URL=" + server.URL(), "LEVELBOARD_POSTGRES_URL=" + testenv.Postgres(t), often}
	first := start(t, environ...)
	second := start(t, environ...)
	client := redisClient(t, server)
	g, other := first.guild(nil), first.guild(nil)
	key := first.key(g, other)
	ada, bea, cy := newID(), newID(), newID()
	first.create(key, g, ada, 100)
	first.create(key, g, bea, 100)
	first.create(key, other, cy, 5)
	archived(t, client, g)
	archived(t, client, other)

	if err := client.Save(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(server.Dir(), "dump.rdb")
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	first.patch(key, g, ada, object{"increment": 50})
	first.Do("DELETE", memberPath(g, bea), key, nil).Want(t, 204)
	archived(t, client, g)
	page := first.Do("GET", boardPath(g, 1), key, nil).Want(t, 200)

	server.Kill()
	if err := os.WriteFile(file, old, 0o600); err != nil {
		t.Fatal(err)
	}
	server.Start()
	back := func(s *service) bool {
		r, err := s.quick("PATCH", memberPath(g, ada), key, `{"xp":{"increment":1}}`)
		return err == nil && r.Status == 200
	}
	testenv.Wait(t, "changes are made again", func() bool { return back(first) })
	testenv.Wait(t, "changes are made again on the other replica", func() bool { return back(second) })
	for _, s := range []*service{first, second} {
		if xp := s.member(key, g, ada).Level.XP; xp != 152 {
			t.Errorf("%d XP, want the archived 150 and two increments", xp)
		}
		s.Do("GET", memberPath(g, bea), key, nil).Want(t, 404)
		if xp := s.member(key, other, cy).Level.XP; xp != 5 {
			t.Errorf("%d XP in the guild that is as it was, want 5", xp)
		}
	}
	if now := first.Do("GET", boardPath(g, 1), key, nil).Want(t, 200); now.Header.Get("ETag") == page.Header.Get("ETag") {
		t.Error("the page of a guild that was loaded again has the ETag of before")
	}
	archived(t, client, g)
}

// wentBack is what the metric says of how often Redis went back. It is the process's, so it may rise by other tests as well.
func (s *service) wentBack() string {
	s.t.Helper()
	_, rest, found := strings.Cut(string(s.ops("/metrics").Want(s.t, 200).Body), "\nlevelboard_redis_went_back_total ")
	if !found {
		s.t.Fatal("no metric says how often Redis went back")
	}
	count, _, _ := strings.Cut(rest, "\n")
	return count
}
