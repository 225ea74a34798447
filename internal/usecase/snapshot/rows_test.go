package snapshot_test

import (
	"fmt"
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/testing/stores"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// With any damage in a guild's keys, every good member is archived, damaged ones as far as possible, and the guild can be loaded again.
func TestDamagedMembersDoNotBlockTheOthers(t *testing.T) {
	stores.OnBoth(t, func(w *stores.World) {
		ctx, g, writer := w.Context(), w.Guild(stores.GuildA), w.Writer("writer", stores.Never, &stores.Faults{})
		const size = 300
		w.CreateMany(g, 0, size, 100)
		key := func(name string) string { return "lb:{" + string(g.ID) + "}:" + name }
		damage := func(cmd redis.Cmder) {
			w.Helper()
			w.Must(cmd.Err())
		}
		damage(w.Redis.HSet(ctx, key("entry"), string(stores.User(1)), "many"))
		damage(w.Redis.HSet(ctx, key("entry"), string(stores.User(2)), "1\x00-2\x003\x00\x00\x00\x00\x00\x00\x00"))
		damage(w.Redis.HSet(ctx, key("entry"), string(stores.User(3)), "1\x002\x000\x00\x00\x00?\x00\x00\x00\x00"))
		damage(w.Redis.HSet(ctx, key("entry"), string(stores.User(4)), "1\x002\x000\x00\x00\x00\x000\x00\x00a\xff\x00"))
		damage(w.Redis.ZAdd(ctx, key("xp"), redis.Z{Member: string(stores.User(5)), Score: 99.6}, redis.Z{Member: string(stores.User(6)), Score: -7},
			redis.Z{Member: string(stores.User(7)), Score: 1e300}))
		damage(w.Redis.HDel(ctx, key("entry"), string(stores.User(8))))
		for _, junk := range []string{"junk", "a\x00b", "\xff"} {
			damage(w.Redis.ZAdd(ctx, key("dirty"), redis.Z{Score: 1, Member: junk}))
		}
		w.Must(writer.Flush(ctx))

		rows := w.ArchivedRows(g)
		if len(rows) != size {
			t.Fatalf("%d of %d members are archived:\n%s", len(rows), size, w.Logged)
		}
		for i, r := range rows {
			xp, unknown := 100, i >= 1 && i <= 4 || i == 8
			switch i {
			case 6:
				xp = 0
			case 7:
				xp = 2147483647
			}
			if r.UserID != stores.User(i) || int(r.XP) != xp || (r.User == leaderboard.User{}) != unknown || r.LastUpdated.IsZero() != (i == 1 || i == 2 || i == 8) {
				t.Errorf("member %d is archived as %+v, want %d XP, user data unknown: %v", i, r, xp, unknown)
			}
		}
		for what, want := range map[string]int{"damaged": 7, "skipped": 3, "tried again": 0} {
			if n := w.Logged.Count(what); n != want {
				t.Errorf("%d log lines say %q, want %d:\n%s", n, what, want, w.Logged)
			}
		}

		// With the same damage again no line is repeated, and the revs in Redis and the archive agree.
		damage(w.Redis.ZAdd(ctx, key("dirty"), redis.Z{Score: 1, Member: "junk"}, redis.Z{Score: 2, Member: string(stores.User(1))}))
		w.Add(g, 9)
		w.Must(writer.Flush(ctx))
		if n := w.Logged.Count("ERROR"); n != 10 {
			t.Errorf("%d log lines, want the same 10:\n%s", n, w.Logged)
		}
		w.Must(w.Live.Drop(ctx, g))
		w.Must(w.Hydrator(&stores.Faults{}).Load(ctx, g))
		w.InStep(g)
	})
}

// If only bad rows changed, their batch's rev is still archived, and Redis notes that.
func TestABatchOfBadRowsArchivesItsRev(t *testing.T) {
	stores.OnServers(t, func(w *stores.World) {
		ctx, g := w.Context(), w.Guild(stores.GuildA)
		w.Create(g, 1, 100)
		writer := w.Writer("writer", stores.Never, &stores.Faults{})
		w.Must(writer.Flush(ctx))
		w.Must(w.Redis.HIncrBy(ctx, "lb:{"+string(g.ID)+"}:meta", "rev", 1).Err())
		w.Must(w.Redis.ZAdd(ctx, "lb:{"+string(g.ID)+"}:dirty", redis.Z{Score: 2, Member: "junk"}).Err())
		w.Must(writer.Flush(ctx))
		w.InStep(g)
	})
}

// Good drops rows that a live store would not load again, or whose text is invalid.
func TestGoodDropsInvalidRows(t *testing.T) {
	good := snapshot.Row{Member: leaderboard.Member{UserID: stores.User(1), XP: 1}}
	type spoil = func(r *snapshot.Row)
	spoils := map[string]spoil{
		"negative XP":              func(r *snapshot.Row) { r.XP = -1 },
		"XP above the highest":     func(r *snapshot.Row) { r.XP = level.MaxXP + 1 },
		"a negative message count": func(r *snapshot.Row) { r.MessageCount = -1 },
		"an update before 1970":    func(r *snapshot.Row) { r.LastUpdated = time.UnixMilli(-1) },
		"a cooldown before 1970":   func(r *snapshot.Row) { r.CooldownUntil = time.UnixMilli(-1) },
		"two gains of a day":       func(r *snapshot.Row) { r.Gains = []period.Gain{{Day: 100, Gained: 1}, {Day: 100, Gained: 2}} },
		"a high gain":              func(r *snapshot.Row) { r.Gains = []period.Gain{{Day: 100, Gained: math.MaxInt64}} },
		"a low gain":               func(r *snapshot.Row) { r.Gains = []period.Gain{{Day: 100, Gained: math.MinInt64}} },
	}
	for _, user := range []id.User{"", "3", "30000000000000000\x00", "3000000000000000\xff", "300000000000000000000000001"} {
		spoils["an entry of "+string(user)] = func(r *snapshot.Row) { r.UserID = user }
		spoils["a tombstone of "+string(user)] = func(r *snapshot.Row) { r.UserID, r.Deleted = user, true }
	}
	for _, text := range []string{"a\x00b", "a\xffb", "\xed\xa0\x80"} {
		for i, user := range []leaderboard.User{{Avatar: &text}, {Discriminator: text}, {GlobalName: &text}, {Username: text}, {AccentColour: &text}} {
			spoils[fmt.Sprintf("user data %d with %q", i, text)] = func(r *snapshot.Row) { r.User = user }
		}
	}
	for name, spoil := range spoils {
		bad := good
		spoil(&bad)
		rows := snapshot.NewBadRows(slog.New(slog.DiscardHandler)).Good(snapshot.Batch{Rows: []snapshot.Row{good, bad}}).Rows
		if len(rows) != 1 || rows[0].UserID != good.UserID || rows[0].XP != 1 {
			t.Errorf("%s: Good kept %+v, want only the good row", name, rows)
		}
	}
}
