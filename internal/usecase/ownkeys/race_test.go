package ownkeys_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/usecase/ownkeys"
)

func TestAUserHas25KeysAtMostHoweverManyAreMadeAtOnce(t *testing.T) {
	w := newWorld(t)
	for range ownkeys.MaxKeys - 2 {
		w.create()
	}
	var made atomic.Int64
	var group sync.WaitGroup
	for range 12 {
		group.Go(func() {
			_, _, err := w.Create(t.Context(), user, newKey())
			if err == nil {
				made.Add(1)
			} else {
				w.refused("one too many", err, fault.Conflict)
			}
		})
	}
	group.Wait()
	list, err := w.Keys(t.Context(), userID)
	if err != nil || len(list) != ownkeys.MaxKeys || made.Load() != 2 {
		t.Fatalf("%d keys, of which %d were made at once, %v", len(list), made.Load(), err)
	}
	w.must(w.Delete(t.Context(), userID, list[0].ID))
	w.create()
}

func TestARotationWithAnOverlap(t *testing.T) {
	w := newWorld(t)
	first, k := w.create(guild1)
	second, err := w.Rotate(t.Context(), userID, k.ID, ownkeys.OneDay)
	w.must(err)
	until := noon.Add(24 * time.Hour).Truncate(time.Millisecond)
	if old := w.only().OldUntil; old == nil || !old.Equal(until) {
		t.Errorf("the old secret stops at %v, want %v", old, until)
	}
	w.wantWorks("the old secret", first, guild1, true)
	w.wantWorks("the new secret", second, guild1, true)
	w.must(w.meter.Flush(t.Context()))
	if used := w.only().Requests; used != 2 {
		t.Errorf("%d requests are counted for both secrets, want 2", used)
	}
	w.pass(24 * time.Hour)
	w.wantWorks("the old secret, later", first, guild1, false)
	w.wantWorks("the new secret, later", second, guild1, true)
	if old := w.only().OldUntil; old != nil {
		t.Errorf("an old secret is shown that stopped at %v", old)
	}
}

// A key is used all the time while it changes. When a change has returned, no request that begins then sees what was
// before, also where one was reading the key from the archive meanwhile.
func TestChangesRaceAuthentication(t *testing.T) {
	w := newWorld(t)
	secret, k := w.create(guild1)
	var current atomic.Pointer[string]
	current.Store(&secret)
	stop := make(chan struct{})
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			for turn := 0; ; turn++ {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := w.here.Authenticate(t.Context(), *current.Load()); err != nil && !fault.Is(err, fault.Unauthenticated) {
					t.Errorf("authenticate: %v", err)
					return
				}
				if turn%16 == 0 {
					w.here.Changed(k.ID) // so that the key is read again and again
				}
			}
		})
	}
	find := func(what, presented string, want bool) *apikey.Key {
		found, err := w.here.Authenticate(t.Context(), presented)
		if (err == nil) != want {
			t.Errorf("%s: %v", what, err)
		}
		return found
	}
	for i := range 16 {
		overlap := []ownkeys.Overlap{ownkeys.NoOverlap, ownkeys.OneHour}[i%2]
		before := *current.Load()
		after, err := w.Rotate(t.Context(), userID, k.ID, overlap)
		w.must(err)
		find("the new secret", after, true)
		find("the one before", before, overlap > 0)
		current.Store(&after)
		w.must(w.Ungrant(t.Context(), userID, k.ID, guild1))
		if found := find("without the grant", after, true); found != nil && found.Granted(guild1) {
			t.Error("a grant is there that was taken away")
		}
		w.must(w.Grant(t.Context(), user, k.ID, guild1))
		if found := find("with the grant", after, true); found != nil && !found.Granted(guild1) {
			t.Error("a grant that was given is not there")
		}
	}
	w.must(w.Delete(t.Context(), userID, k.ID))
	find("a deleted key", *current.Load(), false)
	close(stop)
	group.Wait()
}
