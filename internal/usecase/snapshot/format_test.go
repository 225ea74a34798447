package snapshot_test

import (
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// formerFormat rewrites a guild's keys as versions before format 2 kept them: stat and user, a hash each, no number of a format,
// and avatars as text.
func (w *world) formerFormat(g leaderboard.GuildRef) {
	w.Helper()
	ctx, prefix := w.Context(), "lb:{"+string(g.ID)+"}:"
	for member, entry := range w.redis.HGetAll(ctx, prefix+"entry").Val() {
		parts := strings.SplitN(entry, " ", 4)
		w.must(w.redis.HSet(ctx, prefix+"stat", member, strings.Join(parts[:3], " ")).Err())
		if len(parts) < 4 {
			continue
		}
		user := parts[3]
		if flags := user[0] - '0'; flags&8 != 0 {
			user = string(rune('0'+flags&7)) + hex.EncodeToString([]byte(user[1:17])) + user[17:]
		}
		w.must(w.redis.HSet(ctx, prefix+"user", member, user).Err())
	}
	server, _, _ := strings.Cut(w.redis.HGet(ctx, prefix+"meta", "server").Val(), "-f")
	w.must(w.redis.HSet(ctx, prefix+"meta", "server", server).Err())
	w.must(w.redis.HDel(ctx, prefix+"meta", "format").Err())
	w.must(w.redis.Del(ctx, prefix+"entry").Err())
}

func byID(rows []snapshot.Row) map[id.User]snapshot.Row {
	found := map[id.User]snapshot.Row{}
	for _, row := range rows {
		found[row.UserID] = row
	}
	return found
}

// A guild that a version before left in Redis keeps all that it had, what was not archived yet too (but for
// decreases of the last seconds: the higher XP wins, as after any salvage), and none of its old keys.
func TestAGuildInTheFormerFormat(t *testing.T) {
	onBothStores(t, func(w *world) {
		ctx, g := w.Context(), w.guild(guildA)
		for i := range 600 {
			w.create(g, i, 100)
		}
		writer := w.writer("writer", never, &faults{})
		w.must(writer.Flush(ctx))
		for i := range 300 { // not archived when the old version is killed
			w.change(g, i, leaderboard.Change{Op: leaderboard.Increment, Amount: 5, Cooldown: time.Hour})
		}
		w.remove(g, 400)
		w.create(g, 700, 7)
		_, _, err := w.live.Award(ctx, g, leaderboard.Awards{Members: []leaderboard.Award{{User: user(701), Offers: []level.XP{20}}}})
		w.must(err)
		want := byID(w.liveRows(g))
		w.formerFormat(g)

		if _, err := w.live.Member(ctx, g, user(0)); !errors.Is(err, leaderboard.ErrNotLoaded) {
			t.Fatalf("a member of a guild in the former format: %v, want ErrNotLoaded", err)
		}
		w.killed("writer")
		w.must(w.writer("next", never, &faults{}).Flush(ctx)) // which finds the guild by itself
		if got := byID(w.liveRows(g)); !reflect.DeepEqual(got, want) {
			t.Errorf("%d members, want %d as they were", len(got), len(want))
		}
		w.inStep(g)
		for _, name := range []string{"stat", "user"} {
			if n := w.redis.Exists(ctx, "lb:{"+string(g.ID)+"}:"+name).Val(); n != 0 {
				t.Errorf("the key %s is left", name)
			}
		}
		if n := w.logged.count("gone back"); n != 0 {
			t.Errorf("%d lines say that Redis has gone back\n%s", n, w.logged)
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
