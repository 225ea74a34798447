package app_test

import (
	"net/http"
	"strings"
	"testing"

	"levelboard/internal/app"
	"levelboard/internal/testing/testenv"
)

const (
	sentinelPassword = "the-w4tchers-Own"
	serversPassword  = "the-s3rvers-Own"
)

// onSentinels starts sentinels with passwords everywhere, and returns the settings for a service on them.
func onSentinels(t *testing.T, archiveURL string) (s *testenv.Sentinels, environ []string) {
	t.Helper()
	s = testenv.NewSentinels(t, sentinelPassword, testenv.WithPassword(serversPassword))
	return s, []string{
		"LEVELBOARD_REDIS_URL=" + s.URL(), "LEVELBOARD_REDIS_MODE=sentinel", "LEVELBOARD_REDIS_MASTER=" + testenv.MasterName,
		"LEVELBOARD_REDIS_SENTINEL_PASSWORD=" + sentinelPassword, "LEVELBOARD_POSTGRES_URL=" + archiveURL, often,
	}
}

// A replica that lagged behind is promoted. Changes that were not archived are lost, and members have at least the archive's XP, even if
// the replica has less.
func TestALaggingReplicaIsPromoted(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	s, environ := onSentinels(t, testenv.Postgres(t))
	service := startSilent(t, environ...)
	g, ada, bea := service.guild(nil), newID(), newID()
	key := service.key(g)
	service.create(key, g, ada, 100)
	s.InStep()
	s.Lag()
	service.patch(key, g, ada, object{"increment": 50})
	service.create(key, g, bea, 7)
	master := s.Master()
	archived(t, redisClient(t, master), g)
	for _, replica := range s.Replicas() {
		if xp := redisClient(t, replica).ZScore(t.Context(), "lb:{"+g+"}:xp", ada).Val(); xp != 100 {
			t.Fatalf("the replica has %v XP, want 100: it should have missed the change", xp)
		}
	}
	before := service.wentBack()
	master.Kill()
	s.Promoted(master)
	testenv.Wait(t, "the service answers", func() bool {
		got, err := service.quick("GET", memberPath(g, ada), key, "")
		return err == nil && got.Status == http.StatusOK
	})
	if xp := service.member(key, g, ada).Level.XP; xp != 150 {
		t.Errorf("after the failover the member has %d XP, want the archived 150", xp)
	}
	if xp := service.member(key, g, bea).Level.XP; xp != 7 {
		t.Errorf("the member that the replica lacks has %d XP, want 7", xp)
	}
	if service.wentBack() == before {
		t.Error("the metric for Redis going back did not rise")
	}
}

// The start explains why the sentinels cannot be used.
func TestUnusableSentinelsAreExplained(t *testing.T) {
	t.Parallel()
	archiveURL := testenv.Postgres(t)
	s, environ := onSentinels(t, archiveURL)
	for _, c := range []struct{ name, setting, want string }{
		{"wrong name", "LEVELBOARD_REDIS_MASTER=another", "set LEVELBOARD_REDIS_MASTER"},
		{"wrong password", "LEVELBOARD_REDIS_SENTINEL_PASSWORD=no", "set LEVELBOARD_REDIS_SENTINEL_PASSWORD"},
		{"no password", "LEVELBOARD_REDIS_SENTINEL_PASSWORD=", "set LEVELBOARD_REDIS_SENTINEL_PASSWORD"},
		{"wrong password of the server", "LEVELBOARD_REDIS_URL=" + strings.Replace(s.URL(), serversPassword, "no", 1), "the password of LEVELBOARD_REDIS_URL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, _ := build(t, app.Options{}, append(environ, c.setting)...)
			err := a.Start(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the start says %v, want %q in it", err, c.want)
			}
			if err != nil && (strings.Contains(err.Error(), serversPassword) || strings.Contains(err.Error(), sentinelPassword)) {
				t.Error("the error contains a password")
			}
		})
	}
}

// wentBack returns the metric that counts how often Redis went back. The process's other services raise it too.
func (s *service) wentBack() string {
	s.t.Helper()
	_, rest, found := strings.Cut(string(s.ops("/metrics").Want(s.t, 200).Body), "\nlevelboard_redis_went_back_total ")
	if !found {
		s.t.Fatal("/metrics lacks the count of how often Redis went back")
	}
	count, _, _ := strings.Cut(rest, "\n")
	return count
}
