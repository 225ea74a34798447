package redisstore_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

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

// BenchmarkChangeManyGuilds has changes of different guilds meet, each of which is small and has waited for nothing before.
func BenchmarkChangeManyGuilds(b *testing.B) {
	const guilds = 5000
	s := redisstore.New(connect(b, testenv.Redis(b).URL()), redisstore.Options{})
	for g := range guilds {
		loadGuild(b, s, guildNo(g), nth(1), nth(2), nth(3))
	}
	b.ReportAllocs()
	parallel(b, func(id.User) error {
		_, err := s.Change(b.Context(), guildNo(rand.IntN(guilds)), nth(2), leaderboard.Change{Op: leaderboard.Increment, Amount: 20})
		return err
	})
}
