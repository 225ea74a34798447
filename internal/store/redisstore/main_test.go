package redisstore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/embedded"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// patience is for tests that are not about time: on a busy machine, under the race detector, large reads take seconds.
const patience = 30 * time.Second

func TestMain(m *testing.M) { testenv.Main(m) }

func connect(tb testing.TB, url string) *redisconn.Client {
	tb.Helper()
	client, err := redisconn.Connect(url, redisconn.ConnectOptions{Timeout: patience})
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

// guildNo is a guild besides guild1.
func guildNo(n int) leaderboard.GuildRef {
	return leaderboard.GuildRef{ID: id.Guild(fmt.Sprintf("1%017d", n)), Incarnation: 77}
}

func nth(n int) id.User { return id.User(fmt.Sprintf("2%017d", n)) }

// loadGuild hydrates a guild with members that have 100 XP.
func loadGuild(t testing.TB, s *redisstore.Store, g leaderboard.GuildRef, users ...id.User) {
	t.Helper()
	h, _, err := s.BeginHydration(t.Context(), g, snapshot.State{})
	ok(t, err)
	var rows []snapshot.Row
	for _, u := range users {
		rows = append(rows, row(u))
	}
	ok(t, s.LoadChunk(t.Context(), h, rows))
	ok(t, s.CommitHydration(t.Context(), h, snapshot.State{Epoch: 1}))
}

// direct is a client without any of ours.
func direct(t testing.TB, server *testenv.RedisServer) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(server.URL())
	ok(t, err)
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

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

// changesOf reads up to size of a guild's changes.
func changesOf(tb testing.TB, s *redisstore.Store, g leaderboard.GuildRef, size int) snapshot.Batch {
	tb.Helper()
	p := s.ReadChanges(tb.Context(), []id.Guild{g.ID}, size)[0]
	if p.Err != nil {
		tb.Fatal(p.Err)
	}
	return p.Batch
}

// ended ends a batch and says whether more waits.
func ended(tb testing.TB, s *redisstore.Store, b snapshot.Batch) bool {
	tb.Helper()
	more, errs := s.EndChanges(tb.Context(), []snapshot.Batch{b})
	if errs[0] != nil {
		tb.Fatal(errs[0])
	}
	return more[0]
}
