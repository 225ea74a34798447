package storetest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/snapshot"
)

const sharedUser id.User = "300000000000000001"

// putMany creates guilds, not in the order of their ids.
func putMany(t *testing.T, a store.Archive, count int) []*guild.Guild {
	t.Helper()
	guilds := make([]*guild.Guild, count)
	for i := range guilds {
		guilds[i] = PutGuild(t, a, id.Guild(fmt.Sprintf("5%017d", (i*7)%count)))
	}
	return guilds
}

// batchesOf returns a batch for each guild, with a row of the same member.
func batchesOf(guilds []*guild.Guild, rev int64) []snapshot.Batch {
	batches := make([]snapshot.Batch, len(guilds))
	for i, g := range guilds {
		batches[i] = snapshot.Batch{Guild: refOf(g), Rev: rev, Known: rev, Rows: []snapshot.Row{row(sharedUser, level.XP(100*rev+int64(i)))}}
	}
	return batches
}

func wantXP(t *testing.T, a store.Archive, g *guild.Guild, want ...level.XP) {
	t.Helper()
	var got []level.XP
	for _, r := range allMembers(t, a, g) {
		got = append(got, r.XP)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the XP in guild %s are %v, want %v", g.ID, got, want)
	}
}

// archiveGroups writes batches of guilds together. Each batch is checked by itself.
func archiveGroups(t *testing.T, a store.Archive) {
	guilds := putMany(t, a, 10)
	l := leased(t, a)
	for _, none := range [][]snapshot.Batch{nil, {}} {
		if errs, err := a.WriteBatches(t.Context(), l, none); err != nil || len(errs) > 0 {
			t.Errorf("writing no batches: %v, %v, want no errors", errs, err)
		}
	}
	write := func(batches []snapshot.Batch, want map[int]error) {
		t.Helper()
		errs, err := a.WriteBatches(t.Context(), l, batches)
		if err != nil || len(errs) != len(batches) {
			t.Fatalf("writing %d batches: %v, %v, want an answer for each", len(batches), errs, err)
		}
		for i, err := range errs {
			if !errors.Is(err, want[i]) || (err == nil) != (want[i] == nil) {
				t.Errorf("batch %d: %v, want %v", i, err, want[i])
			}
		}
	}
	write(batchesOf(guilds, 5), nil)
	for i, g := range guilds {
		wantState(t, a, g, 0, 5)
		wantXP(t, a, g, level.XP(500+i))
	}

	// Some of the next batches are stale.
	batches := batchesOf(guilds, 7)
	batches[1].Epoch = 1
	batches[2].Epoch = 1
	batches[3].Known = 4
	batches[4].Guild.Incarnation++
	batches[5].Rows = nil
	batches[6].Rev = 3 // late, but of the same load
	batches[7].Rows = []snapshot.Row{tombstone(sharedUser), row("300000000000000002", 9)}
	batches[8].Guild.ID = "999999999999999999"
	write(batches, map[int]error{1: snapshot.ErrStale, 2: snapshot.ErrStale, 3: snapshot.ErrStale, 4: snapshot.ErrStale, 8: snapshot.ErrStale})
	for i, g := range guilds {
		switch i {
		case 0, 9:
			wantState(t, a, g, 0, 7)
			wantXP(t, a, g, level.XP(700+i))
		case 5:
			wantState(t, a, g, 0, 7)
			wantXP(t, a, g, 505)
		case 7:
			wantState(t, a, g, 0, 7)
			wantXP(t, a, g, 9)
		default:
			wantState(t, a, g, 0, 5)
			wantXP(t, a, g, level.XP(500+i))
		}
	}

	// Refusing every batch is no failure of the call.
	write(batchesOf(guilds[:1], 6), map[int]error{0: snapshot.ErrStale})
	// Each guild's rows have its own rev and epoch.
	mustGet(a.RaiseEpoch(t.Context(), refOf(guilds[0]), snapshot.State{Archived: 7}, hydrate.Reloaded))(t)
	batches = batchesOf([]*guild.Guild{guilds[0], guilds[9]}, 6)
	for i := range batches {
		batches[i].Known = 7
	}
	batches[0].Epoch = 1
	write(batches, nil)
	wantXP(t, a, guilds[0], 600) // a later load replaces a higher rev
	wantXP(t, a, guilds[9], 709) // the same load does not
	wantState(t, a, guilds[0], 1, 7)
}

