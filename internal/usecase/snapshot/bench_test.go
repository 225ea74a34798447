package snapshot_test

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/store/postgres"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/stores"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// BenchmarkManySmallGuilds writes 5000 guilds of two members each, all of which have changed, from a Redis server to a Postgres
// server.
func BenchmarkManySmallGuilds(b *testing.B) {
	const size = 2
	url := testenv.PostgresServer(b, testenv.WithDurableCommits()).URL()
	client, err := redisconn.Connect(testenv.Redis(b).URL(), redisconn.ConnectOptions{Timeout: 10 * time.Second})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = client.Close() })
	live := redisstore.New(client, redisstore.Options{})
	// What is made ready need not reach the disk.
	guilds := fillSmallGuilds(b, live, stores.Postgres(b, url+"&synchronous_commit=off"), 5000)
	writer := newBenchWriter(b, live, stores.Postgres(b, url))
	for b.Loop() {
		b.StopTimer()
		for _, g := range guilds {
			for n := range size {
				_, err := live.Create(b.Context(), g, stores.User(n), leaderboard.Creation{XP: 1})
				if errors.Is(err, leaderboard.ErrMemberExists) {
					_, err = live.Change(b.Context(), g, stores.User(n), leaderboard.Change{Op: leaderboard.Increment, Amount: 1})
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		}
		b.StartTimer()
		if err := writer.Flush(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(guilds)*b.N)/b.Elapsed().Seconds(), "guilds/s")
}

// BenchmarkOneLargeGuild writes changed members of a guild of a million, 60,000 by chance and then all. peak-MB is how far the heap grew beside what
// was there before.
func BenchmarkOneLargeGuild(b *testing.B) {
	const size = 1_000_000
	a, client := stores.OpenServers(b)
	g := stores.FillArchive(b, a, size)
	live := redisstore.New(client, redisstore.Options{})
	h := hydrate.New(live, a, slog.New(slog.DiscardHandler))
	b.Cleanup(h.Close)
	if err := h.Load(b.Context(), g); err != nil {
		b.Fatal(err)
	}
	writer := newBenchWriter(b, live, a)
	chance := rand.New(rand.NewPCG(1, 2))
	for _, changed := range []int{60_000, size} {
		b.Run(fmt.Sprintf("changed=%d", changed), func(b *testing.B) {
			var most uint64
			for b.Loop() {
				b.StopTimer()
				addOne(b, live, g, chance.Perm(size)[:changed])
				peak := heapPeak()
				b.StartTimer()
				if err := writer.Flush(b.Context()); err != nil {
					b.Fatal(err)
				}
				most = max(most, peak())
			}
			b.ReportMetric(float64(changed*b.N)/b.Elapsed().Seconds(), "members/s")
			b.ReportMetric(float64(most)/1e6, "peak-MB")
		})
	}
}

// addOne changes the members, a hundred in a step.
func addOne(b *testing.B, live *redisstore.Store, g leaderboard.GuildRef, members []int) {
	b.Helper()
	var changes errgroup.Group
	changes.SetLimit(8)
	for some := range slices.Chunk(members, 100) {
		p := leaderboard.Puts{Mode: leaderboard.PutAdd}
		for _, n := range some {
			p.Members = append(p.Members, leaderboard.Put{User: stores.User(n), XP: 1})
		}
		changes.Go(func() error {
			_, _, err := live.Put(b.Context(), g, p)
			return err
		})
	}
	if err := changes.Wait(); err != nil {
		b.Fatal(err)
	}
}

// heapPeak follows the heap until stop, which returns by how many bytes it grew at most.
func heapPeak() (stop func() uint64) {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	read := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	before := read()
	most, end, done := before, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.Tick(time.Millisecond); ; {
			select {
			case <-end:
				return
			case <-tick:
				most = max(most, read())
			}
		}
	}()
	return func() uint64 {
		close(end)
		<-done
		return most - before
	}
}

func newBenchWriter(b *testing.B, live *redisstore.Store, a *postgres.Archive) *snapshot.Writer {
	log := slog.New(slog.DiscardHandler)
	h := hydrate.New(live, a, log)
	b.Cleanup(h.Close)
	return snapshot.NewWriter(live, a, h, snapshot.WriterOptions{Holder: "bench", Interval: time.Hour, Log: log})
}

// fillSmallGuilds creates guilds without members and loads them.
func fillSmallGuilds(b *testing.B, live *redisstore.Store, a *postgres.Archive, count int) []leaderboard.GuildRef {
	b.Helper()
	h := hydrate.New(live, a, slog.New(slog.DiscardHandler))
	defer h.Close()
	guilds := make([]leaderboard.GuildRef, count)
	for i := range guilds {
		settings, err := guild.Parse(id.Guild(fmt.Sprintf("1%017d", i)), []byte(`{"name":"Gophers","memberCount":5,"ownerId":"200000000000000001"}`))
		if err != nil {
			b.Fatal(err)
		}
		made, _, err := a.PutGuild(b.Context(), settings)
		if err != nil {
			b.Fatal(err)
		}
		guilds[i] = leaderboard.Ref(made)
		if err := h.Load(b.Context(), guilds[i]); err != nil {
			b.Fatal(err)
		}
	}
	return guilds
}
