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
			t.Errorf("a batch of epoch %d at epoch 1: %v", epoch, err)
		}
		if _, err := a.RaiseEpoch(t.Context(), refOf(g), snapshot.State{Epoch: epoch}, hydrate.Reloaded); !errors.Is(err, snapshot.ErrStale) {
			t.Errorf("raised from %d at epoch 1: %v", epoch, err)
		}
	}
	wantState(t, a, g, 1, 0)
	// Whatever is committed, or loaded, ends what was only verified.
	raised := func(from snapshot.State, kept, verified int64) snapshot.State {
		t.Helper()
		s, err := a.RaiseEpoch(t.Context(), refOf(g), from, kept)
		if want := (snapshot.State{Epoch: from.Epoch + 1, Archived: from.Archived, Verified: verified}); err != nil || s != want {
			t.Errorf("raised from %+v: %+v, %v; want %+v", from, s, err, want)
		}
		return s
	}
	s := raised(raised(snapshot.State{Epoch: 1}, 0, 1), 0, 2)
	must(t, snapshot.WriteBatch(t.Context(), a, l, snapshot.Batch{Guild: refOf(g), Epoch: s.Epoch}))
	if s = mustGet(a.State(t.Context(), refOf(g)))(t); s.Verified != 0 {
		t.Errorf("after a batch %+v", s)
	}
	raised(raised(s, 0, 1), hydrate.Reloaded, 0)
	if rows := allMembers(t, a, g); len(rows) != 0 {
		t.Errorf("a refused batch left %+v", rows)
	}
}

func archiveIncarnations(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	mustGet(a.DeleteGuild(t.Context(), guildA))(t)
	again := put(t, a, settingsOf(t, guildA, ""))
	b := snapshot.Batch{Guild: refOf(g), Rev: 5, Rows: []snapshot.Row{row("300000000000000001", 1)}}
	if err := snapshot.WriteBatch(t.Context(), a, l, b); !errors.Is(err, snapshot.ErrStale) {
		t.Errorf("a batch of the deleted incarnation: %v", err)
	}
	if _, err := a.State(t.Context(), refOf(g)); !errors.Is(err, snapshot.ErrStale) {
		t.Errorf("its state: %v", err)
	}
	if _, err := a.RaiseEpoch(t.Context(), refOf(g), snapshot.State{}, hydrate.Reloaded); !errors.Is(err, snapshot.ErrStale) {
		t.Errorf("its epoch: %v", err)
	}
	if _, err := a.Members(t.Context(), refOf(g), "", 10); !errors.Is(err, snapshot.ErrStale) {
		t.Errorf("its members: %v", err)
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
				t.Errorf("raise epoch: %v", err)
			}
		})
	}
	group.Wait()
	if won.Load() != 1 {
		t.Errorf("%d of them raised the epoch", won.Load())
	}
	wantState(t, a, g, 1, 0)
}
