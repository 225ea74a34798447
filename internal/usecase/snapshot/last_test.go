package snapshot_test

import (
	"context"
	"errors"
	"testing"
	"time"
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

		// One whose time is over does not wait for ever, and says so.
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		if err := w.writer("third", never, &faults{}).Flush(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a flush without the time to wait: %v", err)
		}
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
		if who, err := w.live.Last(ctx); who != "" || err != nil {
			t.Errorf("%q still writes a last snapshot (%v)", who, err)
		}
	})
}

// Of a cluster, the node with the note may be away; the guilds of the others are written all the same. But who does not have the lease
// cannot know then that another one writes its changes.
func TestTheLastSnapshotIsWrittenWithoutTheNote(t *testing.T) {
	for method, fails := range map[string]bool{"Last": false, "BeginLast": true} {
		w := embeddedWorld(t)
		g := w.guild(guildA)
		w.create(g, 1, 100)
		first := w.writer("first", never, &faults{before: at(method, 1)})
		if err := first.Flush(w.Context()); errors.Is(err, errBroken) != fails {
			t.Errorf("without %s: %v", method, err)
		}
		w.inStep(g)
		if err := w.writer("second", never, &faults{before: at("Last", 1)}).Flush(w.Context()); !errors.Is(err, errBroken) {
			t.Errorf("without the lease, and without an answer: %v", err)
		}
		w.must(first.Release(w.Context()))
	}
}
