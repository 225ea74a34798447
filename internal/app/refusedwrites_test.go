package app_test

import (
	"net/http"
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

// While Redis rejects changes, all reads continue, with limits and without a key. Changes get Retry-After, and none of
// them is made.
func TestRedisRefusesWrites(t *testing.T) {
	for _, refusal := range testenv.Refusals {
		t.Run(refusal.Name, func(t *testing.T) {
			t.Parallel()
			server := testenv.Redis(t)
			s := start(t, "LEVELBOARD_REDIS_URL="+server.URL(), "LEVELBOARD_POSTGRES_URL="+testenv.Postgres(t),
				"LEVELBOARD_RATE_LIMIT_KEY=1000", "LEVELBOARD_RATE_LIMIT_IDENTITY=2000")
			g, u := s.guild(nil), newID()
			key := s.key(g)
			_, unlimited := s.mint(object{"guildIds": []string{g}, "rateLimit": 0}) // with its owner's limit only
			s.create(key, g, u, 5)
			reads := func(when string) {
				t.Helper()
				for _, c := range []call{
					{"GET", memberPath(g, u), key, ""}, {"GET", memberPath(g, u), unlimited, ""},
					{"GET", boardPath(g, 1), key, ""}, {"GET", boardPath(g, 1), "", ""},
					{"GET", "/leaderboard/" + g, "", ""}, {"GET", "/v2/levels/" + g + "/users/" + u + "/card.svg", "", ""},
				} {
					got, err := s.quick(c.method, c.path, c.key, "")
					if err != nil || got.Status != http.StatusOK {
						t.Errorf("%s: %s %s is %d %s, %v", when, c.method, c.path, got.Status, got.Body, err)
					}
				}
			}
			reads("before")
			why := map[string]string{"OOM": "its memory is full", "MISCONF": "it cannot write to its disk", "NOREPLICAS": "it has too few replicas", "READONLY": "it is a replica"}[refusal.Word]
			end := server.Refuse(refusal)
			reads("when " + refusal.Name)
			for _, key := range []string{key, unlimited} {
				got := s.Do("PATCH", memberPath(g, u), key, object{"xp": object{"increment": 1}})
				wantRefused(t, got, http.StatusServiceUnavailable)
				if want := "Redis answers reads and refuses changes at the moment: " + why; !strings.Contains(string(got.Body), want) {
					t.Errorf("the message is %s, want %q", got.Body, want)
				}
				if header(t, got, "Retry-After") < 1 {
					t.Errorf("Retry-After is %q", got.Header.Get("Retry-After"))
				}
			}
			if got := s.ops("/readyz?verbose"); got.Status != http.StatusOK ||
				!strings.Contains(string(got.Body), `"redis":{"state":"read-only","reason":"reads work and changes do not: `+why+`"}`) {
				t.Errorf("/readyz?verbose is %d %s", got.Status, got.Body)
			}
			if metrics := string(s.ops("/metrics").Body); !strings.Contains(metrics, "\nlevelboard_redis_takes_changes 0\n") {
				t.Error("the metric does not say that Redis refuses changes")
			}
			if got := s.ops("/readyz"); got.Status != http.StatusOK {
				t.Errorf("/readyz is %d %s", got.Status, got.Body)
			}
			end()
			if got := s.ops("/readyz?verbose"); !strings.Contains(string(got.Body), `"redis":{"state":"ok"}`) {
				t.Errorf("/readyz?verbose is %s when Redis takes changes again", got.Body)
			}
			reads("after")
			if xp := apitest.At[float64](t, s.patch(key, g, u, object{"increment": 1}), "level", "xp"); xp != 6 {
				t.Errorf("it is %v XP after one change that was made, want 6", xp)
			}
		})
	}
}
