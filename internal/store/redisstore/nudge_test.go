package redisstore_test

import (
	"context"
	"testing"

	"levelboard/internal/store/embedded"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/testenv"
)

func TestNudgesReachSubscribers(t *testing.T) {
	server, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	for name, url := range map[string]string{"Redis": testenv.Redis(t).URL(), "embedded": server.URL()} {
		t.Run(name, func(t *testing.T) {
			s := redisstore.New(connect(t, url), redisstore.Options{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			nudges := s.Nudges(ctx)
			nudged(t, nudges, "when it is connected")
			for range 3 {
				ok(t, s.Nudge(ctx))
				nudged(t, nudges, "after Nudge")
			}
			// Nobody receives these nudges. They merge into one, and do not block the sender.
			for range 500 {
				ok(t, s.Nudge(ctx))
			}
			nudged(t, nudges, "after many")
			cancel()
			for range nudges {
			}
		})
	}
}

func TestNudgesConnectAgain(t *testing.T) {
	server := testenv.Redis(t)
	s := redisstore.New(connect(t, server.URL()), redisstore.Options{})
	server.Kill()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	nudges := s.Nudges(ctx)
	server.Start()
	nudged(t, nudges, "when the server came up")
	server.Kill()
	server.Start()
	nudged(t, nudges, "when the server came back")
	cancel()
	for range nudges {
	}
}
