// Package boards has helpers for tests with a board on Redis: of redisstore, and of redisconn, which checks connections by boards.
package boards

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

const (
	// Patience is for tests that do not test time. On a busy machine with the race detector large reads take seconds.
	Patience = 30 * time.Second
	// User1 is a member for tests that need one.
	User1 = id.User("200000000000000001")
	// Prefix begins the keys of Guild1.
	Prefix = "lb:{100000000000000001}:"
)

// Guild1 is a guild for tests that need one.
var Guild1 = leaderboard.GuildRef{ID: "100000000000000001", Incarnation: 77}

// PlusOne is a change whose kind does not matter.
var PlusOne = leaderboard.Change{Op: leaderboard.Increment, Amount: 1}

// GuildNo returns another guild than Guild1.
func GuildNo(n int) leaderboard.GuildRef {
	return leaderboard.GuildRef{ID: id.Guild(fmt.Sprintf("1%017d", n)), Incarnation: 77}
}

// Nth returns user n.
func Nth(n int) id.User { return id.User(fmt.Sprintf("2%017d", n)) }

// Row returns a member with 100 XP.
func Row(user id.User) snapshot.Row {
	return snapshot.Row{Member: leaderboard.Member{UserID: user, XP: 100}}
}

// OK ends the test on an error.
func OK(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// ConnectWith returns a client that is closed when the test ends.
func ConnectWith(tb testing.TB, url string, o redisconn.ConnectOptions) *redisconn.Client {
	tb.Helper()
	client, err := redisconn.Connect(url, o)
	OK(tb, err)
	tb.Cleanup(func() { _ = client.Close() })
	return client
}

// Connect returns a client that waits with Patience.
func Connect(tb testing.TB, url string) *redisconn.Client {
	tb.Helper()
	return ConnectWith(tb, url, redisconn.ConnectOptions{Timeout: Patience})
}

// Direct returns a plain go-redis client.
func Direct(tb testing.TB, server *testenv.RedisServer) *redis.Client {
	tb.Helper()
	options, err := redis.ParseURL(server.URL())
	OK(tb, err)
	if options.TLSConfig != nil {
		options.TLSConfig.InsecureSkipVerify = true
	}
	client := redis.NewClient(options)
	tb.Cleanup(func() { _ = client.Close() })
	return client
}

// Load hydrates Guild1.
func Load(tb testing.TB, s hydrate.Live, rows ...snapshot.Row) {
	tb.Helper()
	loadRows(tb, s, Guild1, rows)
}

// LoadGuild hydrates a guild with members of 100 XP each.
func LoadGuild(tb testing.TB, s hydrate.Live, g leaderboard.GuildRef, users ...id.User) {
	tb.Helper()
	var rows []snapshot.Row
	for _, u := range users {
		rows = append(rows, Row(u))
	}
	loadRows(tb, s, g, rows)
}

func loadRows(tb testing.TB, s hydrate.Live, g leaderboard.GuildRef, rows []snapshot.Row) {
	tb.Helper()
	h, _, err := s.BeginHydration(tb.Context(), g, snapshot.State{})
	OK(tb, err)
	OK(tb, s.LoadChunk(tb.Context(), h, rows))
	OK(tb, s.CommitHydration(tb.Context(), h, snapshot.State{Epoch: 1}))
}

// KeyTypes returns the types of all keys of the database.
func KeyTypes(tb testing.TB, client redis.UniversalClient) map[string]string {
	tb.Helper()
	types := map[string]string{}
	for _, key := range client.Keys(tb.Context(), "*").Val() {
		types[key] = client.Type(tb.Context(), key).Val()
	}
	return types
}

// ChangesOf reads up to size changes of a guild.
func ChangesOf(tb testing.TB, s snapshot.Live, g leaderboard.GuildRef, size int) snapshot.Batch {
	tb.Helper()
	p := s.ReadChanges(tb.Context(), []id.Guild{g.ID}, size)[0]
	OK(tb, p.Err)
	return p.Batch
}

// Ended ends a batch and reports whether more changes wait.
func Ended(tb testing.TB, s snapshot.Live, b snapshot.Batch) bool {
	tb.Helper()
	more, errs := s.EndChanges(tb.Context(), []snapshot.Batch{b})
	OK(tb, errs[0])
	return more[0]
}

// Nudged waits for a nudge.
func Nudged(tb testing.TB, nudges <-chan struct{}, when string) {
	tb.Helper()
	if _, open := testenv.Receive(tb, nudges, "a nudge comes "+when); !open {
		tb.Fatalf("the channel of nudges was closed %s, want a nudge", when)
	}
}

// DocumentedUser returns the Redis user of docs/security.md, as a line of redis.conf.
func DocumentedUser(tb testing.TB) string {
	tb.Helper()
	text, err := os.ReadFile("../../../docs/security.md")
	OK(tb, err)
	_, rest, found := strings.Cut(string(text), "<!-- acl: tested on a real server -->\n```\n")
	line, _, closed := strings.Cut(rest, "\n```")
	if !found || !closed || !strings.HasPrefix(line, "user levelboard on >PASSWORD ") || strings.Contains(line, "\n") {
		tb.Fatal("docs/security.md lacks the line of the user levelboard")
	}
	return line
}

// Log reads the events of Guild1 from a place on.
type Log struct {
	tb    testing.TB
	store events.Log
	at    events.ID
}

// LogFromStart returns a reader of all events.
func LogFromStart(tb testing.TB, s events.Log) *Log { return &Log{tb: tb, store: s} }

// LogOf returns a reader of the events from now on.
func LogOf(tb testing.TB, s events.Log) *Log {
	tb.Helper()
	x, err := s.Extent(tb.Context(), Guild1)
	OK(tb, err)
	return &Log{tb, s, x.Newest}
}

// Next returns the events since the last call, without their ids.
func (l *Log) Next() []events.Entry {
	l.tb.Helper()
	read, err := l.store.ReadEvents(l.tb.Context(), []events.Cursor{{Guild: Guild1, After: l.at}}, 1000)
	OK(l.tb, err)
	if n := len(read[0]); n > 0 {
		l.at = read[0][n-1].ID
	}
	for i := range read[0] {
		read[0][i].ID = events.ID{}
	}
	return read[0]
}
