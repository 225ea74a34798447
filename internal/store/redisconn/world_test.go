package redisconn_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/embedded"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// What promises hold for connections shows on boards, so these tests have a store on them.

// patience is for tests that are not about time: on a busy machine, under the race detector, large reads take seconds.
const patience = 30 * time.Second

func TestMain(m *testing.M) { testenv.Main(m) }

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually polls until ok, without a fixed sleep that would have to be long enough.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never happened: %s", what)
		}
	}
}

func connect(tb testing.TB, url string) *redisconn.Client {
	tb.Helper()
	return connectWith(tb, url, redisconn.ConnectOptions{Timeout: patience})
}

func connectWith(tb testing.TB, url string, o redisconn.ConnectOptions) *redisconn.Client {
	tb.Helper()
	client, err := redisconn.Connect(url, o)
	ok(tb, err)
	tb.Cleanup(func() { _ = client.Close() })
	return client
}

// direct is a client without any of ours.
func direct(t testing.TB, server *testenv.RedisServer) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(server.URL())
	ok(t, err)
	if options.TLSConfig != nil {
		options.TLSConfig.InsecureSkipVerify = true
	}
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// onBothRedis runs the test on a Redis process and on the embedded one.
func onBothRedis(t *testing.T, test func(t *testing.T, client *redisconn.Client)) {
	t.Run("redis", func(t *testing.T) { test(t, connect(t, testenv.Redis(t).URL())) })
	t.Run("embedded", func(t *testing.T) {
		server, err := embedded.StartRedis()
		ok(t, err)
		t.Cleanup(server.Close)
		test(t, connect(t, server.URL()))
	})
}

// board is a store and the client that it is on.
type board struct {
	*redisstore.Store
	client *redisconn.Client
}

func newBoard(client *redisconn.Client) *board {
	return &board{redisstore.New(client, redisstore.Options{}), client}
}

// Ping is nil for a server that answers and takes changes.
func (b *board) Ping(ctx context.Context) error { return b.client.Alive(ctx) }

// Hold and Waiting are those of the one server's queue.
func (b *board) Hold() (release func())        { return b.client.Hold() }
func (b *board) Waiting() (calls, senders int) { return b.client.Waiting() }

const (
	user1  = id.User("200000000000000001")
	prefix = "lb:{100000000000000001}:"
)

var guild1 = leaderboard.GuildRef{ID: "100000000000000001", Incarnation: 77}

// guildNo is a guild besides guild1.
func guildNo(n int) leaderboard.GuildRef {
	return leaderboard.GuildRef{ID: id.Guild(fmt.Sprintf("1%017d", n)), Incarnation: 77}
}

func nth(n int) id.User { return id.User(fmt.Sprintf("2%017d", n)) }

func row(user id.User) snapshot.Row {
	return snapshot.Row{Member: leaderboard.Member{UserID: user, XP: 100}}
}

// load hydrates guild1.
func load(tb testing.TB, s hydrate.Live, rows ...snapshot.Row) {
	tb.Helper()
	loadRows(tb, s, guild1, rows)
}

// loadGuild hydrates a guild with members that have 100 XP.
func loadGuild(tb testing.TB, s hydrate.Live, g leaderboard.GuildRef, users ...id.User) {
	tb.Helper()
	var rows []snapshot.Row
	for _, u := range users {
		rows = append(rows, row(u))
	}
	loadRows(tb, s, g, rows)
}

func loadRows(tb testing.TB, s hydrate.Live, g leaderboard.GuildRef, rows []snapshot.Row) {
	tb.Helper()
	h, _, err := s.BeginHydration(tb.Context(), g, snapshot.State{})
	ok(tb, err)
	ok(tb, s.LoadChunk(tb.Context(), h, rows))
	ok(tb, s.CommitHydration(tb.Context(), h, snapshot.State{Epoch: 1}))
}

var plusOne = plus(1)

func plus(n level.XP) leaderboard.Change {
	return leaderboard.Change{Op: leaderboard.Increment, Amount: n}
}

// named is plusOne under an idempotency key.
func named(key string) leaderboard.Change {
	c := plusOne
	c.Once = leaderboard.Once{Key: leaderboard.DigestOf([]byte(key)), Request: leaderboard.DigestOf([]byte("plus one"))}
	return c
}

// keyTypes lists all keys of the database with their types.
func keyTypes(t *testing.T, client redis.UniversalClient) map[string]string {
	t.Helper()
	types := map[string]string{}
	for _, key := range client.Keys(t.Context(), "*").Val() {
		types[key] = client.Type(t.Context(), key).Val()
	}
	return types
}

// log reads a guild's events from a place on.
type log struct {
	t     *testing.T
	store events.Log
	at    events.ID
}

func logOf(t *testing.T, s events.Log) *log {
	t.Helper()
	x, err := s.Extent(t.Context(), guild1)
	ok(t, err)
	return &log{t, s, x.Newest}
}

func (l *log) next() []events.Entry {
	l.t.Helper()
	read, err := l.store.ReadEvents(l.t.Context(), []events.Cursor{{Guild: guild1, After: l.at}}, 1000)
	ok(l.t, err)
	if n := len(read[0]); n > 0 {
		l.at = read[0][n-1].ID
	}
	for i := range read[0] {
		read[0][i].ID = events.ID{}
	}
	return read[0]
}

func documentedUser(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/security.md")
	ok(t, err)
	_, rest, found := strings.Cut(string(text), "<!-- acl: tested on a real server -->\n```\n")
	line, _, closed := strings.Cut(rest, "\n```")
	if !found || !closed || !strings.HasPrefix(line, "user levelboard on >PASSWORD ") || strings.Contains(line, "\n") {
		t.Fatal("docs/security.md has no user")
	}
	return line
}

// changesOf reads a page of a guild's changes.
func changesOf(t *testing.T, s *board, g leaderboard.GuildRef) snapshot.Batch {
	t.Helper()
	p := s.ReadChanges(t.Context(), []id.Guild{g.ID}, 10)[0]
	ok(t, p.Err)
	return p.Batch
}

// ended ends a batch and says whether more waits.
func ended(t *testing.T, s *board, b snapshot.Batch) bool {
	t.Helper()
	more, errs := s.EndChanges(t.Context(), []snapshot.Batch{b})
	ok(t, errs[0])
	return more[0]
}

func nudged(t *testing.T, nudges <-chan struct{}, when string) {
	t.Helper()
	select {
	case _, open := <-nudges:
		if !open {
			t.Fatalf("the channel is closed %s", when)
		}
	case <-time.After(20 * time.Second):
		t.Fatalf("no nudge %s", when)
	}
}
