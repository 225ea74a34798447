package snapshot_test

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/postgres"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// BenchmarkHydrate loads a guild of a million members, whose user data has all fields, from a Postgres server into a Redis
// server. ms/script is how long one chunk
// held Redis up, on average.
func BenchmarkHydrate(b *testing.B) {
	const size = 1_000_000
	a, client := openServers(b)
	g := fillArchive(b, a, size)
	live := redisstore.New(client)
	h := snapshot.NewHydrator(live, a, slog.New(slog.DiscardHandler))
	b.Cleanup(h.Close)
	var scripts float64
	for b.Loop() {
		b.StopTimer()
		if err := live.Drop(b.Context(), g); err != nil {
			b.Fatal(err)
		}
		if err := client.ConfigResetStat(b.Context()).Err(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := h.Load(b.Context(), g); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if n, err := client.ZCard(b.Context(), "lb:{"+string(g.ID)+"}:xp").Result(); err != nil || n-1 != size {
			b.Fatalf("%d members are loaded, %v", n, err)
		}
		scripts += scriptTime(b, client)
		b.StartTimer()
	}
	b.ReportMetric(float64(size*b.N)/b.Elapsed().Seconds(), "members/s")
	b.ReportMetric(scripts/float64(b.N)/1000, "ms/script")
}

// scriptTime is how long a script took on average, in microseconds, since the server's statistics began.
func scriptTime(b *testing.B, client redis.UniversalClient) (us float64) {
	b.Helper()
	stats, err := client.Info(b.Context(), "commandstats").Result()
	if err != nil {
		b.Fatal(err)
	}
	_, line, _ := strings.Cut(stats, "cmdstat_evalsha:")
	_, value, _ := strings.Cut(line, "usec_per_call=")
	value, _, _ = strings.Cut(value, ",")
	if us, err = strconv.ParseFloat(value, 64); err != nil {
		b.Fatal(err)
	}
	return us
}

// fillArchive creates a guild of that many members.
func fillArchive(b *testing.B, a *postgres.Archive, size int) leaderboard.GuildRef {
	b.Helper()
	settings, err := guild.Parse(guildA, []byte(`{"name":"Gophers","memberCount":5,"ownerId":"200000000000000001"}`))
	if err != nil {
		b.Fatal(err)
	}
	made, _, err := a.PutGuild(b.Context(), settings)
	if err != nil {
		b.Fatal(err)
	}
	g := leaderboard.Ref(made)
	lease, err := a.AcquireLease(b.Context(), "bench", time.Hour, false)
	if err != nil {
		b.Fatal(err)
	}
	const most = 5000
	at, colour := time.UnixMilli(1767225600000), "#00add8"
	for from := 0; from < size; from += most {
		batch := snapshot.Batch{Guild: g, Rev: 1, Known: 1}
		for n := from; n < min(from+most, size); n++ {
			i := n * 7919 % size // in another order than that in which they are read
			avatar, name := fmt.Sprintf("%032x", i), fmt.Sprintf("Gopher the %dth", i)
			batch.Rows = append(batch.Rows, snapshot.Row{
				Member: leaderboard.Member{
					UserID: user(i), XP: level.XP(i * 7919 % 10_000_019), MessageCount: int64(i), LastUpdated: at,
					User: leaderboard.User{Avatar: &avatar, Discriminator: "0", GlobalName: &name, Username: fmt.Sprintf("gopher%d", i), AccentColour: &colour},
				},
				CooldownUntil: at.Add(time.Minute),
			})
		}
		if err := snapshot.WriteBatch(b.Context(), a, lease, batch); err != nil {
			b.Fatal(err)
		}
	}
	return g
}

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
	live := redisstore.New(client)
	// What is made ready need not reach the disk.
	guilds := fillSmallGuilds(b, live, postgresArchive(b, url+"&synchronous_commit=off"), 5000)
	writer := newBenchWriter(b, live, postgresArchive(b, url))
	for b.Loop() {
		b.StopTimer()
		for _, g := range guilds {
			for n := range size {
				_, err := live.Create(b.Context(), g, user(n), leaderboard.Creation{XP: 1})
				if errors.Is(err, leaderboard.ErrMemberExists) {
					_, err = live.Change(b.Context(), g, user(n), leaderboard.Change{Op: leaderboard.Increment, Amount: 1})
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

// BenchmarkOneLargeGuild writes 60,000 changed members, by chance, of a guild of a million.
func BenchmarkOneLargeGuild(b *testing.B) {
	const size, changed = 1_000_000, 60_000
	a, client := openServers(b)
	g := fillArchive(b, a, size)
	live := redisstore.New(client)
	h := snapshot.NewHydrator(live, a, slog.New(slog.DiscardHandler))
	b.Cleanup(h.Close)
	if err := h.Load(b.Context(), g); err != nil {
		b.Fatal(err)
	}
	writer := newBenchWriter(b, live, a)
	chance := rand.New(rand.NewPCG(1, 2))
	for b.Loop() {
		b.StopTimer()
		var changes errgroup.Group
		changes.SetLimit(32)
		for _, n := range chance.Perm(size)[:changed] {
			changes.Go(func() error {
				_, err := live.Change(b.Context(), g, user(n), leaderboard.Change{Op: leaderboard.Increment, Amount: 1})
				return err
			})
		}
		if err := changes.Wait(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := writer.Flush(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(changed*b.N)/b.Elapsed().Seconds(), "members/s")
}

// openServers starts a Postgres server that waits for its disk, and a Redis server.
func openServers(b *testing.B) (*postgres.Archive, *redisconn.Client) {
	b.Helper()
	client, err := redisconn.Connect(testenv.Redis(b).URL(), redisconn.ConnectOptions{Timeout: 10 * time.Second})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = client.Close() })
	return postgresArchive(b, testenv.PostgresServer(b, testenv.WithDurableCommits()).URL()), client
}

func newBenchWriter(b *testing.B, live snapshot.Live, a *postgres.Archive) *snapshot.Writer {
	log := slog.New(slog.DiscardHandler)
	h := snapshot.NewHydrator(live, a, log)
	b.Cleanup(h.Close)
	return snapshot.NewWriter(live, a, h, snapshot.WriterOptions{Holder: "bench", Interval: time.Hour, Log: log})
}

// fillSmallGuilds creates guilds without members and loads them.
func fillSmallGuilds(b *testing.B, live snapshot.Live, a *postgres.Archive, count int) []leaderboard.GuildRef {
	b.Helper()
	h := snapshot.NewHydrator(live, a, slog.New(slog.DiscardHandler))
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
