package redisconn_test

import (
	"context"
	"testing"

	"levelboard/internal/domain/level"
	"levelboard/internal/store/embedded"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/boards"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
)

// These tests check connections by their effect on boards, so they use a store of boards.

func TestMain(m *testing.M) { testenv.Main(m) }

// Guilds and users as in the tests of redisstore.
const (
	patience = boards.Patience
	user1    = boards.User1
	prefix   = boards.Prefix
)

var (
	guild1, plusOne        = boards.Guild1, boards.PlusOne
	guildNo, nth, row      = boards.GuildNo, boards.Nth, boards.Row
	ok, connect, direct    = boards.OK, boards.Connect, boards.Direct
	connectWith            = boards.ConnectWith
	load, loadGuild        = boards.Load, boards.LoadGuild
	nudged, documentedUser = boards.Nudged, boards.DocumentedUser
)

// onBothRedis runs the test on a Redis process and on the embedded Redis.
func onBothRedis(t *testing.T, test func(t *testing.T, client *redisconn.Client)) {
	t.Run("redis", func(t *testing.T) { test(t, connect(t, testenv.Redis(t).URL())) })
	t.Run("embedded", func(t *testing.T) {
		server, err := embedded.StartRedis()
		ok(t, err)
		t.Cleanup(server.Close)
		test(t, connect(t, server.URL()))
	})
}

// board is a store with the client that it uses.
type board struct {
	*redisstore.Store
	client *redisconn.Client
}

func newBoard(client *redisconn.Client) *board {
	return &board{redisstore.New(client, redisstore.Options{}), client}
}

// Ping returns nil if the server answers and accepts changes.
func (b *board) Ping(ctx context.Context) error { return b.client.Alive(ctx) }

// Hold and Waiting are those of the single server's queue.
func (b *board) Hold() (release func())        { return b.client.Hold() }
func (b *board) Waiting() (calls, senders int) { return b.client.Waiting() }

func plus(n level.XP) leaderboard.Change {
	return leaderboard.Change{Op: leaderboard.Increment, Amount: n}
}

// named returns plusOne under an idempotency key.
func named(key string) leaderboard.Change {
	c := plusOne
	c.Once = leaderboard.Once{Key: leaderboard.DigestOf([]byte(key)), Request: leaderboard.DigestOf([]byte("plus one"))}
	return c
}
