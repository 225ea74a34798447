package apikey_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
)

// ledger is a UseStore in memory.
type ledger struct {
	mu       sync.Mutex
	down     error
	requests map[string]int64
	last     map[string]time.Time
	largest  int
}

func newLedger() *ledger {
	return &ledger{requests: map[string]int64{}, last: map[string]time.Time{}}
}

func (l *ledger) AddUse(_ context.Context, _ int64, uses []apikey.KeyUse) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down != nil {
		return l.down
	}
	l.largest = max(l.largest, len(uses))
	for _, u := range uses {
		l.requests[u.KeyID] += u.Requests
		l.last[u.KeyID] = u.LastUsed
	}
	return nil
}

func (l *ledger) fail(down error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = down
}

func (l *ledger) of(keyID string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requests[keyID]
}

// metered returns a world whose requests are counted.
func metered(t *testing.T) (*world, *apikey.Meter, *ledger) {
	w, l := newWorld(t), newLedger()
	m := apikey.NewMeter(l, func() time.Time { return w.now }, slog.New(slog.DiscardHandler))
	w.keys = apikey.NewCache(w.archive, 100, func() time.Time { return w.now }, m)
	return w, m, l
}

func TestRequestsWithValidKeysAreCounted(t *testing.T) {
	w, m, l := metered(t)
	w.accepted(t)
	if _, err := w.keys.Recheck(t.Context(), w.secret); err != nil { // for a request that continues
		t.Fatal(err)
	}
	w.now = noon.Add(time.Second)
	w.accepted(t)
	w.expect(t, w.secret[:52]+"!", fault.Unauthenticated)
	stolen, _ := apikey.Mint(w.key.ID)
	w.expect(t, stolen, fault.Unauthenticated)
	if err := m.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, last := l.of(w.key.ID), l.last[w.key.ID]; n != 2 || !last.Equal(w.now) {
		t.Errorf("%d requests are counted, the last at %v, want 2 and %v", n, last, w.now)
	}
	if err := m.Flush(t.Context()); err != nil || l.of(w.key.ID) != 2 {
		t.Errorf("after a second flush %d requests are stored (%v), want 2", l.of(w.key.ID), err)
	}
}

func TestAFailedFlushIsRepeated(t *testing.T) {
	w, m, l := metered(t)
	l.fail(errors.New("connection refused"))
	for range 3 {
		w.accepted(t)
		if err := m.Flush(t.Context()); err == nil {
			t.Fatal("the flush returned no error, want the store's")
		}
	}
	l.fail(nil)
	if err := m.Flush(t.Context()); err != nil || l.of(w.key.ID) != 3 {
		t.Errorf("%d requests are stored (%v), want 3", l.of(w.key.ID), err)
	}
}

// A change drops a key from the cache, but not the count of its requests.
func TestConcurrentRequestsAreAllCounted(t *testing.T) {
	w, m, l := metered(t)
	const clients, each = 8, 400
	var group sync.WaitGroup
	for range clients {
		group.Go(func() {
			for i := range each {
				if _, err := w.keys.Authenticate(t.Context(), w.secret); err != nil {
					t.Errorf("authenticating: %v", err)
				}
				switch i % 40 {
				case 7:
					w.keys.Changed(w.key.ID)
				case 9:
					if err := m.Flush(t.Context()); err != nil {
						t.Errorf("flushing: %v", err)
					}
				}
			}
		})
	}
	group.Wait()
	if err := m.Flush(t.Context()); err != nil || l.of(w.key.ID) != clients*each {
		t.Errorf("%d requests are counted (%v), want %d", l.of(w.key.ID), err, clients*each)
	}
}

func TestAFlushHasBoundedBatches(t *testing.T) {
	w, m, l := metered(t)
	w.keys = apikey.NewCache(w.archive, 2000, func() time.Time { return noon }, m)
	for range 1234 {
		secret, keyID, hash := mint(t)
		w.archive.keys[keyID] = &apikey.Key{ID: keyID, Hash: hash}
		if _, err := w.keys.Authenticate(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(l.requests) != 1234 || l.largest > 500 {
		t.Errorf("%d keys are stored, at most %d at once, want 1234 and 500", len(l.requests), l.largest)
	}
}

// A killed replica loses what it has not flushed, which is less than a minute.
func TestTheMeterFlushesWithinAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m, l := metered(t)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); m.Run(ctx) }()
		for range 3 {
			w.accepted(t)
			before := l.of(w.key.ID)
			time.Sleep(time.Minute - time.Second) // synctest's time
			synctest.Wait()
			if l.of(w.key.ID) != before+1 {
				t.Error("a request is not stored after a minute")
			}
		}
		stop()
		<-ended
	})
}

func TestCountingDoesNotAllocate(t *testing.T) {
	counted, _, _ := metered(t)
	plain := newWorld(t)
	allocs := func(w *world) float64 {
		ctx := t.Context()
		return testing.AllocsPerRun(1000, func() {
			if _, err := w.keys.Authenticate(ctx, w.secret); err != nil {
				t.Fatal(err)
			}
		})
	}
	if with, without := allocs(counted), allocs(plain); with > without {
		t.Errorf("a request makes %v allocations with the count and %v without, want no more", with, without)
	}
}
