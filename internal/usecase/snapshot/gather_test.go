package snapshot_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// indexed is how many guilds the index of changed ones holds.
func (w *world) indexed() int64 { return w.redis.SCard(w.Context(), "lb:dirty-guilds").Val() }

// heldRound begins a round, which writes one of the guilds and is held until release; the others change meanwhile, one after the
// other, and are gathered.
func (w *world) heldRound(f *faults, guilds []leaderboard.GuildRef, interval time.Duration) (writer *snapshot.Writer, stop func(), release chan struct{}) {
	hook, reached, release := held("WriteBatches", 1)
	before := f.before
	f.before = func(ctx context.Context, c call) error {
		if err := hook(ctx, c); err != nil || before == nil {
			return err
		}
		return before(ctx, c)
	}
	writer = w.writer("writer", interval, f)
	w.add(guilds[0], 1)
	stop = w.running(writer)
	<-reached
	for _, g := range guilds[1:] {
		w.add(g, 1)
		w.eventually("it is gathered", func() bool { return w.indexed() == 0 })
	}
	return writer, stop, release
}

// The index has no order. A guild that changed at the beginning of a long round is written at the beginning of the next one.
func TestWhatChangesInALongRoundIsWrittenInThatOrder(t *testing.T) {
	w := embeddedWorld(t)
	guilds := w.smallGuilds(7)
	w.must(w.writer("ready", never, &faults{}).Flush(w.Context()))
	w.killed("ready")
	var written []id.Guild
	f := &faults{before: func(_ context.Context, c call) error {
		if c.method == "WriteBatches" && c.n > 1 {
			written = append(written, c.guilds...)
		}
		return nil
	}}
	writer, stop, release := w.heldRound(f, guilds, 100*time.Millisecond)
	w.eventually("a scrape tells of what was gathered, too", func() bool {
		return w.values(writer)["snapshot_backlog_members"] == float64(len(guilds))
	})
	close(release)
	w.eventually("all is written", func() bool {
		return !slices.ContainsFunc(guilds, func(g leaderboard.GuildRef) bool { return !w.nothingWaits(g) })
	})
	stop()
	var want []id.Guild
	for _, g := range guilds[1:] {
		want = append(want, g.ID)
	}
	if !slices.Equal(written, want) {
		t.Errorf("written in the order %v, want %v", written, want)
	}
	w.allInStep(guilds)
}

// What a writer has gathered is not its own: it is in the index again when another one writes, or when it stops.
func TestWhatWasGatheredIsGivenBack(t *testing.T) {
	for name, loses := range map[string]bool{"the lease is lost": true, "the writer stops": false} {
		t.Run(name, func(t *testing.T) {
			w := embeddedWorld(t)
			guilds := w.smallGuilds(3)
			w.must(w.writer("ready", never, &faults{}).Flush(w.Context()))
			w.killed("ready")
			f := &faults{}
			_, stop, release := w.heldRound(f, guilds, 200*time.Millisecond)
			defer close(release)
			if loses {
				defer stop()
				w.eventually("another one takes the lease", func() bool {
					_, err := w.archive.AcquireLease(w.Context(), "writer", 0)
					w.must(err)
					_, err = w.archive.AcquireLease(w.Context(), "second", never)
					return err == nil
				})
			} else {
				stop()
			}
			w.eventually("all three are in the index", func() bool { return w.indexed() == 3 })
			if loses {
				return
			}
			w.killed("writer")
			w.must(w.writer("second", never, &faults{}).Flush(w.Context()))
			w.allInStep(guilds)
		})
	}
}

// After a restart of Redis every guild has to be compared with the archive. One that has not changed waits for that, so that others do not.
func TestGuildsThatOnlyHaveToBeVerifiedHoldUpNoRound(t *testing.T) {
	w := embeddedWorld(t)
	guilds := w.smallGuilds(22)
	w.must(w.writer("ready", never, &faults{}).Flush(w.Context()))
	w.killed("ready")
	server := func(g leaderboard.GuildRef) string { return fmt.Sprintf("lb:{%s}:meta", g.ID) }
	for _, g := range guilds {
		w.must(w.redis.HSet(w.Context(), server(g), "server", "another").Err())
	}
	var mu sync.Mutex
	looked := map[int]int{} // at guilds by themselves, after so many surveys
	f := &faults{}
	f.before = func(_ context.Context, c call) error {
		if c.method == "BeginFlush" {
			mu.Lock()
			defer mu.Unlock()
			looked[f.count("Survey")]++
		}
		return nil
	}
	stop := w.running(w.writer("writer", 50*time.Millisecond, f))
	w.eventually("all are verified", func() bool {
		return !slices.ContainsFunc(guilds, func(g leaderboard.GuildRef) bool {
			return w.redis.HGet(w.Context(), server(g), "server").Val() == "another"
		})
	})
	stop()
	for surveys, n := range looked {
		if surveys < 2 || n > 4 { // each of two guilds before and after it is verified
			t.Errorf("after %d surveys %d looks at one guild, want at most 4, and none after the first", surveys, n)
		}
	}
	w.allInStep(guilds)
}
