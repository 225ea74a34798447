package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/stores"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
)

func TestOnlyTheHolderOfTheLeaseWrites(t *testing.T) {
	stores.OnServers(t, func(w *stores.World) {
		g := w.Guild(stores.GuildA)
		w.Create(g, 1, 100)
		first, f := w.Writer("first", stores.Never, &stores.Faults{}), &stores.Faults{}
		w.Must(first.Import(w.Context(), leaderboard.Ref(storetest.PutGuild(t, w.Archive, "200000000000000002")), nil)) // takes the lease
		second := w.Writer("second", 20*time.Millisecond, f)
		stop := w.Running(second)
		defer stop()
		w.Add(g, 1)
		w.Eventually("tries for the lease", func() bool { return f.Count("AcquireLease") > 3 })
		if f.Count("ReadChanges") > 0 || len(w.ArchivedRows(g)) > 0 {
			t.Error("a writer without the lease read or wrote changes")
		}
		w.Must(first.Release(w.Context()))
		w.Eventually("the other takes over", func() bool {
			rows := w.ArchivedRows(g)
			return len(rows) == 1 && rows[0].XP == 101
		})

		// The second writer has the lease now, and the first one's flush has no effect.
		wrote := w.State(g)
		w.Must(first.Release(w.Context()))
		if got := w.State(g); got != wrote {
			t.Errorf("the flush without the lease changed the state to %+v, want %+v", got, wrote)
		}
	})
}

func TestAWriterWithoutItsLeaseWritesNothing(t *testing.T) {
	stores.OnBoth(t, func(w *stores.World) {
		g := w.Guild(stores.GuildA)
		w.Create(g, 1, 100)
		var passed atomic.Bool
		f := &stores.Faults{Before: func(_ context.Context, c stores.Call) error {
			if c.Method == "WriteBatches" {
				// The writer hangs for longer than its lease lasts, and another writer takes the lease.
				w.Eventually("the lease passes on", func() bool {
					_, err := w.Archive.AcquireLease(w.Context(), "second", stores.Taken, false)
					return err == nil
				})
				passed.Store(true)
			}
			if c.Method == "AcquireLease" && c.N > 1 && !passed.Load() {
				return stores.ErrBroken
			}
			return nil
		}}
		first := w.Writer("first", time.Millisecond, f)
		ended := make(chan error, 1)
		go func() { ended <- first.Flush(w.Context()) }()
		w.Eventually("it is left to the other one, which renews it", func() bool {
			if passed.Load() {
				_, err := w.Archive.AcquireLease(w.Context(), "second", stores.Taken, false)
				w.Must(err)
			}
			return len(ended) > 0
		})
		w.Must(<-ended)
		if rows := w.ArchivedRows(g); len(rows) > 0 || w.State(g).Archived != 0 {
			t.Errorf("without the lease the rows %+v were archived, with the state %+v", rows, w.State(g))
		}
		w.Must(first.Release(w.Context()))
		w.Must(w.Writer("second", stores.Never, &stores.Faults{}).Flush(w.Context()))
		w.InStep(g)
	})
}

// A long round keeps its lease, even long after the lease's first expiry.
func TestALongRoundKeepsItsLease(t *testing.T) {
	testenv.Again(t, func() error { return longRound(t) })
}

func longRound(t *testing.T) (failure error) {
	w := stores.Embedded(t)
	g := w.Guild(stores.GuildA)
	w.Create(g, 1, 100)
	f := &stores.Faults{}
	f.Before = func(_ context.Context, c stores.Call) error {
		if c.Method == "WriteBatches" {
			w.Eventually("renewals", func() bool {
				_, err := w.Archive.AcquireLease(w.Context(), "second", stores.Taken, false)
				if !errors.Is(err, lease.ErrLost) {
					failure = fmt.Errorf("taking the lease of a running round: %v, want lease.ErrLost", err)
				}
				return failure != nil || f.Count("AcquireLease") > 12
			})
		}
		return failure
	}
	if err := errors.Join(w.Writer("first", 2*time.Second, f).Flush(w.Context()), failure); err != nil {
		return err
	}
	w.InStep(g)
	return nil
}

// A writer took a changed guild out of the index and died. The next writer finds the guild at once, not only at a later sweep.
func TestANewHolderLooksBeyondTheIndex(t *testing.T) {
	w := stores.Embedded(t)
	g, f := w.Guild(stores.GuildA), &stores.Faults{}
	var rounds []int
	f.Before = func(_ context.Context, c stores.Call) error {
		if c.Method == "WriteBatches" {
			rounds = append(rounds, f.Count("LoadedGuilds"))
		}
		return nil
	}
	lose := func() {
		w.Add(g, 1)
		_, err := w.Live.ChangedGuilds(w.Context())
		w.Must(err)
	}
	writer := w.Writer("writer", 20*time.Millisecond, f)
	w.Create(g, 1, 100)
	w.Must(writer.Flush(w.Context()))
	lose()
	w.Must(writer.Flush(w.Context()))
	w.InStep(g)
	w.Must(writer.Release(w.Context()))
	lose()
	stop := w.Running(writer)
	w.Eventually("the guild is found", func() bool { return f.Count("EndChanges") == 3 && w.NothingWaits(g) })
	stop()
	w.InStep(g)
	if fmt.Sprint(rounds) != "[0 2 3]" { // the first guild was in the index
		t.Errorf("the guilds were written in the sweeps %v, want [0 2 3]", rounds)
	}
}
