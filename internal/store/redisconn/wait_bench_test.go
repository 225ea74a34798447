package redisconn_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"levelboard/internal/store/redisconn"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// The cost of a change that waits for a replica, on the same machine here: one client, and 64 at once.
func BenchmarkChangeWaiting(b *testing.B) {
	const members = 10_000
	server, replica := testenv.Redis(b, testenv.WithConfig("repl-diskless-sync-delay 0")), testenv.Redis(b)
	rows := make([]snapshot.Row, members)
	for i := range rows {
		rows[i] = snapshot.Row{Member: leaderboard.Member{UserID: nth(i), User: leaderboard.User{Username: "user", Discriminator: "0"}}}
	}
	load(b, newBoard(connect(b, server.URL())), rows...)
	follow(b, direct(b, replica), server)
	for _, replicas := range []int{0, 1} {
		s := newBoard(connectWith(b, server.URL(), redisconn.ConnectOptions{
			Timeout: patience, Waiting: redisconn.Waiting{Replicas: replicas, Timeout: 400 * time.Millisecond},
		}))
		change := func() error {
			_, err := s.Change(b.Context(), guild1, nth(rand.IntN(members)), plusOne)
			return err
		}
		b.Run(fmt.Sprintf("replicas=%d/clients=1", replicas), func(b *testing.B) {
			for b.Loop() {
				if err := change(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("replicas=%d/clients=64", replicas), func(b *testing.B) {
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := change(); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}
