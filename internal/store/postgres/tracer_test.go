package postgres_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/store/postgres"
	"levelboard/internal/testing/testenv"
)

// seen counts the calls of an Observer.
type seen struct {
	mu             sync.Mutex
	runs, failures map[string]int
}

func (s *seen) observe(_ context.Context, operation string, began time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs[operation]++
	if err != nil {
		s.failures[operation]++
	}
	if took := time.Since(began); took < 0 || took > time.Minute {
		s.failures["time"]++
	}
}

func TestQueriesAreObservedByTheirOperation(t *testing.T) {
	server, s := testenv.PostgresServer(t), &seen{runs: map[string]int{}, failures: map[string]int{}}
	url := server.URL()
	a := mustGet(postgres.Open(t.Context(), url, nil, s.observe))(t)
	defer a.Close()
	must(t, a.Migrate(t.Context()))
	settings := guild.Settings{
		ID: "100000000000000001", Name: "Gophers", MemberCount: 1, OwnerID: "200000000000000001", Visibility: guild.Public, Vanity: "gophers",
		XPGainInterval: 60000, XPPerMessageMin: 15, XPPerMessageMax: 40,
	}
	if _, err := a.Guild(t.Context(), settings.ID); !errors.Is(err, guild.ErrNotFound) {
		t.Fatal(err)
	}
	if _, _, err := a.PutGuild(t.Context(), settings); err != nil {
		t.Fatal(err)
	}
	settings.ID = "100000000000000002"
	if _, _, err := a.PutGuild(t.Context(), settings); !errors.Is(err, guild.ErrVanityTaken) {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(s.runs)); !slices.Equal(got, []string{"put_guild", "read_guild", "wait_for_connection"}) || s.runs["read_guild"] != 1 {
		t.Errorf("the observer saw %v, want put_guild, read_guild once and wait_for_connection", s.runs)
	}
	if len(s.failures) > 0 {
		t.Errorf("an unknown guild and a taken vanity count as failures: %v", s.failures)
	}
	server.Kill()
	for range 2 { // a broken connection, and one that cannot be opened
		if _, err := a.Guild(t.Context(), settings.ID); err == nil {
			t.Fatal("a killed server answered")
		}
	}
	if s.failures["read_guild"] != 2 || len(s.failures) != 1 {
		t.Errorf("the failures are %v, want two of read_guild", s.failures)
	}
}
