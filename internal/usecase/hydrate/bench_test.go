package hydrate_test

import (
	"log/slog"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/stores"
	"levelboard/internal/usecase/hydrate"
)

// BenchmarkHydrate loads a guild of a million members, whose user data has all fields, from a Postgres server into a Redis
// server. ms/script is how long one chunk
// held Redis up, on average.
func BenchmarkHydrate(b *testing.B) {
	const size = 1_000_000
	a, client := stores.OpenServers(b)
	g := stores.FillArchive(b, a, size)
	live := redisstore.New(client, redisstore.Options{})
	h := hydrate.New(live, a, slog.New(slog.DiscardHandler))
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
		if n, err := client.ZCard(b.Context(), "lb:{"+string(g.ID)+"}:xp").Result(); err != nil || n != size {
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
