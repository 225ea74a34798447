package hydrate_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"levelboard/internal/testing/stores"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
)

// formerFormat rewrites a guild's keys as versions before format 4 kept them: what is empty is not there.
func formerFormat(w *stores.World, g leaderboard.GuildRef) {
	w.Helper()
	ctx, prefix := w.Context(), "lb:{"+string(g.ID)+"}:"
	w.Must(w.Redis.Del(ctx, prefix+"journal", prefix+"once", "lb:changed-guilds").Err())
	w.Must(w.Redis.ZRem(ctx, prefix+"dirty", "").Err())
	w.Must(w.Redis.ZRem(ctx, prefix+"xp", "").Err())
	w.Must(w.Redis.HDel(ctx, prefix+"entry", "").Err())
	server, _, _ := strings.Cut(w.Redis.HGet(ctx, prefix+"meta", "server").Val(), "-f")
	w.Must(w.Redis.HSet(ctx, prefix+"meta", "format", 3, "server", server+"-f3").Err())
}

// keys is all that Redis holds of a guild, as it would be restored.
func keys(w *stores.World, g leaderboard.GuildRef) map[string]string {
	w.Helper()
	found := map[string]string{}
	for _, key := range w.Redis.Keys(w.Context(), "lb:{"+string(g.ID)+"}:*").Val() {
		if w.Redis.Type(w.Context(), key).Val() == "hash" {
			found[key] = fmt.Sprint(w.Redis.HGetAll(w.Context(), key).Val())
			continue
		}
		found[key] = w.Redis.Dump(w.Context(), key).Val()
	}
	return found
}

// A guild that the version before has archived is loaded again. One of which it has not archived all is left as it is, and everybody
// learns what to do: its changes are set out in a way that this version does not read.
func TestAGuildInTheFormerFormat(t *testing.T) {
	stores.OnBoth(t, func(w *stores.World) {
		ctx, clean := w.Context(), w.Guild(stores.GuildA)
		guilds := []leaderboard.GuildRef{w.Guild("200000000000000002"), w.Guild("300000000000000003"), w.Guild("400000000000000004")}
		for i := range 20 {
			w.Create(clean, i, 100)
			for _, g := range guilds {
				w.Create(g, i, 100)
			}
		}
		w.Must(w.Writer("ready", stores.Never, &stores.Faults{}).Flush(ctx))
		w.Killed("ready")
		w.Add(guilds[0], 1)
		w.Add(guilds[1], 1)
		w.Must(w.Redis.HIncrBy(ctx, "lb:{"+string(guilds[2].ID)+"}:meta", "archived", 1).Err()) // the archive has lost something
		for _, g := range append(guilds, clean) {
			formerFormat(w, g)
		}
		w.Must(w.Hydrator(&stores.Faults{}).Load(ctx, clean))
		w.InStep(clean)
		if rows := w.LiveRows(clean); len(rows) != 20 || rows[0].XP != 100 {
			t.Errorf("%d members after the load", len(rows))
		}

		writer := w.Writer("writer", stores.Never, &stores.Faults{})
		for _, g := range guilds {
			before := keys(w, g)
			if err := w.Hydrator(&stores.Faults{}).Load(ctx, g); !errors.Is(err, hydrate.ErrEarlierFormat) {
				t.Errorf("load: %v, want ErrEarlierFormat", err)
			}
			if err := writer.Flush(ctx); !errors.Is(err, hydrate.ErrEarlierFormat) {
				t.Errorf("a last snapshot: %v, want ErrEarlierFormat", err)
			}
			if after := keys(w, g); !reflect.DeepEqual(after, before) {
				t.Errorf("its keys are %v, want %v", after, before)
			}
		}
	})
}

// A guild that a later version loaded is neither used nor changed.
func TestAGuildInALaterFormat(t *testing.T) {
	stores.OnBoth(t, func(w *stores.World) {
		ctx, g := w.Context(), w.Guild(stores.GuildA)
		w.Create(g, 0, 100)
		meta := "lb:{" + string(g.ID) + "}:meta"
		server, _, _ := strings.Cut(w.Redis.HGet(ctx, meta, "server").Val(), "-f")
		w.Must(w.Redis.HSet(ctx, meta, "format", 9, "server", server+"-f9").Err())
		before := w.Redis.HGetAll(ctx, meta).Val()
		f := &stores.Faults{}
		if err := w.Hydrator(f).Load(ctx, g); !errors.Is(err, hydrate.ErrLaterFormat) {
			t.Errorf("load: %v, want ErrLaterFormat", err)
		}
		if n := f.Count("AbortHydration"); n != 0 {
			t.Errorf("a lock that was not stores.Taken is given up %d times", n)
		}
		if after := w.Redis.HGetAll(ctx, meta).Val(); !reflect.DeepEqual(after, before) {
			t.Errorf("meta is %v, want %v", after, before)
		}
		w.NoTraces(g)
	})
}
