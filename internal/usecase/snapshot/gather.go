package snapshot

import (
	"context"
	"slices"
	"sync"
	"time"

	"levelboard/internal/domain/id"
)

// gather takes the guilds that change while a long round lasts out of the index as they come, until the function that it returns
// is called. That returns them in about the order of their oldest changes, in which the next round writes them: the index has no
// order, so without this a guild that was among the first to change could be the last to be written, and wait for two rounds. With
// an error some were taken and did not arrive. Those that the round itself writes are underway.
func (w *Writer) gather(ctx context.Context, underway []id.Guild) (end func() ([]id.Guild, error)) {
	var (
		done     = make(chan struct{})
		running  sync.WaitGroup
		gathered []id.Guild
		missed   error
	)
	running.Go(func() {
		ticker := time.NewTicker(w.tickTime())
		defer ticker.Stop()
		known := map[id.Guild]bool{}
		for {
			select {
			case <-ctx.Done():
				return
			case <-done:
				return
			case <-ticker.C:
			}
			guilds, err := w.live.DirtyGuilds(ctx)
			for _, g := range guilds {
				if !known[g] {
					known[g] = true
					gathered = append(gathered, g)
				}
			}
			if err != nil {
				missed = err
			}
			all := slices.Concat(underway, gathered)
			w.underway.Store(&all)
		}
	})
	return func() ([]id.Guild, error) {
		close(done)
		running.Wait()
		return gathered, missed
	}
}

// giveBack puts what was gathered back into the index, for whoever writes next. What cannot be put back is kept.
func (w *Writer) giveBack(ctx context.Context) {
	if len(w.early) > 0 && w.reindex(ctx, w.early) == nil {
		w.early = nil
		w.underway.Store(new([]id.Guild))
	}
}

// reindex puts guilds into the index, though the round that took them out of it may be over.
func (w *Writer) reindex(ctx context.Context, guilds []id.Guild) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), putBackTime)
	defer cancel()
	return w.live.MarkDirty(ctx, guilds...)
}
