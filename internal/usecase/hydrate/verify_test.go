package hydrate_test

import (
	"errors"
	"sync"
	"testing"

	"levelboard/internal/store/redisconn"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/stores"
	"levelboard/internal/usecase/leaderboard"
)

// A server that comes back with all its data is verified and used without a load.
func TestARestartedServerIsVerifiedAndKeepsItsChanges(t *testing.T) {
	w := stores.Restorable(t)
	ctx, g, f := w.Context(), w.Guild(stores.GuildA), &stores.Faults{}
	writer := w.Writer("writer", stores.Never, f)
	w.Create(g, 0, 100)
	w.Must(writer.Flush(ctx))
	w.Add(g, 0)
	before := w.State(g)
	w.GoBack(w.Keep())
	refusesAll(w, g)
	// The writer notices by itself: it verifies the guild and writes the changes that waited.
	loads := f.Count("LoadChunk")
	w.Must(writer.Flush(ctx))
	w.WantXPs(g, 101)
	w.InStep(g)
	if n := f.Count("LoadChunk") - loads; n != 0 || w.Logged.Count("gone back") > 0 {
		t.Errorf("%d chunks were loaded, want none and no loss:\n%s", n, w.Logged)
	}
	if s := w.State(g); s.Epoch != before.Epoch+1 {
		t.Errorf("the epoch is %d after %d, so a batch read from the old server could still be written", s.Epoch, before.Epoch)
	}
}

// A verification that is interrupted at any step is repeated. It is not mistaken for a Redis with older data.
func TestAnInterruptedVerificationIsRepeated(t *testing.T) {
	w := stores.Restorable(t)
	ctx, g := w.Context(), w.Guild(stores.GuildA)
	w.Create(g, 0, 100)
	for _, method := range []string{"State", "BeginHydration", "RaiseEpoch", "Verified"} {
		for name, f := range map[string]*stores.Faults{"before": {Before: stores.At(method, 1)}, "after": {After: stores.At(method, 1)}} {
			w.Add(g, 0)
			w.GoBack(w.Keep())
			if err := w.Hydrator(f).Load(ctx, g); !errors.Is(err, stores.ErrBroken) {
				t.Fatalf("%s %s: the load returned %v, want ErrBroken", name, method, err)
			}
			w.Must(w.Hydrator(&stores.Faults{}).Load(ctx, g))
		}
	}
	w.WantXPs(g, 108)
	if w.Logged.Count("gone back") > 0 {
		t.Errorf("the log says that Redis has gone back:\n%s", w.Logged)
	}
}

// A verification dies after it raised the archive's epoch, and the next one dies before it raises the epoch again.
func TestTwoInterruptedVerificationsAreRepeated(t *testing.T) {
	w := stores.Restorable(t)
	ctx, g := w.Context(), w.Guild(stores.GuildA)
	w.Create(g, 0, 100)
	w.Must(w.Writer("writer", stores.Never, &stores.Faults{}).Flush(ctx))
	w.Change(g, 0, leaderboard.Change{Op: leaderboard.Set, Amount: 7})
	w.GoBack(w.Keep())
	for _, f := range []*stores.Faults{{After: stores.At("RaiseEpoch", 1)}, {Before: stores.At("RaiseEpoch", 1)}, {After: stores.At("RaiseEpoch", 1)}} {
		if err := w.Hydrator(f).Load(ctx, g); !errors.Is(err, stores.ErrBroken) {
			t.Fatal(err)
		}
	}
	w.Must(w.Hydrator(&stores.Faults{}).Load(ctx, g))
	w.WantXPs(g, 7)
	if w.Logged.Count("gone back") > 0 {
		t.Errorf("the log says that Redis has gone back:\n%s", w.Logged)
	}
}

// A promoted replica was verified. Then another replica is promoted that missed the verification, but has all acknowledged changes.
func TestAReplicaThatMissedAVerificationIsVerified(t *testing.T) {
	w := stores.Restorable(t)
	ctx, g := w.Context(), w.Guild(stores.GuildA)
	w.Create(g, 0, 100)
	w.Create(g, 1, 100)
	w.Must(w.Writer("writer", stores.Never, &stores.Faults{}).Flush(ctx))
	w.Change(g, 0, leaderboard.Change{Op: leaderboard.Set, Amount: 7})
	w.Remove(g, 1)
	second := w.Keep()
	for range 2 {
		w.GoBack(w.Keep())
		w.WantXPs(g, 7, -1)
	}
	w.GoBack(second)
	w.WantXPs(g, 7, -1)
	if w.Logged.Count("gone back") > 0 {
		t.Errorf("the log says that Redis has gone back:\n%s", w.Logged)
	}
	w.Must(w.Writer("writer", stores.Never, &stores.Faults{}).Flush(ctx))
	w.InStep(g)
	w.GoBack(second)
	w.Must(w.Hydrator(&stores.Faults{}).Load(ctx, g))
	if w.Logged.Count("gone back") != 1 {
		t.Errorf("a Redis that lacks archived changes was not noticed:\n%s", w.Logged)
	}
}

// A verification dies before it reaches the archive, and another Redis gets the epoch that it would have raised. Then the first Redis comes
// back, with a noted batch that was not archived either.
func TestAnEpochTakenByAnotherRedisLosesNothing(t *testing.T) {
	w := stores.Restorable(t)
	ctx, g, writer := w.Context(), w.Guild(stores.GuildA), w.Writer("writer", stores.Never, &stores.Faults{})
	w.Create(g, 0, 100)
	w.Create(g, 1, 100)
	w.Must(writer.Flush(ctx))
	for range 9 {
		w.Add(g, 0)
	}
	w.Must(w.ReadChanges(g).Err)
	w.GoBack(w.Keep())
	if err := w.Hydrator(&stores.Faults{Before: stores.At("RaiseEpoch", 1)}).Load(ctx, g); !errors.Is(err, stores.ErrBroken) {
		t.Fatal(err)
	}
	first := w.Keep()
	w.Must(w.Redis.FlushAll(ctx).Err())
	w.GoBack(w.Keep())
	w.WantXPs(g, 100, 100)
	w.Add(g, 1)
	w.Add(g, 1)
	w.Must(writer.Flush(ctx))

	w.GoBack(first)
	w.WantXPs(g, 109, 102)
	w.Must(writer.Flush(ctx))
	w.InStep(g)
}

// Two replicas of the service see the server come back. One verifies the guild, and the other uses the result.
func TestOneReplicaVerifiesForAll(t *testing.T) {
	w := stores.Restorable(t)
	ctx, g := w.Context(), w.Guild(stores.GuildA)
	w.Create(g, 0, 100)
	client, err := redisconn.Connect(w.Server.URL(), redisconn.ConnectOptions{})
	w.Must(err)
	t.Cleanup(func() { _ = client.Close() })
	other := redisstore.New(client, redisstore.Options{})
	if _, err := other.Member(ctx, g, stores.User(0)); err != nil {
		t.Fatal(err)
	}
	w.GoBack(w.Keep())
	w.Must(client.Ping(ctx).Err())
	var all sync.WaitGroup
	f := &stores.Faults{}
	for range 4 {
		h := w.Hydrator(f)
		all.Go(func() {
			if err := h.Load(ctx, g); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := f.Count("Verified"); n != 1 {
		t.Errorf("the guild was verified %d times, want once", n)
	}
	if m, err := other.Member(ctx, g, stores.User(0)); err != nil || m.XP != 100 {
		t.Errorf("on the other replica the member is %+v (%v), want 100 XP", m, err)
	}
}
