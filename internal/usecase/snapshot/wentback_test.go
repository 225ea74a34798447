package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// restorableWorld is a world on servers whose Redis can be put back to a dump that was kept.
type restorableWorld struct {
	*world
	server *testenv.RedisServer
}

func onRestorableRedis(t *testing.T) restorableWorld {
	t.Helper()
	server := testenv.Redis(t)
	return restorableWorld{newWorld(t, server.URL(), postgresArchive(t, testenv.Postgres(t))), server}
}

// keep returns what the server holds, as its dump.
func (w restorableWorld) keep() []byte {
	w.Helper()
	w.must(w.redis.Save(w.Context()).Err())
	dump, err := os.ReadFile(filepath.Join(w.server.Dir(), "dump.rdb"))
	w.must(err)
	return dump
}

// goBack kills the server and starts it with the dump.
func (w restorableWorld) goBack(dump []byte) {
	w.Helper()
	w.server.Kill()
	w.must(os.WriteFile(filepath.Join(w.server.Dir(), "dump.rdb"), dump, 0o600))
	w.server.Start()
	w.must(w.redis.Ping(w.Context()).Err()) // go-redis finds out that its connections are gone
}

// xps loads the guild and returns the XP of each member.
func (w *world) xps(g leaderboard.GuildRef) map[id.User]level.XP {
	w.Helper()
	w.must(w.hydrator(&faults{}).Load(w.Context(), g))
	xps := map[id.User]level.XP{}
	for _, row := range w.liveRows(g) {
		xps[row.UserID] = row.XP
	}
	return xps
}

func (w *world) wantXPs(g leaderboard.GuildRef, want ...level.XP) {
	w.Helper()
	got := w.xps(g)
	for i, xp := range want {
		if found, ok := got[user(i)]; xp < 0 && ok || xp >= 0 && found != xp {
			w.Errorf("member %d: %d XP (there: %v), want %d", i, found, ok, xp)
		}
	}
}

// refusesAll fails the test if anything of the guild is answered or changed.
func (w *world) refusesAll(g leaderboard.GuildRef) {
	w.Helper()
	ctx := w.Context()
	_, member := w.live.Member(ctx, g, user(0))
	_, page := w.live.Page(ctx, g, 0, 10, leaderboard.Digest{})
	_, version := w.live.Version(ctx, g)
	_, created := w.live.Create(ctx, g, user(9), leaderboard.Creation{XP: 1})
	_, changed := w.live.Change(ctx, g, user(0), leaderboard.Change{Op: leaderboard.Increment, Amount: 1})
	_, deleted := w.live.Delete(ctx, g, user(0), leaderboard.Removal{})
	for what, err := range map[string]error{
		"member": member, "page": page, "version": version, "create": created, "change": changed, "delete": deleted,
	} {
		if !errors.Is(err, leaderboard.ErrNotLoaded) {
			w.Errorf("%s before the guild was verified: %v, want ErrNotLoaded", what, err)
		}
	}
	if c := w.readChanges(g); !errors.Is(c.Err, snapshot.ErrUnverified) || c.Batch.Guild != g || len(c.Batch.Rows) > 0 {
		w.Errorf("changes before the guild was verified: %+v, want which incarnation is to be verified", c)
	}
}

// Redis comes back with a dump that is older than the archive. Nothing is answered or changed on it before the guild was
// loaded again, and then nobody has less XP than in either.
func TestAnOldDumpIsNoticedBeforeItsFirstUse(t *testing.T) {
	w := onRestorableRedis(t)
	ctx, g, writer := w.Context(), w.guild(guildA), w.writer("writer", never, &faults{})
	for i := range 5 {
		w.create(g, i, 100)
	}
	w.must(writer.Flush(ctx))
	w.change(g, 1, leaderboard.Change{Op: leaderboard.Increment, Amount: 50}) // in the dump, not archived, and then lost
	w.create(g, 5, 70)
	w.remove(g, 4)
	dump := w.keep()
	w.must(writer.Flush(ctx))
	w.change(g, 0, leaderboard.Change{Op: leaderboard.Increment, Amount: 7})
	w.change(g, 1, leaderboard.Change{Op: leaderboard.Increment, Amount: 7})
	w.remove(g, 5)
	w.must(writer.Flush(ctx))

	w.goBack(dump)
	w.refusesAll(g)
	w.wantXPs(g, 107, 157, 100, 100, -1, -1)
	if n := w.logged.count("gone back in time"); n != 1 {
		t.Errorf("%d log lines about it, want 1:\n%s", n, w.logged)
	}
	w.add(g, 0)
	w.must(writer.Flush(ctx))
	w.inStep(g)
	if n := w.logged.count("gone back in time"); n != 1 {
		t.Errorf("noticed %d times, want once", n)
	}
}

