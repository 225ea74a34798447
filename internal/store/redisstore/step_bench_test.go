package redisstore_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// stepKinds make steps for the members of p; of an award each has a message, which is worth as much XP.
var stepKinds = map[string]func(b *testing.B, s *redisstore.Store, p leaderboard.Puts) error{
	"set": putStep(leaderboard.PutSet),
	"add": putStep(leaderboard.PutAdd),
	"award": func(b *testing.B, s *redisstore.Store, p leaderboard.Puts) error {
		a := leaderboard.Awards{Curve: p.Curve, Days: p.Days, Once: p.Once, Members: make([]leaderboard.Award, len(p.Members))}
		for i, m := range p.Members {
			a.Members[i] = leaderboard.Award{User: m.User, Data: m.Data, Offers: []level.XP{m.XP}}
		}
		_, _, err := s.Award(b.Context(), guild1, a)
		return err
	},
}

func putStep(mode leaderboard.PutMode) func(b *testing.B, s *redisstore.Store, p leaderboard.Puts) error {
	return func(b *testing.B, s *redisstore.Store, p leaderboard.Puts) error {
		p.Mode = mode
		_, _, err := s.Put(b.Context(), guild1, p)
		return err
	}
}

// BenchmarkStep is how long a step of a hundred members blocks the server, medians and minima, in turn with the bare commands that no such step
// does without: two that read them, and three that write them. It is without the time of a round trip, and with nothing else under way.
func BenchmarkStep(b *testing.B) {
	for _, members := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("members=%d", members), func(b *testing.B) {
			server := testenv.Redis(b, testenv.WithConfig("appendonly yes", "appendfsync everysec"))
			s := redisstore.New(connect(b, server.URL()), redisstore.Options{})
			client := direct(b, server) // as ours makes no transactions
			loadBare(b, s, members)
			turn := 0
			for _, kind := range []string{"set", "add", "award"} {
				for _, with := range []string{"nothing", "everything"} {
					b.Run("step="+kind+"/with="+with, func(b *testing.B) {
						benchmarkStep(b, s, client, &stepper{kind, with == "everything", members, &turn})
					})
				}
			}
		})
	}
}

// stepper says which members are in a step, and what else is.
type stepper struct {
	kind    string
	all     bool // it brings all that a step can
	members int  // of the board
	turn    *int // how many steps there were
}

func benchmarkStep(b *testing.B, s *redisstore.Store, client *redis.Client, of *stepper) {
	entry := client.HGet(b.Context(), prefix+"entry", string(bareUser(0))).Val()
	var steps, bare []float64
	for b.Loop() {
		ok(b, client.ZRemRangeByRank(b.Context(), prefix+"dirty", 1, -1).Err()) // as after a snapshot
		step := of.next(of.kind)
		steps = append(steps, took(b, client, "evalsha", func() error { return stepKinds[of.kind](b, s, step) }))
		commands := bareStep(b, entry, of.next("set"))
		bare = append(bare, took(b, client, "exec", func() error {
			_, err := client.TxPipelined(b.Context(), commands)
			return err
		}))
	}
	slices.Sort(steps)
	slices.Sort(bare)
	b.ReportMetric(steps[len(steps)/2], "µs/step")
	b.ReportMetric(steps[0], "min-µs/step")
	b.ReportMetric(bare[len(bare)/2], "bare-µs/step")
	b.ReportMetric(bare[0], "min-bare-µs/step")
}

// next are other members than before, who get as much XP as messages are worth, or have XP set, nearly all of another level.
func (s *stepper) next(kind string) leaderboard.Puts {
	*s.turn++
	p := leaderboard.Puts{Members: make([]leaderboard.Put, leaderboard.MaxAwards)}
	for i := range p.Members {
		at := *s.turn*len(p.Members) + i
		m := leaderboard.Put{User: bareUser(at * 7919 % s.members), XP: level.XP(15 + rand.IntN(26))}
		if kind == "set" {
			m.XP = level.XP(1 + rand.IntN(4999))
		}
		if s.all {
			m.Data = &leaderboard.User{Username: fmt.Sprintf("member.%d.%d", *s.turn, i), Discriminator: "0"}
		}
		p.Members[i] = m
	}
	if s.all {
		p.Curve, p.Days = &level.Curve{}, countedDays()
		p.Audit = &audit.Entry{By: audit.By{RequestID: strings.Repeat("r", 32)}, Action: audit.Bulk}
		p.Once = leaderboard.Once{Key: leaderboard.DigestOf(fmt.Append(nil, *s.turn)), Part: 1} // the first part makes a claim before
	}
	return p
}

// bareStep are the commands that read the members, and write their XP, an entry of the usual size, and their notes for the snapshot.
func bareStep(b *testing.B, entry string, p leaderboard.Puts) func(redis.Pipeliner) error {
	var users []string
	var scores, noted []redis.Z
	var entries []any
	for _, m := range p.Members {
		users = append(users, string(m.User))
		scores = append(scores, redis.Z{Score: float64(m.XP), Member: string(m.User)})
		noted = append(noted, redis.Z{Score: 1, Member: string(m.User)})
		entries = append(entries, string(m.User), entry)
	}
	return func(pipe redis.Pipeliner) error {
		ctx := b.Context()
		pipe.ZMScore(ctx, prefix+"xp", users...)
		pipe.HMGet(ctx, prefix+"entry", users...)
		pipe.ZAdd(ctx, prefix+"xp", scores...)
		pipe.HSet(ctx, prefix+"entry", entries...)
		pipe.ZAddNX(ctx, prefix+"dirty", noted...)
		return nil
	}
}

// took is for how many microseconds the server ran a command, once, in call.
func took(b *testing.B, client redis.UniversalClient, command string, call func() error) float64 {
	calls, before := commandTime(b, client, command)
	ok(b, call())
	calls2, after := commandTime(b, client, command)
	if calls2 != calls+1 {
		b.Fatalf("%v runs of %s, want one", calls2-calls, command)
	}
	return after - before
}

// bareUser is a member's id.
func bareUser(member int) id.User { return id.User(strconv.Itoa(9_100_000_000_000_000_000 + member)) }

func loadBare(b *testing.B, s *redisstore.Store, members int) {
	b.Helper()
	const piece = 5000
	h, _, err := s.BeginHydration(b.Context(), guild1, snapshot.State{})
	if err != nil {
		b.Fatal(err)
	}
	for first := 0; first < members; first += piece {
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

// commandTime is how often the server has run a command, and for how long.
func commandTime(b *testing.B, client redis.UniversalClient, command string) (calls, micros float64) {
	b.Helper()
	info, err := client.Info(b.Context(), "commandstats").Result()
	ok(b, err)
	_, line, _ := strings.Cut(info, "cmdstat_"+command+":")
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
