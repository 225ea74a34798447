package watch_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
	"levelboard/internal/usecase/watch"
)

const members = 30_000

func user(n int) id.User { return id.User(fmt.Sprintf("2%017d", n)) }

// largeGuild returns a guild in Redis whose member n has 10n XP, so that the last one is the first on the board.
func largeGuild(t *testing.T) (*leaderboard.Leaderboard, *guild.Guild) {
	client, err := redisconn.Connect(testenv.Redis(t).URL(), redisconn.ConnectOptions{Timeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	archive := storetest.SQLite(t)
	store := redisstore.New(client)
	g := storetest.PutGuild(t, archive, "100000000000000001")
	h, _, err := store.BeginHydration(t.Context(), leaderboard.Ref(g), snapshot.State{})
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]snapshot.Row, members)
	for i := range rows {
		rows[i] = snapshot.Row{Member: leaderboard.Member{UserID: user(i), XP: level.XP(10 * i)}}
	}
	if err := store.LoadChunk(t.Context(), h, rows); err != nil {
		t.Fatal(err)
	}
	if err := store.CommitHydration(t.Context(), h, snapshot.State{Epoch: 1}); err != nil {
		t.Fatal(err)
	}
	hydrator := hydrate.New(store, archive, slog.New(slog.DiscardHandler))
	t.Cleanup(hydrator.Close)
	return leaderboard.New(store, hydrator, nil, leaderboard.Options{}), g
}

// Everybody who watches a page ends up with the page as it is, whatever happened meanwhile.
func TestWatchingALargeGuildOnRedis(t *testing.T) {
	board, g := largeGuild(t)
	feed := watch.NewFeed(board, watch.FeedOptions{Interval: 5 * time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { feed.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })

	const changed = level.XP(9_999_999) // of the member who is changed last, and is then the first
	var watching sync.WaitGroup
	for i := range 60 {
		number := []int64{1, 2, 150, 300, 1 << 40}[i%5]
		v, err := feed.Watch(g, number)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(v.Leave)
		watching.Go(func() {
			waitCtx, cancel := context.WithTimeout(ctx, 30*time.Second)
			defer cancel()
			for {
				s, err := v.Next(waitCtx)
				if err != nil {
					t.Errorf("page %d: %v", number, err)
					return
				}
				if s.Number != min(number, leaderboard.LastPage(s.Total)) || s.Total != members && s.Total != members+1 {
					t.Errorf("page %d: it is page %d of %d members", number, s.Number, s.Total)
				}
				if s.Total == members+1 && (s.Number != 1 || s.Rows[0].XP == changed) {
					return
				}
			}
		})
	}
	for i := range 200 {
		if _, err := board.Change(ctx, g, user(i*149), leaderboard.Change{Op: leaderboard.Increment, Amount: level.XP(7 * i)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := board.Change(ctx, g, user(17), leaderboard.Change{Op: leaderboard.Set, Amount: changed}); err != nil {
		t.Fatal(err)
	}
	if _, err := board.Create(ctx, g, "299999999999999999", leaderboard.Creation{XP: 0}); err != nil {
		t.Fatal(err)
	}
	watching.Wait()
}
