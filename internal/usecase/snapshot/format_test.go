package snapshot_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// formerFormat rewrites a guild's keys as versions before format 4 kept them: what is empty is not there.
func (w *world) formerFormat(g leaderboard.GuildRef) {
	w.Helper()
	ctx, prefix := w.Context(), "lb:{"+string(g.ID)+"}:"
	w.must(w.redis.Del(ctx, prefix+"journal", prefix+"once", "lb:changed-guilds").Err())
	w.must(w.redis.ZRem(ctx, prefix+"dirty", "").Err())
	w.must(w.redis.ZRem(ctx, prefix+"xp", "").Err())
	w.must(w.redis.HDel(ctx, prefix+"entry", "").Err())
	server, _, _ := strings.Cut(w.redis.HGet(ctx, prefix+"meta", "server").Val(), "-f")
	w.must(w.redis.HSet(ctx, prefix+"meta", "format", 3, "server", server+"-f3").Err())
}

// keys is all that Redis holds of a guild, as it would be restored.
func (w *world) keys(g leaderboard.GuildRef) map[string]string {
	w.Helper()
	found := map[string]string{}
	for _, key := range w.redis.Keys(w.Context(), "lb:{"+string(g.ID)+"}:*").Val() {
		if w.redis.Type(w.Context(), key).Val() == "hash" {
			found[key] = fmt.Sprint(w.redis.HGetAll(w.Context(), key).Val())
			continue
		}
		found[key] = w.redis.Dump(w.Context(), key).Val()
	}
	return found
}

// A guild that the version before has archived is loaded again. One of which it has not archived all is left as it is, and everybody
// learns what to do: its changes are set out in a way that this version does not read.
func TestAGuildInTheFormerFormat(t *testing.T) {
	onBothStores(t, func(w *world) {
		ctx, clean := w.Context(), w.guild(guildA)
		guilds := []leaderboard.GuildRef{w.guild("200000000000000002"), w.guild("300000000000000003"), w.guild("400000000000000004")}
		for i := range 20 {
			w.create(clean, i, 100)
			for _, g := range guilds {
				w.create(g, i, 100)
			}
		}
		w.must(w.writer("ready", never, &faults{}).Flush(ctx))
		w.killed("ready")
		w.addAll(guilds[:2], 1)
		w.must(w.redis.HIncrBy(ctx, "lb:{"+string(guilds[2].ID)+"}:meta", "archived", 1).Err()) // the archive has lost something
		for _, g := range append(guilds, clean) {
			w.formerFormat(g)
		}
		w.must(w.hydrator(&faults{}).Load(ctx, clean))
		w.inStep(clean)
		if rows := w.liveRows(clean); len(rows) != 20 || rows[0].XP != 100 {
			t.Errorf("%d members after the load", len(rows))
		}

		writer := w.writer("writer", never, &faults{})
		for _, g := range guilds {
			before := w.keys(g)
			if err := w.hydrator(&faults{}).Load(ctx, g); !errors.Is(err, snapshot.ErrEarlierFormat) {
				t.Errorf("load: %v, want ErrEarlierFormat", err)
			}
			if err := writer.Flush(ctx); !errors.Is(err, snapshot.ErrEarlierFormat) {
				t.Errorf("a last snapshot: %v, want ErrEarlierFormat", err)
			}
			if after := w.keys(g); !reflect.DeepEqual(after, before) {
				t.Errorf("its keys are %v, want %v", after, before)
			}
		}
	})
}

// A guild that a later version loaded is neither used nor changed.
func TestAGuildInALaterFormat(t *testing.T) {
	onBothStores(t, func(w *world) {
		ctx, g := w.Context(), w.guild(guildA)
		w.create(g, 0, 100)
		meta := "lb:{" + string(g.ID) + "}:meta"
		server, _, _ := strings.Cut(w.redis.HGet(ctx, meta, "server").Val(), "-f")
		w.must(w.redis.HSet(ctx, meta, "format", 9, "server", server+"-f9").Err())
		before := w.redis.HGetAll(ctx, meta).Val()
		f := &faults{}
		if err := w.hydrator(f).Load(ctx, g); !errors.Is(err, snapshot.ErrLaterFormat) {
			t.Errorf("load: %v, want ErrLaterFormat", err)
		}
		if n := f.count("AbortHydration"); n != 0 {
			t.Errorf("a lock that was not taken is given up %d times", n)
		}
		if after := w.redis.HGetAll(ctx, meta).Val(); !reflect.DeepEqual(after, before) {
			t.Errorf("meta is %v, want %v", after, before)
		}
		w.noTraces(g)
	})
}
