package redisstore_test

import (
	"errors"
	"testing"

	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/snapshot"
)

// A server with an append-only file is killed during a load. The file restores the lock, but the lock's old holder must stop, and another
// hydration must not wait until the lock expires.
func TestALockOfAnEarlierRunOfTheServerIsIgnored(t *testing.T) {
	server := testenv.Redis(t, testenv.WithAOF())
	s := redisstore.New(connect(t, server.URL()), redisstore.Options{})
	before, _, err := s.BeginHydration(t.Context(), guild1, snapshot.State{})
	if err != nil {
		t.Fatal(err)
	}
	if _, found, err := s.BeginHydration(t.Context(), guild1, snapshot.State{}); err != nil || found != hydrate.FoundBusy {
		t.Fatalf("before the server was killed another hydration found %v (%v), want FoundBusy", found, err)
	}
	server.Kill()
	server.Start()
	_ = s.Client().Alive(t.Context()) // replaces the broken connections
	after, found, err := s.BeginHydration(t.Context(), guild1, snapshot.State{})
	if err != nil || found == hydrate.FoundBusy {
		t.Fatalf("after the server came back a hydration found %v (%v), want the lock free", found, err)
	}
	if err := s.CommitHydration(t.Context(), before, snapshot.State{Epoch: 1}); !errors.Is(err, hydrate.ErrLost) {
		t.Errorf("the old holder's commit: %v, want %v", err, hydrate.ErrLost)
	}
	if err := s.AbortHydration(t.Context(), before); err != nil {
		t.Error(err)
	}
	if err := s.CommitHydration(t.Context(), after, snapshot.State{Epoch: 2}); err != nil {
		t.Errorf("the new holder's commit: %v", err)
	}
}
