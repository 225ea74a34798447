package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/store"
)

func wantUse(t *testing.T, a store.Archive, hour, requests int64, last time.Time) {
	t.Helper()
	for _, o := range owned(t, a, ownerA, hour) {
		if o.ID != keyOne {
			continue
		}
		if o.Requests != requests || o.LastUsed == nil || !o.LastUsed.Equal(last) {
			t.Errorf("in the day to hour %d there are %d requests, the last at %v, want %d, %v", hour, o.Requests, o.LastUsed, requests, last)
		}
		return
	}
	t.Errorf("the owner's list lacks the key %s", keyOne)
}

func archiveUse(t *testing.T, a store.Archive) {
	withKeys(t, a, keyOne, keyTwo)
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	hour := apikey.HourOf(noon)
	add := func(hour, requests int64, last time.Time) {
		t.Helper()
		must(t, a.AddUse(t.Context(), hour, []apikey.KeyUse{
			{KeyID: keyOne, Requests: requests, LastUsed: last}, {KeyID: "unknown00001", Requests: 3, LastUsed: last},
		}))
	}
	add(hour, 5, noon)
	wantUse(t, a, hour, 5, noon)
	add(hour, 7, noon.Add(-time.Second)) // from a replica that is late
	wantUse(t, a, hour, 12, noon)
	add(hour+1, 100, noon.Add(time.Hour))
	wantUse(t, a, hour+1, 112, noon.Add(time.Hour))
	wantUse(t, a, hour+apikey.HoursOfDay-1, 112, noon.Add(time.Hour))
	wantUse(t, a, hour+apikey.HoursOfDay, 100, noon.Add(time.Hour))
	wantUse(t, a, hour+apikey.HoursOfDay+1, 0, noon.Add(time.Hour))
	for _, o := range owned(t, a, ownerA, hour) {
		if o.ID == keyTwo && (o.Requests != 0 || o.LastUsed != nil) {
			t.Errorf("the unused key has %+v", o)
		}
	}
	must(t, a.RevokeKey(t.Context(), keyOne, byA()))
	add(hour, 1, noon)
}

// archiveUseRace counts the same keys on many replicas, in different orders, while the keys change.
func archiveUseRace(t *testing.T, a store.Archive) {
	withKeys(t, a, keyOne, keyTwo)
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	const replicas, flushes = 6, 10
	var group sync.WaitGroup
	for r := range replicas {
		group.Go(func() {
			for range flushes {
				uses := []apikey.KeyUse{{KeyID: keyOne, Requests: 1, LastUsed: noon}, {KeyID: keyTwo, Requests: 1, LastUsed: noon}}
				if r%2 == 1 {
					uses[0], uses[1] = uses[1], uses[0]
				}
				if err := a.AddUse(t.Context(), apikey.HourOf(noon), uses); err != nil {
					t.Errorf("adding use: %v", err)
				}
			}
		})
	}
	group.Go(func() {
		for i := range flushes {
			if err := a.RenameKey(t.Context(), keyOne, fmt.Sprint(i), byA()); err != nil {
				t.Errorf("renaming a key: %v", err)
			}
		}
		if err := a.RevokeKey(t.Context(), keyTwo, byA()); err != nil {
			t.Errorf("revoking a key: %v", err)
		}
	})
	group.Wait()
	wantUse(t, a, apikey.HourOf(noon), replicas*flushes, noon)
}