// The dump has what was acknowledged and not archived when it was made, which is not lost for being older than other things.
func TestUnsavedChangesOfAnOldDumpAreKept(t *testing.T) {
	w := onRestorableRedis(t)
	ctx, g, writer := w.Context(), w.guild(guildA), w.writer("writer", never, &faults{})
	for _, i := range []int{0, 1, 2, 4, 5, 6} {
		w.create(g, i, 100)
	}
	w.must(writer.Flush(ctx))
	w.add(g, 0)
	w.remove(g, 4)
	w.must(w.readChanges(g).Err) // and its writer died
	w.add(g, 1)
	w.create(g, 3, 30)
	w.remove(g, 5)
	w.remove(g, 6)
	dump := w.keep()
	// The archive moves on by other members alone, as if the rest had been in a later batch that never came.
	w.add(g, 2)
	w.create(g, 6, 60)
	lease, err := w.archive.AcquireLease(ctx, "writer", taken, false)
	w.must(err)
	b := w.readChanges(g).Batch
	b.Rows = slices.DeleteFunc(b.Rows, func(r snapshot.Row) bool { return r.UserID != user(2) && r.UserID != user(6) })
	w.must(snapshot.WriteBatch(ctx, w.archive, lease, b))

	w.goBack(dump)
	w.wantXPs(g, 101, 101, 101, 30, -1, -1, 60)
	w.must(writer.Flush(ctx))
	w.inStep(g)
}

// A member with a change that waits when the dump is made, and that is deleted before that is archived, has the rev of that change in the
// archive. It stays deleted.
func TestADeletionOfAMemberWithAnUnsavedChangeIsKept(t *testing.T) {
	w := onRestorableRedis(t)
	ctx, g, writer := w.Context(), w.guild(guildA), w.writer("writer", never, &faults{})
	w.create(g, 0, 100)
	w.must(writer.Flush(ctx))
	w.add(g, 0)
	dump := w.keep()
	w.remove(g, 0)
	w.must(writer.Flush(ctx))
	w.create(g, 0, 5) // which nobody archives
	w.goBack(dump)
	w.wantXPs(g, -1)
	w.must(writer.Flush(ctx))
	w.inStep(g)
}

// A server that comes back with all that it had stays in use, without a load, once that was checked.
func TestARestartedServerIsVerifiedAndKeepsItsChanges(t *testing.T) {
	w := onRestorableRedis(t)
	ctx, g, f := w.Context(), w.guild(guildA), &faults{}
	writer := w.writer("writer", never, f)
	w.create(g, 0, 100)
	w.must(writer.Flush(ctx))
	w.add(g, 0)
	before := w.state(g)
	w.goBack(w.keep())
	w.refusesAll(g)
	// The writer finds it by itself: it verifies the guild and writes what the old server had not had written.
	loads := f.count("LoadChunk")
	w.must(writer.Flush(ctx))
	w.wantXPs(g, 101)
	w.inStep(g)
	if n := f.count("LoadChunk") - loads; n != 0 || w.logged.count("gone back") > 0 {
		t.Errorf("%d chunks were loaded, want none:\n%s", n, w.logged)
	}
	if s := w.state(g); s.Epoch != before.Epoch+1 {
		t.Errorf("epoch %d after %d: a batch read from the old server could still be written", s.Epoch, before.Epoch)
	}
}

// A verification that is cut off anywhere is repeated, and is not taken for a Redis that went back.
func TestAVerificationCutOffAnywhere(t *testing.T) {
	w := onRestorableRedis(t)
	ctx, g := w.Context(), w.guild(guildA)
	w.create(g, 0, 100)
	for _, method := range []string{"State", "BeginHydration", "RaiseEpoch", "Verified"} {
		for name, f := range map[string]*faults{"before": {before: at(method, 1)}, "after": {after: at(method, 1)}} {
			w.add(g, 0)
			w.goBack(w.keep())
			if err := w.hydrator(f).Load(ctx, g); !errors.Is(err, errBroken) {
				t.Fatalf("%s %s: %v", name, method, err)
			}
			w.must(w.hydrator(&faults{}).Load(ctx, g))
		}
	}
	w.wantXPs(g, 108)
	if w.logged.count("gone back") > 0 {
		t.Errorf("%s", w.logged)
	}
}

