package stores

import (
	"fmt"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/postgres"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// OpenServers starts a Postgres server that waits for its disk, and a Redis server.
func OpenServers(b *testing.B) (*postgres.Archive, *redisconn.Client) {
	b.Helper()
	client, err := redisconn.Connect(testenv.Redis(b).URL(), redisconn.ConnectOptions{Timeout: 10 * time.Second})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = client.Close() })
	return Postgres(b, testenv.PostgresServer(b, testenv.WithDurableCommits()).URL()), client
}

// FillArchive creates a guild of that many members.
func FillArchive(b *testing.B, a *postgres.Archive, size int) leaderboard.GuildRef {
	b.Helper()
	settings, err := guild.Parse(GuildA, []byte(`{"name":"Gophers","memberCount":5,"ownerId":"200000000000000001"}`))
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
					UserID: User(i), XP: level.XP(i * 7919 % 10_000_019), MessageCount: int64(i), LastUpdated: at,
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
