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
)

// A guild that changed at the beginning of a long round is written at the beginning of the next one.
func TestWhatChangesInALongRoundIsWrittenInThatOrder(t *testing.T) {
	w := embeddedWorld(t)
	guilds := w.smallGuilds(7)
	w.must(w.writer("ready", never, &faults{}).Flush(w.Context()))
	w.killed("ready")
	var written []id.Guild
	hook, reached, release := held("WriteBatches", 2)
	f := &faults{before: func(ctx context.Context, c call) error {
		if c.method == "WriteBatches" && c.n > 2 {
			written = append(written, c.guilds...)
		}
		return hook(ctx, c)
	}}
	w.add(guilds[0], 1)
	writer := w.writer("writer", 100*time.Millisecond, f)
	stop := w.running(writer)
	// The first round sweeps, and would find the others in no order.
	w.eventually("the first round", func() bool { return f.count("Survey") == 1 && w.nothingWaits(guilds[0]) })
	w.add(guilds[0], 1)
	<-reached
	for _, g := range slices.Backward(guilds[1:]) {
		time.Sleep(2 * time.Millisecond) // the index is in the order of time
		w.add(g, 1)
	}
	if n := w.values(writer)["snapshot_backlog_members"]; n != float64(len(guilds)) {
		t.Errorf("a scrape tells of %g members that wait, want those that are being written, too", n)
	}
	close(release)
	w.eventually("all is written", func() bool {
		return !slices.ContainsFunc(guilds, func(g leaderboard.GuildRef) bool { return !w.nothingWaits(g) })
	})
	stop()
	var want []id.Guild
	for _, g := range slices.Backward(guilds[1:]) {
		want = append(want, g.ID)
	}
	if !slices.Equal(written, want) {
		t.Errorf("written in the order %v, want %v", written, want)
	}
	w.allInStep(guilds)
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
	looked := map[int]int{} // how many were verified after so many surveys
	f := &faults{}
	f.before = func(_ context.Context, c call) error {
		if c.method == "Verified" {
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
		if surveys < 2 || n > 2 {
			t.Errorf("after %d surveys %d guilds were verified, want at most 2, and none after the first", surveys, n)
		}
	}
	w.allInStep(guilds)
}
