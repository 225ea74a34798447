package redisstore_test

import (
	"testing"
	"time"

	"levelboard/internal/store/embedded"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// patience is for tests that are not about time: on a busy machine, under the race detector, large reads take seconds.
const patience = 30 * time.Second

func TestMain(m *testing.M) { testenv.Main(m) }

func connect(tb testing.TB, url string) *redisstore.Client {
	tb.Helper()
	client, err := redisstore.Connect(url, redisstore.ConnectOptions{Timeout: patience})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = client.Close() })
	return client
}

func TestConformanceOnRedis(t *testing.T) {
	client := connect(t, testenv.Redis(t, testenv.WithPassword("p@ss:w/rd")).URL())
	storetest.Board(t, func(t *testing.T) storetest.Store {
		if err := client.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		return redisstore.New(client, redisstore.Options{})
	})
}

func TestConformanceOnEmbeddedRedis(t *testing.T) {
	t.Parallel()
	storetest.Board(t, func(t *testing.T) storetest.Store {
		server, err := embedded.StartRedis()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(server.Close)
		return redisstore.New(connect(t, server.URL()), redisstore.Options{})
	})
}

var guild1 = leaderboard.GuildRef{ID: "100000000000000001", Incarnation: 77}

// load hydrates guild1.
func load(tb testing.TB, s *redisstore.Store, rows ...snapshot.Row) {
	tb.Helper()
	h, _, err := s.BeginHydration(tb.Context(), guild1, snapshot.State{})
	if err != nil {
		tb.Fatal(err)
	}
	if err := s.LoadChunk(tb.Context(), h, rows); err != nil {
		tb.Fatal(err)
	}
	if err := s.CommitHydration(tb.Context(), h, snapshot.State{Epoch: 1}); err != nil {
		tb.Fatal(err)
	}
}
