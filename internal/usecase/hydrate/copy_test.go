package hydrate_test

import (
	"context"
	"errors"
	"testing"

	"levelboard/internal/testing/stores"
)

// pageSize is the number of members that the hydrator reads at a time.
const pageSize = 2000

func TestOnePageIsReadAhead(t *testing.T) {
	w := stores.Embedded(t)
	g := w.Archived(stores.GuildA, 4*pageSize)
	f := &stores.Faults{}
	pages, readAhead := 0, make(chan struct{})
	f.Before = func(ctx context.Context, c stores.Call) error {
		switch {
		case c.Method == "Members":
			pages++
			// Page n may be read while page n-1 is loaded, so n-2 are loaded already.
			if loading := f.Count("LoadChunk"); c.N > loading+2 {
				t.Errorf("page %d is read while page %d is loaded", c.N, loading)
			}
		case c.Method == "LoadChunk" && c.N == 1:
			return stores.Until(ctx, readAhead)
		}
		return nil
	}
	f.After = func(_ context.Context, c stores.Call) error {
		if c.Method == "Members" && c.N == 2 {
			close(readAhead)
		}
		return nil
	}
	w.Must(w.Hydrator(f).Load(w.Context(), g))
	if pages != 5 {
		t.Errorf("%d pages were read, want four and an empty one", pages)
	}
	w.InStep(g)
}

func TestAFailedPageEndsTheLoad(t *testing.T) {
	w := stores.Servers(t)
	g := w.Archived(stores.GuildA, 2*pageSize+1)
	for _, method := range []string{"Members", "LoadChunk"} {
		for n := 1; n <= 3; n++ {
			err := w.Hydrator(&stores.Faults{Before: stores.At(method, n)}).Load(w.Context(), g)
			if !errors.Is(err, stores.ErrBroken) {
				t.Errorf("with call %d of %s failing the load returned %v, want ErrBroken", n, method, err)
			}
			w.NotLoaded(g)
			w.NoTraces(g)
			w.Must(w.Hydrator(&stores.Faults{}).Load(w.Context(), g))
			w.InStep(g)
			w.Must(w.Live.Drop(w.Context(), g))
		}
	}
}
