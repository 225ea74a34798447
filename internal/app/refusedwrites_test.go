package app_test

import (
	"net/http"
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

// While Redis rejects changes, all reads continue, with limits and without a key. Changes are refused with Retry-After, and none
// is made.
func TestReadsWorkWhileRedisRefusesWrites(t *testing.T) {
	for _, refusal := range testenv.Refusals {
		t.Run(refusal.Name, func(t *testing.T) {
			t.Parallel()
			server := testenv.Redis(t)
			s := start(t, "LEVELBOARD_REDIS_URL="+server.URL(), "LEVELBOARD_POSTGRES_URL="+testenv.Postgres(t),
				"LEVELBOARD_RATE_LIMIT_KEY=1000", "LEVELBOARD_RATE_LIMIT_IDENTITY=2000")
			g, u := s.guild(nil), newID()
			key := s.key(g)
			_, unlimited := s.mint(object{"guildIds": []string{g}, "rateLimit": 0}) // only its owner's limit applies
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
						t.Errorf("%s: %s %s is %d %s (%v), want 200", when, c.method, c.path, got.Status, got.Body, err)
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
					t.Errorf("the message is %s, want %q in it", got.Body, want)
				}
				if header(t, got, "Retry-After") < 1 {
					t.Errorf("Retry-After of a refused change is %q, want 1 or more", got.Header.Get("Retry-After"))
				}
			}
			if got := s.ops("/readyz?verbose"); got.Status != http.StatusOK ||
				!strings.Contains(string(got.Body), `"redis":{"state":"read-only","reason":"reads work and changes do not: `+why+`"}`) {
				t.Errorf("/readyz?verbose is %d %s, want 200 and Redis read-only, because %s", got.Status, got.Body, why)
			}
			if metrics := string(s.ops("/metrics").Body); !strings.Contains(metrics, "\nlevelboard_redis_takes_changes 0\n") {
				t.Error("levelboard_redis_takes_changes is not 0 while Redis refuses changes")
			}
			if got := s.ops("/readyz"); got.Status != http.StatusOK {
				t.Errorf("/readyz is %d %s, want 200", got.Status, got.Body)
			}
			end()
			if got := s.ops("/readyz?verbose"); !strings.Contains(string(got.Body), `"redis":{"state":"ok"}`) {
				t.Errorf("/readyz?verbose is %s once Redis takes changes again, want the state ok", got.Body)
			}
			reads("after")
			if xp := apitest.At[float64](t, s.patch(key, g, u, object{"increment": 1}), "level", "xp"); xp != 6 {
				t.Errorf("the member has %v XP, want 6: of all changes only the last was made", xp)
			}
		})
	}
}