// The archive got the epoch of a verification that died, and the next one, which is about to ask for another, dies before it does.
func TestTwoVerificationsCutOffInTurn(t *testing.T) {
	w := onRestorableRedis(t)
	ctx, g := w.Context(), w.guild(guildA)
	w.create(g, 0, 100)
	w.must(w.writer("writer", never, &faults{}).Flush(ctx))
	w.change(g, 0, leaderboard.Change{Op: leaderboard.Set, Amount: 7})
	w.goBack(w.keep())
	for _, f := range []*faults{{after: at("RaiseEpoch", 1)}, {before: at("RaiseEpoch", 1)}, {after: at("RaiseEpoch", 1)}} {
		if err := w.hydrator(f).Load(ctx, g); !errors.Is(err, errBroken) {
			t.Fatal(err)
		}
	}
	w.must(w.hydrator(&faults{}).Load(ctx, g))
	w.wantXPs(g, 7)
	if w.logged.count("gone back") > 0 {
		t.Errorf("%s", w.logged)
	}
}

// A verification that never got to the archive leaves a note of the epoch that it was about to get. Another Redis gets that epoch, and then
// the first one comes back, with a batch noted that was not archived either.
func TestAnEpochThatAnotherRedisGot(t *testing.T) {
	w := onRestorableRedis(t)
	ctx, g, writer := w.Context(), w.guild(guildA), w.writer("writer", never, &faults{})
	w.create(g, 0, 100)
	w.create(g, 1, 100)
	w.must(writer.Flush(ctx))
	for range 9 {
		w.add(g, 0)
	}
	w.must(w.readChanges(g).Err)
	w.goBack(w.keep())
	if err := w.hydrator(&faults{before: at("RaiseEpoch", 1)}).Load(ctx, g); !errors.Is(err, errBroken) {
		t.Fatal(err)
	}
	first := w.keep()
	w.must(w.redis.FlushAll(ctx).Err())
	w.goBack(w.keep())
	w.wantXPs(g, 100, 100)
	w.add(g, 1)
	w.add(g, 1)
	w.must(writer.Flush(ctx))

	w.goBack(first)
	w.wantXPs(g, 109, 102)
	w.must(writer.Flush(ctx))
	w.inStep(g)
}

// The same for a guild that is loaded again: cut off anywhere and repeated, with the same result.
func TestASalvageCutOffAnywhere(t *testing.T) {
	w := onRestorableRedis(t)
	ctx, g, writer := w.Context(), w.guild(guildA), w.writer("writer", never, &faults{})
	w.create(g, 0, 100)
	w.create(g, 1, 100)
	w.create(g, 2, 100)
	w.must(writer.Flush(ctx))
	w.change(g, 0, leaderboard.Change{Op: leaderboard.Set, Amount: 1000})
	w.add(g, 2)
	dump := w.keep()
	w.change(g, 1, leaderboard.Change{Op: leaderboard.Set, Amount: 2000})
	w.remove(g, 2)
	w.must(writer.Flush(ctx))
	for _, method := range []string{"Unsaved", "Salvage", "RaiseEpoch", "Members", "LoadChunk", "CommitHydration"} {
		for name, f := range map[string]*faults{"before": {before: at(method, 1)}, "after": {after: at(method, 1)}} {
			w.goBack(dump)
			if err := w.hydrator(f).Load(ctx, g); !errors.Is(err, errBroken) {
				t.Fatalf("%s %s: %v", name, method, err)
			}
			w.wantXPs(g, 1000, 2000, -1)
		}
	}
}

// A batch that was read from the server before arrives late. It must not get into the archive once the guild was verified on
// the server that came back, which does not know of it; and if it was faster, that server is the older one.
func TestALateBatchOfTheServerBefore(t *testing.T) {
	for name, late := range map[string]bool{"after the verification": true, "during it": false} {
		t.Run(name, func(t *testing.T) {
			w := onRestorableRedis(t)
			ctx, g, writer := w.Context(), w.guild(guildA), w.writer("writer", never, &faults{})
			w.create(g, 0, 100)
			w.must(writer.Flush(ctx))
			dump := w.keep()
			w.add(g, 0)
			lease, err := w.archive.AcquireLease(ctx, "writer", taken, false)
			w.must(err)
			b := w.readChanges(g).Batch
			w.goBack(dump)
			if late {
				w.wantXPs(g, 100)
				if err := snapshot.WriteBatch(ctx, w.archive, lease, b); !errors.Is(err, snapshot.ErrStale) {
					t.Errorf("the late batch: %v, want ErrStale", err)
				}
				w.wantXPs(g, 100)
				return
			}
			var once sync.Once
			f := &faults{before: func(_ context.Context, c call) error {
				if c.method == "RaiseEpoch" {
					once.Do(func() { w.must(snapshot.WriteBatch(ctx, w.archive, lease, b)) })
				}
				return nil
			}}
			w.must(w.hydrator(f).Load(ctx, g))
			w.wantXPs(g, 101)
			if w.logged.count("gone back") != 1 {
				t.Errorf("want a line about it:\n%s", w.logged)
			}
		})
	}
}

