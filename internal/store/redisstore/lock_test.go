package redisstore_test

import (
	"errors"
	"testing"

	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/snapshot"
)

// A server with an append-only file is killed while a guild is being loaded. The file restores the lock, but its old holder
// must stop, and another hydration must not wait until the lock expires.
func TestALockOfAnEarlierLifeOfTheServerStopsNobody(t *testing.T) {
	server := testenv.Redis(t, testenv.WithAOF())
	s := redisstore.New(connect(t, server.URL()), redisstore.Options{})
	before, _, err := s.BeginHydration(t.Context(), guild1, snapshot.State{})
	if err != nil {
		t.Fatal(err)
	}
	if _, found, err := s.BeginHydration(t.Context(), guild1, snapshot.State{}); err != nil || found != hydrate.FoundBusy {
		t.Fatalf("before the server was killed: found %v, %v; want that somebody else loads", found, err)
	}
	server.Kill()
	server.Start()
	_ = s.Client().Alive(t.Context()) // replaces the broken connections, which this test is not about
	after, found, err := s.BeginHydration(t.Context(), guild1, snapshot.State{})
	if err != nil || found == hydrate.FoundBusy {
		t.Fatalf("after the server came back: found %v, %v; want the lock", found, err)
	}
	if err := s.CommitHydration(t.Context(), before, snapshot.State{Epoch: 1}); !errors.Is(err, hydrate.ErrLost) {
		t.Errorf("the one that was loading before: %v; want %v", err, hydrate.ErrLost)
	}
	if err := s.AbortHydration(t.Context(), before); err != nil {
		t.Error(err)
	}
	if err := s.CommitHydration(t.Context(), after, snapshot.State{Epoch: 2}); err != nil {
		t.Errorf("the one that loads now: %v", err)
	}
}
