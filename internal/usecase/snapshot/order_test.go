package snapshot_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/testing/stores"
	"levelboard/internal/usecase/leaderboard"
)

// A guild that changed at the start of a long round is written at the start of the next one.
func TestChangesInALongRoundAreWrittenInTheirOrder(t *testing.T) {
	w := stores.Embedded(t)
	guilds := smallGuilds(w, 7)
	w.Must(w.Writer("ready", stores.Never, &stores.Faults{}).Flush(w.Context()))
	w.Killed("ready")
	var written []id.Guild
	hook, reached, release := stores.Held("WriteBatches", 2)
	f := &stores.Faults{Before: func(ctx context.Context, c stores.Call) error {
		if c.Method == "WriteBatches" && c.N > 2 {
			written = append(written, c.Guilds...)
		}
		return hook(ctx, c)
	}}
	w.Add(guilds[0], 1)
	writer := w.Writer("writer", 100*time.Millisecond, f)
	stop := w.Running(writer)
	// The first round sweeps, and would find the guilds in no order.
	w.Eventually("the first round", func() bool { return f.Count("Survey") == 1 && w.NothingWaits(guilds[0]) })
	w.Add(guilds[0], 1)
	<-reached
	for _, g := range slices.Backward(guilds[1:]) {
		w.Add(g, 1)
	}
	if n := values(w, writer)["snapshot_backlog_members"]; n != float64(len(guilds)) {
		t.Errorf("the backlog metric is %g, want %d with those being written", n, len(guilds))
	}
	close(release)
	w.Eventually("all is written", func() bool {
		return !slices.ContainsFunc(guilds, func(g leaderboard.GuildRef) bool { return !w.NothingWaits(g) })
	})
	stop()
	var want []id.Guild
	for _, g := range slices.Backward(guilds[1:]) {
		want = append(want, g.ID)
	}
	if !slices.Equal(written, want) {
		t.Errorf("the guilds were written in the order %v, want %v", written, want)
	}
	allInStep(w, guilds)
}

// After a restart of Redis every guild must be compared with the archive. Changed guilds come first, unchanged ones wait.
func TestVerifyingUnchangedGuildsDelaysNoRound(t *testing.T) {
	w := stores.Embedded(t)
	guilds := smallGuilds(w, 22)
	w.Must(w.Writer("ready", stores.Never, &stores.Faults{}).Flush(w.Context()))
	w.Killed("ready")
	server := func(g leaderboard.GuildRef) string { return fmt.Sprintf("lb:{%s}:meta", g.ID) }
	for _, g := range guilds {
		w.Must(w.Redis.HSet(w.Context(), server(g), "server", "another").Err())
	}
	var mu sync.Mutex
	looked := map[int]int{} // number of surveys to number of verified guilds
	f := &stores.Faults{}
	f.Before = func(_ context.Context, c stores.Call) error {
		if c.Method == "Verified" {
			mu.Lock()
			defer mu.Unlock()
			looked[f.Count("Survey")]++
		}
		return nil
	}
	stop := w.Running(w.Writer("writer", 50*time.Millisecond, f))
	w.Eventually("all are verified", func() bool {
		return !slices.ContainsFunc(guilds, func(g leaderboard.GuildRef) bool {
			return w.Redis.HGet(w.Context(), server(g), "server").Val() == "another"
		})
	})
	stop()
	for surveys, n := range looked {
		if surveys < 2 || n > 2 {
			t.Errorf("after %d surveys %d guilds were verified, want at most 2 and none before the second", surveys, n)
		}
	}
	allInStep(w, guilds)
}
