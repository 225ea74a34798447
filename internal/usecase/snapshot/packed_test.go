package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/stores"
	"levelboard/internal/usecase/leaderboard"
)

// packed has all records of a guild that are archived packed, as after a while.
func packed(w *stores.World, g leaderboard.GuildRef) {
	w.Helper()
	key := "lb:{" + string(g.ID) + "}:once"
	for name, record := range w.Redis.HGetAll(w.Context(), key).Val() {
		if _, rest, ok := strings.Cut(record, " "); ok && len(name) == 22 && !strings.Contains(name, " ") {
			w.Must(w.Redis.HSet(w.Context(), key, name, fmt.Sprint(time.Now().Add(-15*time.Minute).UnixMilli())+" "+rest).Err())
		}
	}
	w.Must(w.Redis.HDel(w.Context(), key, " ").Err())
	for guilds := []id.Guild{g.ID}; len(guilds) > 0; {
		var err error
		guilds, err = w.Live.Forget(w.Context(), guilds)
		w.Must(err)
	}
}

// A repeat of a request of which Redis has the name only is answered by the archive, and never made again, whatever the archive has.
func TestAPackedRequestIsNotMadeAgain(t *testing.T) {
	stores.OnBoth(t, func(w *stores.World) {
		ctx, f, away := w.Context(), newForgetful(), false
		f.Before = func(_ context.Context, c stores.Call) error {
			if away && c.Method == "Past" {
				return stores.ErrBroken
			}
			return nil
		}
		settings := storetest.PutGuild(w.T, w.Archive, stores.GuildA)
		g := leaderboard.Ref(settings)
		board, writer := leaderboard.New(w.Live, w.Hydrator(&f.Faults), nil, leaderboard.Options{}), w.Writer("writer", stores.Never, &f.Faults)
		change := func(name, request string) (leaderboard.Outcome, error) {
			return board.Change(ctx, settings, stores.User(1), leaderboard.Change{Op: leaderboard.Increment, Amount: 7, Once: leaderboard.Once{
				Key: leaderboard.DigestOf([]byte(name)), Request: leaderboard.DigestOf([]byte(request)),
			}})
		}
		_, err := board.Create(ctx, settings, stores.User(1), leaderboard.Creation{})
		w.Must(err)
		first, err := change("kept", "7")
		w.Must(err)
		w.Must(writer.Flush(ctx))
		_, err = change("lost", "7")
		w.Must(err)
		f.losing.Store(true)
		w.Must(writer.Flush(ctx))
		f.losing.Store(false)
		packed(w, g)
		_, err = change("young", "7")
		w.Must(err)

		first.Replayed = true
		for range 2 {
			if again, err := change("kept", "7"); err != nil || again != first {
				t.Errorf("again: %+v, %v, want %+v", again, err, first)
			}
		}
		if _, err := change("kept", "8"); !errors.Is(err, leaderboard.ErrKeyReused) || !fault.Is(err, fault.Conflict) {
			t.Errorf("another request: %v", err)
		}
		if _, err := change("lost", "7"); !errors.Is(err, leaderboard.ErrOutcomeLost) || !fault.Is(err, fault.Conflict) {
			t.Errorf("a request that the archive lost: %v", err)
		}
		away = true
		if _, err := change("kept", "7"); !fault.Is(err, fault.Unavailable) {
			t.Errorf("without the archive: %v", err)
		}
		if again, err := change("young", "7"); err != nil || !again.Replayed {
			t.Errorf("without the archive, a request of this moment: %+v, %v", again, err)
		}
		if out, err := change("new", "7"); err != nil || out.Before != 21 {
			t.Errorf("without the archive, a new one after three: %+v, %v", out, err)
		}
	})
}
