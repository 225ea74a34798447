package redisstore_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

const (
	// bareMembers and bareCooldown are what `levelboard-bench --scenario messages` has.
	bareMembers  = 1_000_000
	bareCooldown = 10 * time.Second
)

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
