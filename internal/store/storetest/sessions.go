package storetest

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/signin"
)

// Sessions is the conformance suite of signin.Store. open returns an empty store.
func Sessions(t *testing.T, open func(t *testing.T) signin.Store) {
	const user, other = id.User("100000000000000001"), id.User("100000000000000002")
	now := time.Now()
	put := func(t *testing.T, s signin.Store, n byte, user id.User) signin.Hash {
		t.Helper()
		h := signin.Hash{n}
		kept := signin.Kept{Hash: h, User: user, Sealed: []byte{0, n, 255}, Ends: now.Add(time.Hour + time.Duration(n)*time.Second)}
		must(t, s.PutSession(t.Context(), kept, time.Hour, signin.PutOptions{Limit: 3, Now: now}))
		return h
	}
	has := func(t *testing.T, s signin.Store, h signin.Hash, want []byte) {
		t.Helper()
		got, err := s.Session(t.Context(), h)
		if want == nil && !errors.Is(err, signin.ErrNoSession) || want != nil && (err != nil || !bytes.Equal(got, want)) {
			t.Errorf("session %d is %v (%v), want %v", h[0], got, err, want)
		}
	}
	fail := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	t.Run("a session is found until it is ended", func(t *testing.T) {
		s := open(t)
		has(t, s, signin.Hash{9}, nil)
		one, two := put(t, s, 1, user), put(t, s, 2, user)
		has(t, s, one, []byte{0, 1, 255})
		for range 2 {
			fail(t, s.EndSession(t.Context(), user, one))
		}
		has(t, s, one, nil)
		has(t, s, two, []byte{0, 2, 255})
	})
	t.Run("all of a user's sessions are ended", func(t *testing.T) {
		s := open(t)
		fail(t, s.EndSessions(t.Context(), user))
		one, two, three := put(t, s, 1, user), put(t, s, 2, user), put(t, s, 3, other)
		fail(t, s.EndSessions(t.Context(), user))
		has(t, s, one, nil)
		has(t, s, two, nil)
		has(t, s, three, []byte{0, 3, 255})
		has(t, s, put(t, s, 4, user), []byte{0, 4, 255})
	})
	t.Run("the oldest of too many sessions end", func(t *testing.T) {
		s := open(t)
		for n := range byte(5) {
			put(t, s, n, user)
		}
		for n := range byte(5) {
			want := []byte{0, n, 255}
			if n < 2 {
				want = nil
			}
			has(t, s, signin.Hash{n}, want)
		}
	})
	t.Run("one request at a time claims a session", func(t *testing.T) {
		s := open(t)
		h := put(t, s, 1, user)
		for attempt, want := range []bool{true, false} {
			if got, err := s.ClaimSession(t.Context(), h, time.Minute); got != want || err != nil {
				t.Fatalf("claim %d succeeded: %v (%v), want %v", attempt, got, err, want)
			}
		}
		fail(t, s.ReplaceSession(t.Context(), h, []byte("new"), time.Hour))
		has(t, s, h, []byte("new"))
		if got, err := s.ClaimSession(t.Context(), h, time.Minute); !got || err != nil {
			t.Errorf("claiming a released session: %v (%v), want true", got, err)
		}
	})
	t.Run("a session that was ended does not come back", func(t *testing.T) {
		s := open(t)
		for name, end := range map[string]func(h signin.Hash) error{
			"it":  func(h signin.Hash) error { return s.EndSession(t.Context(), user, h) },
			"all": func(signin.Hash) error { return s.EndSessions(t.Context(), user) },
		} {
			h := put(t, s, byte(len(name)), user)
			mustGet(s.ClaimSession(t.Context(), h, time.Minute))(t)
			fail(t, end(h))
			if err := s.ReplaceSession(t.Context(), h, []byte("new"), time.Hour); !errors.Is(err, signin.ErrNoSession) {
				t.Errorf("replacing a session after %s ended: %v, want signin.ErrNoSession", name, err)
			}
			has(t, s, h, nil)
		}
	})
	t.Run("a session expires", func(t *testing.T) {
		s := open(t)
		kept := signin.Kept{Hash: signin.Hash{1}, User: user, Sealed: []byte("x"), Ends: now}
		fail(t, s.PutSession(t.Context(), kept, time.Millisecond, signin.PutOptions{Limit: 3, Now: now}))
		testenv.Wait(t, "the session expires", func() bool {
			_, err := s.Session(t.Context(), kept.Hash)
			return errors.Is(err, signin.ErrNoSession)
		})
	})
}
