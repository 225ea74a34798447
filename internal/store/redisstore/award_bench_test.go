package redisstore_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

const (
	// bareMembers and bareCooldown are what `levelboard-bench --scenario messages` has.
	bareMembers  = 1_000_000
	bareCooldown = 10 * time.Second
)

// BenchmarkAwardBare is what the script takes when nothing but a client drives it: the floor under the messages endpoint.
// Each step is for so many different members with a message each.
func BenchmarkAwardBare(b *testing.B) {
	client := connect(b, testenv.Redis(b, testenv.WithConfig("appendonly yes", "appendfsync everysec")).URL())
	s := redisstore.New(client)
	loadBare(b, s)
	for _, speakers := range []string{"zipf", "uniform"} {
		for _, chunk := range []int{1, 10, 100} {
			for _, goroutines := range []int{1, 4, 16} {
				b.Run(fmt.Sprintf("%s/chunk=%d/goroutines=%d", speakers, chunk, goroutines), func(b *testing.B) {
					calls, micros := evaluated(b, client)
					driveBare(b, s, speakers == "zipf", chunk, goroutines)
					calls2, micros2 := evaluated(b, client)
					b.ReportMetric(float64(b.N*chunk)/b.Elapsed().Seconds(), "members/s")
					b.ReportMetric((micros2-micros)/(calls2-calls), "µs/script")
				})
			}
		}
	}
}

func driveBare(b *testing.B, s *redisstore.Store, zipf bool, chunk, goroutines int) {
	spread(b, goroutines, func(goroutine int) func() error {
		r := rand.New(rand.NewPCG(uint64(goroutine), 0))
		few, seen := rand.NewZipf(r, 1.07, 20, bareMembers-1), map[int]bool{}
		a := leaderboard.Awards{Cooldown: bareCooldown, Members: make([]leaderboard.Award, chunk)}
		return func() error {
			clear(seen)
			for i := 0; i < chunk; {
				member := r.IntN(bareMembers)
				if zipf {
					member = int(few.Uint64())
				}
				if !seen[member] {
					seen[member] = true
					a.Members[i] = leaderboard.Award{User: bareUser(member), Offers: []level.XP{level.XP(15 + r.IntN(26))}}
					i++
				}
			}
			_, _, err := s.Award(b.Context(), guild1, a)
			return err
		}
	})
}

// spread calls what start returns b.N times over the goroutines.
func spread(b *testing.B, goroutines int, start func(goroutine int) func() error) {
	var begun atomic.Int64
	var group sync.WaitGroup
	for goroutine := range goroutines {
		group.Go(func() {
			call := start(goroutine)
			for begun.Add(1) <= int64(b.N) {
				if err := call(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	b.StopTimer()
}

// bareUser is a member's id.
func bareUser(member int) id.User { return id.User(strconv.Itoa(9_100_000_000_000_000_000 + member)) }

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
				UserID: bareUser(member), XP: level.XP(member * 7919 % 5000), MessageCount: int64(member % 1000), LastUpdated: time.UnixMilli(1),
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
func evaluated(b *testing.B, client *redisconn.Client) (calls, micros float64) {
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

// BenchmarkPutBare is BenchmarkAwardBare for steps of a hundred members who are put, all else at once that a step may bring: user data, a name, the audit
// log, boards of periods that are read, and a change of level of each member.
func BenchmarkPutBare(b *testing.B) {
	client := connect(b, testenv.Redis(b, testenv.WithConfig("appendonly yes", "appendfsync everysec", "slowlog-log-slower-than 50", "slowlog-max-len 4096")).URL())
	s := redisstore.New(client)
	loadBare(b, s)
	next := 0
	for _, mode := range leaderboard.PutModes {
		for _, with := range []string{"nothing", "data", "levels", "name", "periods", "everything"} {
			b.Run(fmt.Sprintf("mode=%s/with=%s", mode, with), func(b *testing.B) { next = benchmarkPut(b, client, s, putStep{mode, with, next}) })
		}
	}
}

// putStep is what the steps of a benchmark bring, and how many members were put before.
type putStep struct {
	mode leaderboard.PutMode
	with string
	next int
}

// benchmarkPut puts 20,000 members in turn, each time with more XP, so that every step changes all of its members, and returns how many were put.
func benchmarkPut(b *testing.B, client *redisconn.Client, s *redisstore.Store, step putStep) int {
	b.Helper()
	const chunk, few = 100, 20_000
	mode, with, next := step.mode, step.with, step.next
	all := with == "everything"
	p := leaderboard.Puts{Mode: mode, Members: make([]leaderboard.Put, chunk)}
	if with == "levels" || all {
		p.Curve = &level.Curve{}
	}
	if with == "periods" || all {
		p.Days = countedDays()
		beginCounts(b, s)
	}
	put := func() error {
		for i := range p.Members {
			next++
			m := leaderboard.Put{User: bareUser(next % few * 7919 % bareMembers), XP: level.XP(1 + next*7%4999 + 5000*(next/few))}
			if with == "data" || all {
				m.Data = &leaderboard.User{Username: fmt.Sprintf("member.%d", next), Discriminator: "0"}
			}
			p.Members[i] = m
		}
		if with == "name" || all {
			p.Once = leaderboard.Once{Key: leaderboard.DigestOf(fmt.Append(nil, with, mode, next)), Request: leaderboard.DigestOf(nil)}
		}
		_, _, err := s.Put(b.Context(), guild1, p)
		return err
	}
	ok(b, client.Do(b.Context(), "slowlog", "reset").Err())
	before := serverCPU(b, client)
	spread(b, 1, func(int) func() error { return put })
	b.ReportMetric(float64(b.N*chunk)/b.Elapsed().Seconds(), "members/s")
	b.ReportMetric((serverCPU(b, client)-before)/float64(b.N), "cpu-µs/step")
	var steps []float64
	for _, entry := range client.SlowLogGet(b.Context(), -1).Val() {
		if entry.Args[0] == "evalsha" {
			steps = append(steps, float64(entry.Duration.Microseconds()))
		}
	}
	slices.Sort(steps)
	b.ReportMetric(steps[len(steps)/2], "µs/step")
	b.ReportMetric(steps[len(steps)/10], "p10-µs/step")
	return next
}

// serverCPU is how many microseconds the server's main thread has worked, whatever else the machine does.
func serverCPU(b *testing.B, client *redisconn.Client) (micros float64) {
	b.Helper()
	info, err := client.Info(b.Context(), "cpu").Result()
	ok(b, err)
	for line := range strings.Lines(info) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), ":"); found && strings.HasSuffix(name, "_main_thread") {
			seconds, err := strconv.ParseFloat(value, 64)
			ok(b, err)
			micros += seconds * 1e6
		}
	}
	return micros
}