// archiveBehind writes batches of a live store that knows a newer archived rev than the archive has, as after lost commits.
func archiveBehind(t *testing.T, a store.Archive) {
	guilds := putMany(t, a, 5)
	l := leased(t, a)
	if errs, err := a.WriteBatches(t.Context(), l, batchesOf(guilds, 90)); err != nil || errors.Join(errs...) != nil {
		t.Fatalf("writing batches of rev 90: %v, %v", errs, err)
	}
	batches := batchesOf(guilds, 101)
	want := []error{nil, snapshot.ErrArchiveBehind, nil, snapshot.ErrStale, snapshot.ErrStale}
	for i, certain := range []int64{90, 91, 0, 91, 100} {
		batches[i].Archived = certain
	}
	batches[3].Epoch, batches[4].Known = 1, 80
	for _, b := range batches[1:2] {
		if err := snapshot.WriteBatch(t.Context(), a, l, b); !errors.Is(err, snapshot.ErrArchiveBehind) || errors.Is(err, snapshot.ErrStale) {
			t.Errorf("one batch: %v, want ErrArchiveBehind", err)
		}
	}
	errs := mustGet(a.WriteBatches(t.Context(), l, batches))(t)
	for i, g := range guilds {
		if !errors.Is(errs[i], want[i]) || (errs[i] == nil) != (want[i] == nil) {
			t.Errorf("batch %d: %v, want %v", i, errs[i], want[i])
		}
		if want[i] != nil {
			wantState(t, a, g, 0, 90)
			wantXP(t, a, g, level.XP(9000+i))
		} else {
			wantState(t, a, g, 0, 101)
			wantXP(t, a, g, level.XP(10100+i))
		}
	}
	// A batch is accepted once the live store knows no newer rev than the archive.
	batches[1].Archived = 90
	if err := snapshot.WriteBatch(t.Context(), a, l, batches[1]); err != nil {
		t.Error(err)
	}
	wantState(t, a, guilds[1], 0, 101)
}

func archiveGroupLease(t *testing.T, a store.Archive) {
	guilds := putMany(t, a, 3)
	l := leased(t, a)
	for _, wrong := range []lease.Lease{{Holder: "other", Fence: l.Fence}, {Holder: l.Holder, Fence: l.Fence + 1}, {}} {
		batches := batchesOf(guilds, 5)
		batches[1].Epoch = 7
		if _, err := a.WriteBatches(t.Context(), wrong, batches); !errors.Is(err, lease.ErrLost) {
			t.Errorf("batches with the lease %+v: %v, want lease.ErrLost", wrong, err)
		}
	}
	for _, g := range guilds {
		wantState(t, a, g, 0, 0)
		wantXP(t, a, g)
	}
}

// archiveGroupRace writes groups of the same guilds in all orders, beside everything else that locks guilds. Nothing deadlocks.
func archiveGroupRace(t *testing.T, a store.Archive) {
	guilds := putMany(t, a, 12)
	l := leased(t, a)
	var all sync.WaitGroup
	const writers, rounds = 4, 12
	for n := range writers {
		all.Go(func() {
			mine := slices.Concat(guilds[3*n:], guilds[:3*n])
			if n%2 == 0 {
				slices.Reverse(mine)
			}
			for round := range rounds {
				batches := batchesOf(mine, int64(1+round*writers+n))
				for i := range batches {
					batches[i].Known = math.MaxInt64
				}
				errs, err := a.WriteBatches(t.Context(), l, batches)
				for i, e := range errs {
					if e != nil && !errors.Is(e, snapshot.ErrStale) {
						t.Errorf("batch %d: %v, want nil or snapshot.ErrStale", i, e)
					}
				}
				if err != nil {
					t.Errorf("writing batches: %v", err)
				}
			}
		})
	}
	all.Go(func() {
		for _, g := range guilds[:4] {
			if _, err := a.DeleteGuild(t.Context(), g.ID); err != nil {
				t.Error(err)
			}
			if _, err := a.Purge(t.Context(), 10, snapshot.Keep{}); err != nil {
				t.Error(err)
			}
		}
	})
	all.Go(func() {
		for _, g := range slices.Backward(guilds[4:8]) {
			s, err := a.State(t.Context(), refOf(g))
			if err == nil {
				_, err = a.RaiseEpoch(t.Context(), refOf(g), s, hydrate.Reloaded)
			}
			if err != nil && !errors.Is(err, snapshot.ErrStale) {
				t.Error(err)
			}
		}
	})
	all.Wait()
	for _, g := range guilds[8:] {
		if s, err := a.State(t.Context(), refOf(g)); err != nil || s.Archived != writers*rounds {
			t.Errorf("the state is %+v (%v), want the highest rev, %d", s, err, writers*rounds)
		}
		if rows := allMembers(t, a, g); len(rows) != 1 || rows[0].XP/100 != writers*rounds {
			t.Errorf("the members are %+v, want those of the highest rev, %d", rows, writers*rounds)
		}
	}
}
