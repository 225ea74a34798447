package redisstore_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"levelboard/internal/leaderboard"
	"levelboard/internal/level"
	"levelboard/internal/redisstore"
	"levelboard/internal/snapshot"
	"levelboard/internal/testenv"
)

const (
	// bareMembers and bareCooldown are what `levelboard bench --scenario messages` has.
	bareMembers  = 1_000_000
	bareCooldown = 10 * time.Second
)

// BenchmarkAwardBare is what the script takes when nothing but a client drives it: the floor under the messages endpoint.
// Each step is for so many different members with a message each. scripts/bench runs it beside the service.
func BenchmarkAwardBare(b *testing.B) {
	client := connect(b, testenv.Redis(b, testenv.WithConfig("appendonly yes", "appendfsync everysec")).URL())
	s := redisstore.New(client, redisstore.Options{})
	loadBare(b, s)
	for _, speakers := range []string{"zipf", "uniform"} {
		for _, chunk := range []int{1, 10, 100} {
			for _, goroutines := range []int{1, 4, 16} {
				b.Run(fmt.Sprintf("%s/chunk=%d/goroutines=%d", speakers, chunk, goroutines), func(b *testing.B) {
					calls, micros := evaluated(b, client)
					driveBare(b, s, speakers == "zipf", chunk, goroutines)
					b.StopTimer()
					calls2, micros2 := evaluated(b, client)
					b.ReportMetric(float64(b.N*chunk)/b.Elapsed().Seconds(), "members/s")
					b.ReportMetric((micros2-micros)/(calls2-calls), "µs/script")
				})
			}
		}
	}
}

func driveBare(b *testing.B, s *redisstore.Store, zipf bool, chunk, goroutines int) {
	var begun atomic.Int64
	var group sync.WaitGroup
	for range goroutines {
		group.Go(func() {
			r := rand.New(rand.NewPCG(rand.Uint64(), 0))
			few, seen := rand.NewZipf(r, 1.07, 20, bareMembers-1), map[int]bool{}
			a := leaderboard.Awards{Cooldown: bareCooldown, Members: make([]leaderboard.Award, chunk)}
			for begun.Add(1) <= int64(b.N) {
				clear(seen)
				for i := 0; i < chunk; {
					member := r.IntN(bareMembers)
					if zipf {
						member = int(few.Uint64())
					}
					if !seen[member] {
						seen[member] = true
						a.Members[i] = leaderboard.Award{User: benchUser(member), Offers: []level.XP{level.XP(15 + r.IntN(26))}}
						i++
					}
				}
				if _, _, err := s.Award(b.Context(), guild1, a); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
}

func loadBare(b *testing.B, s *redisstore.Store) {
	b.Helper()
	const piece = 5000
	h, _, err := s.BeginHydration(b.Context(), guild1, snapshot.State{})
	if err != nil {
		b.Fatal(err)
	}
	for first := 0; first < bareMembers; first += piece {
		rows := make([]snapshot.Row, piece)
		for i := range rows {
			member := first + i
			rows[i] = snapshot.Row{Member: leaderboard.Member{
				UserID: benchUser(member), XP: level.XP(member * 7919 % 5000), MessageCount: int64(member % 1000), LastUpdated: time.UnixMilli(1),
				User: leaderboard.User{Username: fmt.Sprintf("bench.member.%06d", member), Discriminator: "0"},
			}}
		}
		if err := s.LoadChunk(b.Context(), h, rows); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.CommitHydration(b.Context(), h, snapshot.State{Epoch: 1}); err != nil {
		b.Fatal(err)
	}
}

// evaluated is how many scripts the server has run, and for how long.
func evaluated(b *testing.B, client *redisstore.Client) (calls, micros float64) {
	b.Helper()
	info, err := client.Info(b.Context(), "commandstats").Result()
	if err != nil {
		b.Fatal(err)
	}
	_, line, _ := strings.Cut(info, "cmdstat_evalsha:")
	line, _, _ = strings.Cut(line, "\r\n")
	for field := range strings.SplitSeq(line, ",") {
		name, value, _ := strings.Cut(field, "=")
		number, _ := strconv.ParseFloat(value, 64)
		switch name {
		case "calls":
			calls = number
		case "usec":
			micros = number
		}
	}
	return calls, micros
}
