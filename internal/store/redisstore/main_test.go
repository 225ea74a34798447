package redisstore_test

import (
	"testing"

	"levelboard/internal/store/embedded"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/boards"
	"levelboard/internal/testing/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// Guilds and users as in the tests of redisconn.
const (
	patience = boards.Patience
	user1    = boards.User1
	prefix   = boards.Prefix
)

var (
	guild1, plusOne               = boards.Guild1, boards.PlusOne
	guildNo, row                  = boards.GuildNo, boards.Row
	ok, connect, direct           = boards.OK, boards.Connect, boards.Direct
	load                          = boards.Load
	keyTypes, changesOf, ended    = boards.KeyTypes, boards.ChangesOf, boards.Ended
	nudged, documentedUser, logOf = boards.Nudged, boards.DocumentedUser, boards.LogOf
)

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
