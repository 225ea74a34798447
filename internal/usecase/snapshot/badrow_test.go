package snapshot_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/id"
	"levelboard/internal/testing/stores"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// Whatever stands in a guild's keys, every good member is archived, the damaged ones as far as they can be, and the guild
// can be loaded again.
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
			t.Fatalf("%d of %d members are archived\n%s", len(rows), size, w.Logged)
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
				t.Errorf("member %d is archived as %+v", i, r)
			}
		}
		for what, want := range map[string]int{"damaged": 7, "passed over": 3, "tried again": 0} {
			if n := w.Logged.Count(what); n != want {
				t.Errorf("%d lines say %q, want %d\n%s", n, what, want, w.Logged)
			}
		}

		// Once more: no line is repeated, and the rev in Redis and in the archive agree.
		damage(w.Redis.ZAdd(ctx, key("dirty"), redis.Z{Score: 1, Member: "junk"}, redis.Z{Score: 2, Member: string(stores.User(1))}))
		w.Add(g, 9)
		w.Must(writer.Flush(ctx))
		if n := w.Logged.Count("ERROR"); n != 10 {
			t.Errorf("%d lines, want the same 10\n%s", n, w.Logged)
		}
		w.Must(w.Live.Drop(ctx, g))
		w.Must(w.Hydrator(&stores.Faults{}).Load(ctx, g))
		w.InStep(g)
	})
}

// When only bad rows changed, the rev of their batch is archived all the same: Redis notes that it is.
func TestOnlyBadRows(t *testing.T) {
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

func TestWithoutBadRowsWritesEveryGoodRow(t *testing.T) {
	const size = 64
	for _, bad := range [][]int{{}, {0}, {size - 1}, {17}, {1, 2, 3, 40}, {0, size / 2}, seq(size)} {
		var batch snapshot.Batch
		for i := range size {
			batch.Rows = append(batch.Rows, snapshot.Row{Member: leaderboard.Member{UserID: stores.User(i)}})
		}
		var written, refused, wantWritten, wantRefused []id.User
		for i := range size {
			if slices.Contains(bad, i) {
				wantRefused = append(wantRefused, stores.User(i))
			} else {
				wantWritten = append(wantWritten, stores.User(i))
			}
		}
		calls := 0
		write := func(b snapshot.Batch) error {
			calls++
			for _, r := range b.Rows {
				if slices.Contains(wantRefused, r.UserID) {
					return fmt.Errorf("odd: %w", snapshot.ErrBadRow)
				}
			}
			written = nil
			for _, r := range b.Rows {
				written = append(written, r.UserID)
			}
			return nil
		}
		err := snapshot.WithoutBadRows(batch, write, func(r snapshot.Row, _ error) { refused = append(refused, r.UserID) })
		if err != nil || !slices.Equal(written, wantWritten) || !slices.Equal(refused, wantRefused) {
			t.Errorf("bad %v: %v, written %v, refused %v", bad, err, written, refused)
		}
		if most := 2 + 14*len(bad); calls > most {
			t.Errorf("bad %v: %d calls, want at most %d", bad, calls, most)
		}
	}
	calls := 0
	err := snapshot.WithoutBadRows(snapshot.Batch{Rows: make([]snapshot.Row, 8)}, func(snapshot.Batch) error {
		if calls++; calls == 1 {
			return snapshot.ErrBadRow
		}
		return stores.ErrBroken
	}, func(snapshot.Row, error) { t.Error("a row was refused") })
	if !errors.Is(err, stores.ErrBroken) || calls != 2 {
		t.Errorf("%v after %d calls; another error ends it", err, calls)
	}
}

func seq(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// Only the whole of a batch raises what is archived: the archive may lose a part of it before it gets the next.
func TestPartsOfABatchRaiseNoRev(t *testing.T) {
	batch := snapshot.Batch{Rev: 9, Rows: make([]snapshot.Row, 4)}
	batch.Rows[1].UserID = "bad"
	var last snapshot.Batch
	write := func(b snapshot.Batch) error {
		if slices.ContainsFunc(b.Rows, func(r snapshot.Row) bool { return r.UserID == "bad" }) {
			return snapshot.ErrBadRow
		}
		if last.Rev != 0 {
			t.Errorf("a write of %+v after the whole batch", b)
		}
		last = b
		return nil
	}
	if err := snapshot.WithoutBadRows(batch, write, func(snapshot.Row, error) {}); err != nil || last.Rev != 9 || len(last.Rows) != 3 {
		t.Errorf("the last write is of %+v, %v, want rev 9 with all 3 good rows", last, err)
	}
}
