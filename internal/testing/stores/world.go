// Package stores is for tests of a live store and an archive together. Both are real, on servers or in the process, and a test can delay,
// interrupt or lose their calls. Tests of one store alone are in storetest.
package stores

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/id"
	"levelboard/internal/store"
	"levelboard/internal/store/embedded"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/postgrestest"
	"levelboard/internal/testing/sqlitetest"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/snapshot"
)

// Never is the interval of a writer that writes only when the test calls it.
const Never = time.Hour

// GuildA is a guild for tests that need one.
const GuildA id.Guild = "100000000000000001"

// Taken is how long a lease lasts that keeps other writers out. A lease that ends later is void.
const Taken = 19 * time.Second

// World is a live store and an archive, both real.
type World struct {
	*testing.T
	Redis   redis.UniversalClient
	Live    *redisstore.Store
	Archive store.Archive
	Logged  *testenv.Log
	Server  *testenv.RedisServer // nil unless Restorable
}

// Embedded returns a World on the in-process Redis and SQLite.
func Embedded(t *testing.T) *World {
	t.Helper()
	server, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return New(t, server.URL(), sqlitetest.Open(t))
}

// Servers returns a World on a Redis server and Postgres.
func Servers(t *testing.T) *World {
	t.Helper()
	return New(t, testenv.Redis(t).URL(), postgrestest.Open(t, postgrestest.URL(t)))
}

// New returns a World on the Redis at an address and the archive.
func New(t *testing.T, redisURL string, archive store.Archive) *World {
	t.Helper()
	client, err := redisconn.Connect(redisURL, redisconn.ConnectOptions{Timeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return &World{T: t, Redis: client, Live: redisstore.New(client, redisstore.Options{}), Archive: archive, Logged: &testenv.Log{}}
}

// OnBoth runs a test on each pair of stores.
func OnBoth(t *testing.T, test func(w *World)) {
	t.Run("embedded", func(t *testing.T) { test(Embedded(t)) })
	t.Run("servers", func(t *testing.T) { test(Servers(t)) })
}

// OnServers runs a test with a case for every step only on servers, because stores in the process cost ten times as much. storetest tests them.
func OnServers(t *testing.T, test func(w *World)) { test(Servers(t)) }

// Must ends the test on an error.
func (w *World) Must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// Logger writes to Logged.
func (w *World) Logger() *slog.Logger { return slog.New(slog.NewTextHandler(w.Logged, nil)) }

// Through returns both stores with calls that pass through f.
func (w *World) Through(f *Faults) (Live, Archive) {
	return faultyLive{w.Live, f}, faultyArchive{w.Archive, f}
}

// Writer returns a writer whose calls pass through f.
func (w *World) Writer(holder string, interval time.Duration, f *Faults) *snapshot.Writer {
	live, archive := w.Through(f)
	return snapshot.NewWriter(live, archive, w.Hydrator(f),
		snapshot.WriterOptions{Holder: holder, Interval: interval, Log: w.Logger()})
}

// Running runs a writer until stop is called.
func (w *World) Running(writer *snapshot.Writer) (stop func()) {
	ctx, cancel := context.WithCancel(w.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		writer.Run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// Hydrator returns a hydrator whose calls pass through f, and closes it when the test ends.
func (w *World) Hydrator(f *Faults) *hydrate.Hydrator {
	live, archive := w.Through(f)
	h := hydrate.New(live, archive, w.Logger())
	w.Cleanup(h.Close)
	return h
}

// Eventually is testenv.Wait that shows the log on a failure.
func (w *World) Eventually(what string, ok func() bool) {
	w.Helper()
	testenv.Wait(w, what, ok, w.Logged.String)
}

// EveryCall runs a case for the first call, the second call, and so on, until a case reaches no such call.
func EveryCall(t *testing.T, oneCase func(n int) (name string, fired bool)) {
	t.Helper()
	for n := 1; ; n++ {
		name, fired := oneCase(n)
		if t.Failed() {
			t.Fatalf("the case was %s", name)
		}
		if !fired {
			return
		}
	}
}

// Killed ends the lease of a killed writer, as its expiry would.
func (w *World) Killed(holder string) {
	w.Helper()
	l, err := w.Archive.AcquireLease(w.Context(), holder, Taken, false)
	w.Must(err)
	w.Must(w.Archive.ReleaseLease(context.WithoutCancel(w.Context()), l))
}
