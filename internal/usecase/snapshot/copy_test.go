package snapshot_test

import (
	"context"
	"errors"
	"testing"
)

// pageSize is how many members the hydrator reads at a time.
const pageSize = 2000

func TestTheNextPageIsReadWhileOneIsLoadedAndNoMore(t *testing.T) {
	w := embeddedWorld(t)
	g := w.archived(guildA, 4*pageSize)
	f := &faults{}
	pages, readAhead := 0, make(chan struct{})
	f.before = func(ctx context.Context, c call) error {
		switch {
		case c.method == "Members":
			pages++
			// Page n is read when page n-1 is being loaded, so n-2 are loaded.
			if loading := f.count("LoadChunk"); c.n > loading+2 {
				t.Errorf("page %d is read while page %d is loaded", c.n, loading)
			}
		case c.method == "LoadChunk" && c.n == 1:
			return until(ctx, readAhead)
		}
		return nil
	}
	f.after = func(_ context.Context, c call) error {
		if c.method == "Members" && c.n == 2 {
			close(readAhead)
		}
		return nil
	}
	w.must(w.hydrator(f).Load(w.Context(), g))
	if pages != 5 {
		t.Errorf("%d pages were read, want four and an empty one", pages)
	}
	w.inStep(g)
}

func TestWhatGoesWrongOnAPageEndsTheLoad(t *testing.T) {
	for _, method := range []string{"Members", "LoadChunk"} {
		for n := 1; n <= 3; n++ {
			w := serverWorld(t)
			g := w.archived(guildA, 3*pageSize)
			err := w.hydrator(&faults{before: at(method, n)}).Load(w.Context(), g)
			if !errors.Is(err, errBroken) {
				t.Errorf("%s, call %d: %v", method, n, err)
			}
			w.notLoaded(g)
			w.noTraces(g)
			w.must(w.hydrator(&faults{}).Load(w.Context(), g))
			w.inStep(g)
		}
	}
}
