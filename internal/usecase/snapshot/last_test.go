package snapshot_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"levelboard/internal/usecase/lease"
)

// All replicas stop at the same time. The one that writes has looked at all guilds when another one makes its last changes, which is
// then not to end before they are written.
func TestTheLastToStopWritesWhatIsLeft(t *testing.T) {
	onBothStores(t, func(w *world) {
		ctx := w.Context()
		g, late := w.guild(guildA), w.guild("200000000000000002")
		w.create(g, 1, 100)
		hook, reached, goOn := held("Survey", 1)
		first := w.writer("first", never, &faults{after: hook})
		flushed, stopped := make(chan error, 1), make(chan error, 1)
		go func() { flushed <- first.Flush(ctx) }()
		<-reached
		w.create(late, 1, 100)
		f := &faults{}
		second := w.writer("second", never, f)
		go func() { stopped <- second.Flush(ctx) }()
		w.eventually("it tries for the lease again and again", func() bool { return f.count("AcquireLease") > 2 })

		w.wantSilent("third")
		close(goOn)
		w.must(<-flushed)
		if w.nothingWaits(late) {
			t.Fatal("the first one wrote the late change: nothing was tested")
		}
		w.must(first.Release(ctx))
		w.must(<-stopped)
		w.must(second.Release(ctx))
		w.inStep(g)
		w.inStep(late)
	})
}

// wantSilent fails the test unless a last snapshot waits for the lease of another one, and says so when its time is over.
func (w *world) wantSilent(holder string) {
	w.Helper()
	ctx, cancel := context.WithCancel(w.Context())
	defer cancel()
	f, ended := &faults{}, make(chan error, 1)
	go func() { ended <- w.writer(holder, never, f).Flush(ctx) }()
	w.eventually("it has looked at the lease", func() bool { return f.count("AcquireLease") > 1 })
	cancel()
	if err := <-ended; !errors.Is(err, lease.ErrSilent) {
		w.Errorf("a flush whose time is over: %v", err)
	}
}

// A replica that ends leaves its changes to one that continues, and to no other: one that holds the lease and does not renew it may be dead.
func TestALastSnapshotIsLeftToALivingWriter(t *testing.T) {
	onBothStores(t, func(w *world) {
		ctx, g := w.Context(), w.guild(guildA)
		w.create(g, 1, 100)
		_, err := w.archive.AcquireLease(ctx, "writer", 10*time.Second, false)
		w.must(err)
		w.wantSilent("second")
		f := &faults{}
		third := w.writer("third", never, f)
		ended := make(chan error, 1)
		go func() { ended <- third.Flush(ctx) }()
		w.eventually("it has looked at the lease", func() bool { return f.count("AcquireLease") > 1 })
		if _, err := w.archive.AcquireLease(ctx, "writer", 11*time.Second, false); err != nil {
			t.Fatal(err)
		}
		w.must(<-ended)
		if w.nothingWaits(g) {
			t.Error("it was written by nobody")
		}
		// One that is killed is taken over from.
		if _, err := w.archive.AcquireLease(ctx, "writer", time.Millisecond, false); err != nil {
			t.Fatal(err)
		}
		w.must(w.writer("fourth", never, &faults{}).Flush(ctx))
		w.inStep(g)
	})
}

// Another replica takes the lease from one that stands still in the middle of its last snapshot, and dies.
func TestALastSnapshotWhoseLeaseIsLostIsWrittenInTheEnd(t *testing.T) {
	onBothStores(t, func(w *world) {
		ctx, g := w.Context(), w.guild(guildA)
		w.create(g, 1, 100)
		hook := func(_ context.Context, c call) error {
			if c.method == "WriteBatches" && c.n == 1 {
				_, err := w.archive.AcquireLease(ctx, "first", 0, true) // its own, which ends now
				w.must(err)
				_, err = w.archive.AcquireLease(ctx, "second", 200*time.Millisecond, false)
				w.must(err)
			}
			return nil
		}
		w.must(w.writer("first", never, &faults{before: hook}).Flush(ctx))
		w.inStep(g)
	})
}
