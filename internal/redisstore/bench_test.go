package redisstore_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"testing"
	"time"

	"levelboard/internal/id"
	"levelboard/internal/leaderboard"
	"levelboard/internal/level"
	"levelboard/internal/redisstore"
	"levelboard/internal/snapshot"
	"levelboard/internal/testenv"
)

// benchMembers is a large board: what O(log n) costs shows.
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

// parallel runs call on many goroutines at once, as requests come.
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

func BenchmarkChange(b *testing.B) {
	s := benchStore(b)
	parallel(b, func(user id.User) error {
		_, err := s.Change(b.Context(), guild1, user, leaderboard.Change{Op: leaderboard.Increment, Amount: 20})
		return err
	})
}

func BenchmarkMember(b *testing.B) {
	s := benchStore(b)
	parallel(b, func(user id.User) error {
		_, err := s.Member(b.Context(), guild1, user)
		return err
	})
}

func BenchmarkPage(b *testing.B) {
	for name, offset := range map[string]int64{"first": 0, "deep": benchMembers / 2} {
		b.Run(name, func(b *testing.B) {
			s := benchStore(b)
			parallel(b, func(id.User) error {
				_, err := s.Page(b.Context(), guild1, offset, 100, leaderboard.Digest{})
				return err
			})
		})
	}
}

// BenchmarkSurvey is what the snapshot writer's look at all loaded guilds takes, for each guild.
func BenchmarkSurvey(b *testing.B) {
	const guilds = 5000
	s := redisstore.New(connect(b, testenv.Redis(b).URL()), redisstore.Options{})
	all := make([]id.Guild, guilds)
	for g := range guilds {
		loadGuild(b, s, guildNo(g), nth(1), nth(2), nth(3))
		all[g] = guildNo(g).ID
	}
	b.ReportAllocs()
	for b.Loop() {
		if changed, cold, err := s.Survey(b.Context(), all, time.Hour); err != nil || len(changed)+len(cold) > 0 {
			b.Fatal(len(changed), len(cold), err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*guilds), "ns/guild")
}

// BenchmarkChangeManyGuilds has changes of different guilds meet, each of which is small and has waited for nothing before. It
// tells what Redis says of its own time for each of them too, in which there is no client.
func BenchmarkChangeManyGuilds(b *testing.B) {
	const guilds = 5000
	s := redisstore.New(connect(b, testenv.Redis(b).URL()), redisstore.Options{})
	for g := range guilds {
		loadGuild(b, s, guildNo(g), nth(1), nth(2), nth(3))
	}
	before := scriptTime(b, s)
	b.ReportAllocs()
	parallel(b, func(id.User) error {
		_, err := s.Change(b.Context(), guildNo(rand.IntN(guilds)), nth(2), leaderboard.Change{Op: leaderboard.Increment, Amount: 20})
		return err
	})
	b.ReportMetric((scriptTime(b, s)-before)*1000/float64(b.N), "redis-ns/op")
}

// scriptTime is how many µs Redis has spent in scripts.
func scriptTime(b *testing.B, s *redisstore.Store) float64 {
	b.Helper()
	info := s.Client().Info(b.Context(), "commandstats").Val()
	found := regexp.MustCompile(`cmdstat_evalsha:.*usec=(\d+)`).FindStringSubmatch(info)
	if found == nil {
		b.Fatal("Redis does not tell what scripts took")
	}
	usec, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		b.Fatal(err)
	}
	return usec
}
