package snapshot_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"levelboard/internal/testing/stores"
	"levelboard/internal/usecase/lease"
)

// All replicas stop at the same time. The writer has read all guilds when another replica makes its last changes. That replica must not
// exit before they are written.
func TestTheLastToStopWritesWhatIsLeft(t *testing.T) {
	stores.OnBoth(t, func(w *stores.World) {
		ctx := w.Context()
		g, late := w.Guild(stores.GuildA), w.Guild("200000000000000002")
		w.Create(g, 1, 100)
		hook, reached, goOn := stores.Held("Survey", 1)
		first := w.Writer("first", stores.Never, &stores.Faults{After: hook})
		flushed, stopped := make(chan error, 1), make(chan error, 1)
		go func() { flushed <- first.Flush(ctx) }()
		<-reached
		w.Create(late, 1, 100)
		f := &stores.Faults{}
		second := w.Writer("second", stores.Never, f)
		go func() { stopped <- second.Flush(ctx) }()
		w.Eventually("it tries for the lease again and again", func() bool { return f.Count("AcquireLease") > 2 })

		wantSilent(w, "third")
		close(goOn)
		w.Must(<-flushed)
		if w.NothingWaits(late) {
			t.Fatal("the first writer wrote the late change, so the test proves nothing")
		}
		w.Must(first.Release(ctx))
		w.Must(<-stopped)
		w.Must(second.Release(ctx))
		w.InStep(g)
		w.InStep(late)
	})
}

// wantSilent fails unless a last snapshot waits for another holder's lease and reports that when its time is over.
func wantSilent(w *stores.World, holder string) {
	w.Helper()
	ctx, cancel := context.WithCancel(w.Context())
	defer cancel()
	f, ended := &stores.Faults{}, make(chan error, 1)
	go func() { ended <- w.Writer(holder, stores.Never, f).Flush(ctx) }()
	w.Eventually("it has looked at the lease", func() bool { return f.Count("AcquireLease") > 1 })
	cancel()
	if err := <-ended; !errors.Is(err, lease.ErrSilent) {
		w.Errorf("a flush over its time: %v, want lease.ErrSilent", err)
	}
}

// Another replica takes the lease from one that hangs in its last snapshot, and dies.
func TestALastSnapshotSurvivesTheLossOfItsLease(t *testing.T) {
	stores.OnServers(t, func(w *stores.World) {
		ctx, g := w.Context(), w.Guild(stores.GuildA)
		w.Create(g, 1, 100)
		hook := func(_ context.Context, c stores.Call) error {
			if c.Method == "WriteBatches" && c.N == 1 {
				_, err := w.Archive.AcquireLease(ctx, "first", 0, true) // expires its own lease
				w.Must(err)
				_, err = w.Archive.AcquireLease(ctx, "second", 200*time.Millisecond, false)
				w.Must(err)
			}
			return nil
		}
		w.Must(w.Writer("first", stores.Never, &stores.Faults{Before: hook}).Flush(ctx))
		w.InStep(g)
	})
}
