package redisconn_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"levelboard/internal/platform/pause"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
)

// gated returns a client with one connection.
func gated(t *testing.T, server *testenv.RedisServer, silence time.Duration) *redisconn.Client {
	t.Helper()
	client, err := redisconn.Connect(server.URL(), redisconn.ConnectOptions{Timeout: silence, PoolSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	return client
}

// all calls do n times at once, and returns the errors and the time it took.
func all(n int, do func() error) (errs []error, took time.Duration) {
	began := time.Now()
	errs = make([]error, n)
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() { errs[i] = do() })
	}
	running.Wait()
	return errs, time.Since(began)
}

// Callers of a busy server wait in a queue for many times the patience with a silent server, as long as it moves.
func TestABusyServerIsWaitedFor(t *testing.T) {
	client := gated(t, testenv.Redis(t, testenv.WithConfig("enable-debug-command yes")), 500*time.Millisecond)
	ctx := pause.WithPatience(t.Context(), 300*time.Millisecond)
	testenv.Again(t, func() error {
		errs, took := all(40, func() error { return client.Do(ctx, "DEBUG", "SLEEP", "0.02").Err() })
		if err := errors.Join(errs...); err != nil {
			return fmt.Errorf("a command that waited in the queue: %w", err)
		}
		if took < 800*time.Millisecond {
			t.Errorf("40 commands of 20 ms took %v, want at least 800 ms", took)
		}
		return nil
	})
}

// Callers that wait for the one connection to a silent server do not wait for every earlier failure.
func TestASilentServerIsWaitedForOnce(t *testing.T) {
	server := testenv.Redis(t)
	client := gated(t, server, time.Minute)
	ctx := pause.WithPatience(t.Context(), 300*time.Millisecond)
	server.Pause()
	errs, took := all(200, func() error { return client.Get(ctx, "key").Err() })
	server.Resume()
	for _, err := range errs {
		if err == nil || errors.Is(err, leaderboard.ErrNotLoaded) {
			t.Fatalf("a command to a silent server: %v, want an error other than ErrNotLoaded", err)
		}
	}
	if took > 30*time.Second { // one after the other takes 60 s
		t.Errorf("200 commands took %v, want about the time of one", took)
	}
	if err := client.Set(t.Context(), "key", "value", 0).Err(); err != nil {
		t.Errorf("a command once the server answers: %v", err)
	}
}

func TestAWaitingCallerLeavesWithItsContext(t *testing.T) {
	server := testenv.Redis(t)
	client := gated(t, server, time.Second)
	server.Pause()
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error, 2)
	for range 2 {
		go func() { waiting <- client.Get(ctx, "key").Err() }()
	}
	cancel()
	// One of the two callers has the connection and continues. The other gives up.
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("the waiting caller got %v, want context.Canceled", err)
	}
	server.Resume()
	<-waiting
}

// A new connection sends commands of its own first. They use the place of the first command, so one place is enough.
func TestOnePlaceIsEnoughToConnect(t *testing.T) {
	server := testenv.Redis(t)
	client, err := redisconn.Connect(server.URL(), redisconn.ConnectOptions{PoolSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	s := newBoard(client)
	errs, _ := all(8, func() error {
		_, err := s.Version(t.Context(), guild1)
		return err
	})
	for _, err := range errs {
		if !errors.Is(err, leaderboard.ErrNotLoaded) {
			t.Errorf("the first script of a new client: %v, want ErrNotLoaded", err)
		}
	}
}
