package storetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"levelboard/internal/store"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/snapshot"
)

func archiveEpochs(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	mustGet(a.RaiseEpoch(t.Context(), refOf(g), snapshot.State{}, hydrate.Reloaded))(t)
	for _, epoch := range []int64{0, 2} {
		err := snapshot.WriteBatch(t.Context(), a, l, snapshot.Batch{Guild: refOf(g), Epoch: epoch, Rev: 5, Rows: []snapshot.Row{row("300000000000000001", 1)}})
		if !errors.Is(err, snapshot.ErrStale) {
			t.Errorf("a batch of epoch %d at epoch 1: %v, want snapshot.ErrStale", epoch, err)
		}
		if _, err := a.RaiseEpoch(t.Context(), refOf(g), snapshot.State{Epoch: epoch}, hydrate.Reloaded); !errors.Is(err, snapshot.ErrStale) {
			t.Errorf("raising epoch %d at epoch 1: %v, want snapshot.ErrStale", epoch, err)
		}
	}
	wantState(t, a, g, 1, 0)
	// A batch or a load ends the state of a guild that was only verified.
	raised := func(from snapshot.State, kept, verified int64) snapshot.State {
		t.Helper()
		s, err := a.RaiseEpoch(t.Context(), refOf(g), from, kept)
		if want := (snapshot.State{Epoch: from.Epoch + 1, Archived: from.Archived, Verified: verified}); err != nil || s != want {
			t.Errorf("raising %+v made %+v (%v), want %+v", from, s, err, want)
		}
		return s
	}
	s := raised(raised(snapshot.State{Epoch: 1}, 0, 1), 0, 2)
	must(t, snapshot.WriteBatch(t.Context(), a, l, snapshot.Batch{Guild: refOf(g), Epoch: s.Epoch}))
	if s = mustGet(a.State(t.Context(), refOf(g)))(t); s.Verified != 0 {
		t.Errorf("after a batch the state is %+v, want it no longer verified", s)
	}
	raised(raised(s, 0, 1), hydrate.Reloaded, 0)
	if rows := allMembers(t, a, g); len(rows) != 0 {
		t.Errorf("a refused batch left %+v, want no members", rows)
	}
}

func archiveIncarnations(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	mustGet(a.DeleteGuild(t.Context(), guildA))(t)
	again := put(t, a, settingsOf(t, guildA, ""))
	b := snapshot.Batch{Guild: refOf(g), Rev: 5, Rows: []snapshot.Row{row("300000000000000001", 1)}}
	if err := snapshot.WriteBatch(t.Context(), a, l, b); !errors.Is(err, snapshot.ErrStale) {
		t.Errorf("a batch of the deleted incarnation: %v, want snapshot.ErrStale", err)
	}
	if _, err := a.State(t.Context(), refOf(g)); !errors.Is(err, snapshot.ErrStale) {
		t.Errorf("the deleted incarnation's state: %v, want snapshot.ErrStale", err)
	}
	if _, err := a.RaiseEpoch(t.Context(), refOf(g), snapshot.State{}, hydrate.Reloaded); !errors.Is(err, snapshot.ErrStale) {
		t.Errorf("raising the deleted incarnation's epoch: %v, want snapshot.ErrStale", err)
	}
	if _, err := a.Members(t.Context(), refOf(g), "", 10); !errors.Is(err, snapshot.ErrStale) {
		t.Errorf("the deleted incarnation's members: %v, want snapshot.ErrStale", err)
	}
	wantState(t, a, again, 0, 0)
}

func archiveEpochRace(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	var won atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			switch _, err := a.RaiseEpoch(t.Context(), refOf(g), snapshot.State{}, hydrate.Reloaded); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, snapshot.ErrStale):
				t.Errorf("raising the epoch: %v, want nil or snapshot.ErrStale", err)
			}
		})
	}
	group.Wait()
	if won.Load() != 1 {
		t.Errorf("%d writers raised the epoch, want 1", won.Load())
	}
	wantState(t, a, g, 1, 0)
}
