package snapshot_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/embedded"
	"levelboard/internal/store/postgres"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// never is an interval of a writer that writes only when a test says so.
const never = time.Hour

// taken is how long a lease lasts that keeps writers out; one that ends later is void.
const taken = 19 * time.Second

// world is a live store and an archive, both real.
type world struct {
	*testing.T
	redis   redis.UniversalClient
	live    *redisstore.Store
	archive storetest.ArchiveStore
	logged  *logged
}

// embeddedWorld is on the in-process Redis and SQLite.
func embeddedWorld(t *testing.T) *world {
	t.Helper()
	server, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return newWorld(t, server.URL(), storetest.SQLite(t))
}

// serverWorld is on a Redis server and Postgres.
func serverWorld(t *testing.T) *world {
	t.Helper()
	return newWorld(t, testenv.Redis(t).URL(), postgresArchive(t, testenv.Postgres(t)))
}

func postgresArchive(tb testing.TB, url string) *postgres.Archive {
	tb.Helper()
	a, err := postgres.Open(tb.Context(), url, nil, nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(a.Close)
	if err := a.Migrate(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return a
}

func newWorld(t *testing.T, redisURL string, archive storetest.ArchiveStore) *world {
	t.Helper()
	client, err := redisconn.Connect(redisURL, redisconn.ConnectOptions{Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return &world{T: t, redis: client, live: redisstore.New(client), archive: archive, logged: &logged{}}
}

// onBothStores runs a test on each pair of stores.
func onBothStores(t *testing.T, test func(w *world)) {
	t.Run("embedded", func(t *testing.T) { test(embeddedWorld(t)) })
	t.Run("servers", func(t *testing.T) { test(serverWorld(t)) })
}

// onServers is for tests with a case for every step: stores that are in this process cost ten times as much, and storetest is about those.
func onServers(t *testing.T, test func(w *world)) { test(serverWorld(t)) }

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) log() *slog.Logger { return slog.New(slog.NewTextHandler(w.logged, nil)) }

// writer returns a writer whose calls pass through f.
func (w *world) writer(holder string, interval time.Duration, f *faults) *snapshot.Writer {
	return snapshot.NewWriter(faultyLive{w.live, f}, faultyArchive{w.archive, f}, w.hydrator(f),
		snapshot.WriterOptions{Holder: holder, Interval: interval, Log: w.log()})
}

// running runs a writer until stop is called.
func (w *world) running(writer *snapshot.Writer) (stop func()) {
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

// hydrator returns a hydrator whose calls pass through f, and closes it when the test ends.
func (w *world) hydrator(f *faults) *snapshot.Hydrator {
	h := snapshot.NewHydrator(faultyLive{w.live, f}, faultyArchive{w.archive, f}, w.log())
	w.Cleanup(h.Close)
	return h
}

// guild creates a guild in the archive and loads it.
func (w *world) guild(g id.Guild) leaderboard.GuildRef {
	w.Helper()
	ref := leaderboard.Ref(storetest.PutGuild(w.T, w.archive, g))
	w.must(w.hydrator(&faults{}).Load(w.Context(), ref))
	return ref
}

func user(i int) id.User { return id.User(fmt.Sprintf("3%017d", i)) }

func (w *world) create(g leaderboard.GuildRef, i int, xp level.XP) {
	w.Helper()
	global, avatar, accent := fmt.Sprintf("Gopher %d", i), strings.Repeat("ab", 16), "#00add8"
	data := leaderboard.User{Discriminator: "0", Username: fmt.Sprintf("gopher%d", i)}
	if i%2 == 0 {
		data.GlobalName, data.Avatar, data.AccentColour = &global, &avatar, &accent
	}
	_, err := w.live.Create(w.Context(), g, user(i), leaderboard.Creation{XP: xp, User: data})
	w.must(err)
}

func (w *world) change(g leaderboard.GuildRef, i int, c leaderboard.Change) {
	w.Helper()
	_, err := w.live.Change(w.Context(), g, user(i), c)
	w.must(err)
}

// addToAll adds 1 XP to each of n members, several at a time.
func (w *world) addToAll(g leaderboard.GuildRef, n int) {
	w.Helper()
	var adding errgroup.Group
	adding.SetLimit(16)
	for i := range n {
		adding.Go(func() error {
			_, err := w.live.Change(w.Context(), g, user(i), leaderboard.Change{Op: leaderboard.Increment, Amount: 1})
			return err
		})
	}
	w.must(adding.Wait())
}

func (w *world) add(g leaderboard.GuildRef, i int) {
	w.Helper()
	w.change(g, i, leaderboard.Change{Op: leaderboard.Increment, Amount: 1})
}

func (w *world) remove(g leaderboard.GuildRef, i int) {
	w.Helper()
	_, err := w.live.Delete(w.Context(), g, user(i), leaderboard.Removal{})
	w.must(err)
}

// liveRows are the guild's members as Redis holds them, in the order of their ids, cooldowns included.
func (w *world) liveRows(g leaderboard.GuildRef) []snapshot.Row {
	w.Helper()
	p, err := w.live.Page(w.Context(), g, 0, 1_000_000, leaderboard.Digest{})
	w.must(err)
	entries := w.redis.HGetAll(w.Context(), "lb:{"+string(g.ID)+"}:entry").Val()
	rows := make([]snapshot.Row, len(p.Rows))
	for i, row := range p.Rows {
		rows[i].Member = row.Member
		if until, err := strconv.ParseInt(strings.Fields(entries[string(row.UserID)])[2], 10, 64); err != nil {
			w.Fatal(err)
		} else if until > 0 {
			rows[i].CooldownUntil = time.UnixMilli(until).UTC()
		}
	}
	slices.SortFunc(rows, func(a, b snapshot.Row) int { return strings.Compare(string(a.UserID), string(b.UserID)) })
	return rows
}

func (w *world) archivedRows(g leaderboard.GuildRef) []snapshot.Row {
	w.Helper()
	rows, err := w.archive.Members(w.Context(), g, "", 1_000_000)
	w.must(err)
	return rows
}

func (w *world) state(g leaderboard.GuildRef) snapshot.State {
	w.Helper()
	s, err := w.archive.State(w.Context(), g)
	w.must(err)
	return s
}

func (w *world) meta(g leaderboard.GuildRef, field string) string {
	w.Helper()
	s, err := w.redis.HGet(w.Context(), "lb:{"+string(g.ID)+"}:meta", field).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		w.Fatal(err)
	}
	return s
}

// inStep fails the test unless the archive holds exactly what Redis holds, and both agree on the rev.
func (w *world) inStep(g leaderboard.GuildRef) {
	w.Helper()
	live, archived := w.liveRows(g), w.archivedRows(g)
	if len(live) != len(archived) {
		w.Fatalf("%d members in Redis, %d in the archive", len(live), len(archived))
	}
	for i := range live {
		if !reflect.DeepEqual(live[i], archived[i]) {
			w.Fatalf("archived %+v\n live %+v", archived[i], live[i])
		}
	}
	v, err := w.live.Version(w.Context(), g)
	w.must(err)
	s := w.state(g)
	if got := w.meta(g, "archived"); got != fmt.Sprint(s.Archived) || s.Archived != v.Rev || s.Epoch != v.Epoch {
		w.Errorf("archived in meta %s, in the archive %+v, live %+v: want the same rev and epoch", got, s, v)
	}
	if !w.nothingWaits(g) || w.meta(g, "pending") != "" {
		w.Errorf("changes wait, or are on their way: pending is %q", w.meta(g, "pending"))
	}
}

// readChanges reads a page of the guild's changes.
func (w *world) readChanges(g leaderboard.GuildRef) snapshot.Page {
	return w.live.ReadChanges(w.Context(), []id.Guild{g.ID}, 100)[0]
}

// nothingWaits reports whether no change of the guild waits for a snapshot, nor is under way.
func (w *world) nothingWaits(g leaderboard.GuildRef) bool {
	w.Helper()
	return w.redis.ZCard(w.Context(), "lb:{"+string(g.ID)+"}:dirty").Val() <= 1 && w.redis.XLen(w.Context(), "lb:{"+string(g.ID)+"}:journal").Val() == 0
}

// eventually polls, without a fixed sleep that would have to be long enough.
func (w *world) eventually(what string, ok func() bool) {
	w.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); {
		if time.Now().After(deadline) {
			w.Fatalf("never happened: %s\n%s", what, w.logged)
		}
		time.Sleep(time.Millisecond)
	}
}

// everyCall runs a case that meets the first call of something, the second, and so on, until one met none.
func everyCall(t *testing.T, oneCase func(n int) (name string, fired bool)) {
	t.Helper()
	for n := 1; ; n++ {
		name, fired := oneCase(n)
		if t.Failed() {
			t.Fatal(name)
		}
		if !fired {
			return
		}
	}
}

// killed frees the lease of a writer that is no more, as its expiry would.
func (w *world) killed(holder string) {
	w.Helper()
	l, err := w.archive.AcquireLease(w.Context(), holder, taken, false)
	w.must(err)
	w.must(w.archive.ReleaseLease(context.WithoutCancel(w.Context()), l))
}

// logged is what was logged.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logged) count(s string) int { return strings.Count(l.String(), s) }
