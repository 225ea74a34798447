package redisstore_test

import (
	"testing"

	"levelboard/internal/store/embedded"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/signin"
)

func TestSessionsOnRedis(t *testing.T) {
	client := connect(t, testenv.Redis(t).URL())
	storetest.Sessions(t, func(t *testing.T) signin.Store {
		if err := client.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		return redisstore.New(client, redisstore.Options{})
	})
}

func TestSessionsOnEmbeddedRedis(t *testing.T) {
	storetest.Sessions(t, func(t *testing.T) signin.Store {
		server, err := embedded.StartRedis()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(server.Close)
		return redisstore.New(connect(t, server.URL()), redisstore.Options{})
	})
}
