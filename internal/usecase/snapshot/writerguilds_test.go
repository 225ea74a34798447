package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/testing/stores"
	"levelboard/internal/usecase/leaderboard"
)

func TestADeletedGuildLeavesRedis(t *testing.T) {
	for name, dirty := range map[string]bool{"with changes": true, "without changes": false} {
		t.Run(name, func(t *testing.T) {
			w := stores.Embedded(t)
			ctx, writer := w.Context(), w.Writer("writer", stores.Never, &stores.Faults{})
			old := w.Guild(stores.GuildA)
			w.Create(old, 1, 100)
			w.Create(old, 2, 100)
			w.Must(writer.Flush(ctx))
			if dirty {
				w.Add(old, 1)
			}
			_, err := w.Archive.DeleteGuild(ctx, stores.GuildA)
			w.Must(err)
			w.Must(writer.Flush(ctx))
			writer.Purge(ctx)
			if keys := w.Redis.Keys(ctx, "lb:{*").Val(); len(keys) > 0 {
				t.Errorf("Redis still has the keys %v", keys)
			}
			recreated := w.Guild(stores.GuildA)
			if recreated == old || len(w.LiveRows(recreated)) != 0 {
				t.Fatalf("the guild created again is %v after %v, with the members %+v, want a new one without members", recreated, old, w.LiveRows(recreated))
			}
			w.Create(recreated, 2, 7)
			w.Must(writer.Flush(ctx))
			w.InStep(recreated)
			if rows := w.ArchivedRows(recreated); len(rows) != 1 || rows[0].XP != 7 {
				t.Errorf("the archived members are %+v, want its own with 7 XP", rows)
			}
		})
	}
}

func TestOneFailingGuildDoesNotKeepOthersBack(t *testing.T) {
	w := stores.Embedded(t)
	ctx := w.Context()
	var guilds []leaderboard.GuildRef
	for i := range 6 {
		guilds = append(guilds, w.Guild(id.Guild(fmt.Sprintf("1%017d", i))))
	}
	bad, broken := guilds[2], true
	f := &stores.Faults{Before: func(_ context.Context, c stores.Call) error {
		if broken && c.Method == "WriteBatches" && slices.Contains(c.Guilds, bad.ID) {
			return stores.ErrBroken
		}
		return nil
	}}
	writer := w.Writer("writer", 10*time.Second, f)
	round := func(fails bool, warnings, failures int) {
		t.Helper()
		broken = fails
		for _, g := range guilds {
			if _, err := w.Live.Member(ctx, g, stores.User(1)); err != nil {
				w.Create(g, 1, 100)
			}
			w.Add(g, 1)
		}
		if err := writer.Flush(ctx); errors.Is(err, stores.ErrBroken) != fails {
			t.Errorf("the flush: %v, want ErrBroken: %v", err, fails)
		}
		for _, g := range guilds {
			if g != bad || !fails {
				w.InStep(g)
			}
		}
		if n, errs := w.Logged.Count("could not be written"), w.Logged.Count("ERROR"); errs != failures || n != warnings+failures {
			t.Errorf("%d log lines with %d errors, want %d warnings and %d errors:\n%s", n, errs, warnings, failures, w.Logged)
		}
	}
	for range 4 {
		round(true, 1, 0) // the server may be restarting
	}
	round(true, 1, 1)
	round(true, 1, 1)
	round(false, 1, 1)
	round(true, 2, 1)
}
