package redisstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/platform/pause"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// benchMembers is enough to show the cost of O(log n).
const benchMembers = 100_000

func benchUser(n int) id.User { return id.User(fmt.Sprintf("2%017d", n)) }

func benchStore(b *testing.B) *redisstore.Store {
	b.Helper()
	s := redisstore.New(connect(b, testenv.Redis(b).URL()), redisstore.Options{})
	rows := make([]snapshot.Row, benchMembers)
	for i := range rows {
		rows[i] = snapshot.Row{Member: leaderboard.Member{
			UserID: benchUser(i), XP: level.XP(i * 7 % 1_000_000), MessageCount: int64(i),
			User: leaderboard.User{Username: "user", Discriminator: "0"},
		}}
	}
	load(b, s, rows...)
	b.ReportAllocs()
	return s
}

// parallel runs call on many goroutines at once, as concurrent requests do.
func parallel(b *testing.B, call func(user id.User) error) {
	b.SetParallelism(32)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := call(benchUser(rand.IntN(benchMembers))); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// increment has the guild's curve, as changes by requests have. Few are a level-up.
var increment = leaderboard.Change{Op: leaderboard.Increment, Amount: 5, Curve: &level.Curve{}}

func BenchmarkChange(b *testing.B) {
	s := benchStore(b)
	report := serverTime(b, s.Client())
	parallel(b, func(user id.User) error {
		_, err := s.Change(b.Context(), guild1, user, increment)
		return err
	})
	report()
}

// BenchmarkChangeCounted is Change in a guild with boards of day, week and month: once without reads of the boards, and once with a hundred
// reads a second, which take the server's time.
func BenchmarkChangeCounted(b *testing.B) {
	b.Run("unread", func(b *testing.B) { benchmarkCounted(b, false) })
	b.Run("read", func(b *testing.B) { benchmarkCounted(b, true) })
}

func benchmarkCounted(b *testing.B, read bool) {
	b.Helper()
	s := benchStore(b)
	c, today := increment, period.DayAt(time.Now(), time.UTC)
	c.Days = countedDays()
	if read {
		ctx, end := context.WithCancel(b.Context())
		var reading sync.WaitGroup
		defer func() { end(); reading.Wait() }()
		reading.Go(func() {
			for ctx.Err() == nil {
				_, _ = s.Standings(ctx, guild1, period.At(period.Weekly, today), 0, 100)
				pause.For(ctx, 10*time.Millisecond)
			}
		})
	}
	report := serverTime(b, s.Client())
	parallel(b, func(user id.User) error {
		_, err := s.Change(b.Context(), guild1, user, c)
		return err
	})
	report()
}

// countedKinds are the boards of a guild that counts gains.
var countedKinds = []period.Kind{period.Daily, period.Weekly, period.Monthly}

func countedDays() *period.Days {
	return period.Calendar{Zone: time.UTC, Kinds: countedKinds}.DaysAt(time.Now())
}

func BenchmarkPage(b *testing.B) {
	for name, offset := range map[string]int64{"first": 0, "deep": benchMembers / 2} {
		b.Run(name, func(b *testing.B) {
			s := benchStore(b)
			parallel(b, func(id.User) error {
				_, err := s.Page(b.Context(), guild1, offset, 100)
				return err
			})
		})
	}
}

// serverTime reports the server's time in scripts per operation, counted from this call.
func serverTime(b *testing.B, client redis.UniversalClient) (report func()) {
	b.Helper()
	before := scriptMicros(b, client)
	return func() {
		b.Helper()
		b.ReportMetric((scriptMicros(b, client)-before)/float64(b.N), "server-us/op")
	}
}

// scriptMicros returns how long the server has run scripts.
func scriptMicros(b *testing.B, client redis.UniversalClient) float64 {
	b.Helper()
	info, err := client.Info(b.Context(), "commandstats").Result()
	ok(b, err)
	_, rest, _ := strings.Cut(info, "cmdstat_evalsha:")
	_, rest, _ = strings.Cut(rest, "usec=")
	text, _, _ := strings.Cut(rest, ",")
	micros, _ := strconv.ParseFloat(text, 64)
	return micros
}
