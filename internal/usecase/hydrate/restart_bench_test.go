package hydrate_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/store"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/postgrestest"
	"levelboard/internal/testing/stores"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// BenchmarkRestart measures how long 5,000 guilds of 20 members take to load after Redis came back empty, 64 at once.
func BenchmarkRestart(b *testing.B) {
	const guilds, members, atOnce = 5000, 20, 64
	live, archive, hydrator, writer := benchmarked(b)
	rows := make([]snapshot.Row, members)
	for i := range rows {
		rows[i] = snapshot.Row{Member: leaderboard.Member{UserID: stores.User(i), XP: 100, User: leaderboard.User{Username: fmt.Sprintf("gopher%d", i)}}}
	}
	refs := make([]leaderboard.GuildRef, guilds)
	for i := range refs {
		refs[i] = putGuild(b, archive, id.Guild(fmt.Sprint(200000000000000000+i)))
		if err := writer.Import(b.Context(), refs[i], rows); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		b.StopTimer()
		for _, g := range refs {
			if err := live.Drop(b.Context(), g); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
		var loads errgroup.Group
		loads.SetLimit(atOnce)
		for _, g := range refs {
			loads.Go(func() error { return hydrator.Load(b.Context(), g) })
		}
		if err := loads.Wait(); err != nil {
			b.Fatal(err)
		}
	}
}

// benchmarked returns stores on servers, with the hydrator and the writer between them.
func benchmarked(b *testing.B) (*redisstore.Store, store.Archive, *hydrate.Hydrator, *snapshot.Writer) {
	client, err := redisconn.Connect(testenv.Redis(b).URL(), redisconn.ConnectOptions{Timeout: 30 * time.Second})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = client.Close() })
	log := slog.New(slog.DiscardHandler)
	live, archive := redisstore.New(client, redisstore.Options{}), postgrestest.Open(b, postgrestest.URL(b))
	hydrator := hydrate.New(live, archive, log)
	b.Cleanup(hydrator.Close)
	return live, archive, hydrator, snapshot.NewWriter(live, archive, hydrator, snapshot.WriterOptions{Holder: "bench", Interval: stores.Never, Log: log})
}

// putGuild creates a guild in the archive.
func putGuild(b *testing.B, archive store.Archive, gid id.Guild) leaderboard.GuildRef {
	settings, err := guild.Parse(gid, []byte(`{"name":"Gophers","memberCount":5,"ownerId":"200000000000000001"}`))
	if err != nil {
		b.Fatal(err)
	}
	g, _, err := archive.PutGuild(b.Context(), settings)
	if err != nil {
		b.Fatal(err)
	}
	return leaderboard.Ref(g)
}
