package redisstore_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
	"levelboard/internal/usecase/watch"
)

// Everybody who watches a page ends up with the page as it is, whatever happened meanwhile.
func TestWatchingALargeGuild(t *testing.T) {
	const members = 30_000
	client := connect(t, testenv.Redis(t).URL())
	store := redisstore.New(client, redisstore.Options{})
	rows := make([]snapshot.Row, members) // member n has 10n XP, so that the last one is the first on the board
	for i := range rows {
		rows[i] = snapshot.Row{Member: leaderboard.Member{UserID: nth(i), XP: level.XP(10 * i)}}
	}
	load(t, store, rows...)
	g := &guild.Guild{Settings: guild.Settings{ID: guild1.ID}, Incarnation: guild1.Incarnation}
	board := leaderboard.New(store, nil, nil, leaderboard.Options{})
	feed := watch.NewFeed(board, watch.FeedOptions{
		Interval: 5 * time.Millisecond, Log: slog.New(slog.DiscardHandler),
		Guild: func(context.Context, id.Guild) (*guild.Guild, error) { return g, nil },
	})
	ctx := t.Context()

	const changed = level.XP(9_999_999) // of the member who is changed last, and is then the first
	var watching sync.WaitGroup
	for i := range 60 {
		number := []int64{1, 2, 150, 300, 1 << 40}[i%5]
		v, err := feed.Watch(g, period.Period{}, number)
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
		if _, err := board.Change(ctx, g, nth(i*149), leaderboard.Change{Op: leaderboard.Increment, Amount: level.XP(7 * i)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := board.Change(ctx, g, nth(17), leaderboard.Change{Op: leaderboard.Set, Amount: changed}); err != nil {
		t.Fatal(err)
	}
	if _, err := board.Create(ctx, g, "299999999999999999", leaderboard.Creation{XP: 0}); err != nil {
		t.Fatal(err)
	}
	watching.Wait()
}