// The data of a server becomes older and nothing says so. The guild's next copy notices it, also when so much was changed on the old data
// that its rev is above what is archived.
func TestOldDataThatCameUnnoticedIsNoticedByTheNextCopy(t *testing.T) {
	for _, size := range []int{3, 300} { // a guild that goes with a group, and one by itself
		for _, changes := range []int{1, 9} {
			t.Run(fmt.Sprintf("%d members, %d changes", size, changes), func(t *testing.T) {
				w := serverWorld(t)
				ctx, g, writer := w.Context(), w.guild(guildA), w.writer("writer", never, &faults{})
				for i := range size {
					w.create(g, i, 100)
				}
				w.must(writer.Flush(ctx))
				for i := range size - 2 {
					w.add(g, i+2)
				}
				putBack := w.keepKeys(g)
				for range 5 {
					w.add(g, 0)
				}
				w.must(writer.Flush(ctx))
				putBack()
				for range changes {
					w.add(g, 1)
				}
				w.must(writer.Flush(ctx))
				w.wantXPs(g, 105, 100+level.XP(changes), 101)
				w.inStep(g)
				if n := w.logged.count("Redis has gone back in time"); n != 1 {
					t.Errorf("noticed %d times, want once:\n%s", n, w.logged)
				}
			})
		}
	}
}

// keepKeys returns a function that puts the guild's keys back to what they hold now.
func (w *world) keepKeys(g leaderboard.GuildRef) (putBack func()) {
	w.Helper()
	ctx := w.Context()
	names := func() []string { return w.redis.Keys(ctx, "lb:{"+string(g.ID)+"}:*").Val() }
	dumps := map[string]string{}
	for _, name := range names() {
		dump, err := w.redis.Dump(ctx, name).Result()
		w.must(err)
		dumps[name] = dump
	}
	return func() {
		w.must(w.redis.Del(ctx, names()...).Err())
		for name, dump := range dumps {
			w.must(w.redis.Restore(ctx, name, 0, dump).Err())
		}
	}
}

// Two replicas of the service see the server come back; one loads or verifies, the other uses that.
func TestOneReplicaVerifiesForAll(t *testing.T) {
	w := onRestorableRedis(t)
	ctx, g := w.Context(), w.guild(guildA)
	w.create(g, 0, 100)
	client, err := redisconn.Connect(w.server.URL(), redisconn.ConnectOptions{})
	w.must(err)
	t.Cleanup(func() { _ = client.Close() })
	other := redisstore.New(client)
	if _, err := other.Member(ctx, g, user(0)); err != nil {
		t.Fatal(err)
	}
	w.goBack(w.keep())
	w.must(client.Ping(ctx).Err())
	var all sync.WaitGroup
	f := &faults{}
	for range 4 {
		h := w.hydrator(f)
		all.Go(func() {
			if err := h.Load(ctx, g); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := f.count("Verified"); n != 1 {
		t.Errorf("verified %d times, want once", n)
	}
	if m, err := other.Member(ctx, g, user(0)); err != nil || m.XP != 100 {
		t.Errorf("on the other replica: %+v, %v", m, err)
	}
}

// The archive was restored from a backup and knows less than Redis: that is for the operator, and nothing is overwritten.
func TestAnArchiveThatIsOlderThanRedisIsLeftAlone(t *testing.T) {
	w := onRestorableRedis(t)
	ctx, g := w.Context(), w.guild(guildA)
	w.create(g, 0, 100)
	w.must(w.redis.HSet(ctx, "lb:{"+string(g.ID)+"}:meta", "epoch", 9).Err())
	w.goBack(w.keep())
	if err := w.hydrator(&faults{}).Load(ctx, g); !errors.Is(err, snapshot.ErrArchiveOlder) {
		t.Errorf("load: %v, want ErrArchiveOlder", err)
	}
	if err := w.writer("writer", never, &faults{}).Flush(ctx); !errors.Is(err, snapshot.ErrArchiveOlder) {
		t.Errorf("flush: %v, want ErrArchiveOlder", err)
	}
	if xp := w.redis.ZScore(ctx, "lb:{"+string(g.ID)+"}:xp", string(user(0))).Val(); xp != 100 {
		t.Errorf("%v XP in Redis, want 100", xp)
	}
}
