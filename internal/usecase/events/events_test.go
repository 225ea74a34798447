package events

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
)

func TestMain(m *testing.M) { testenv.Main(m) }

var errAway = errors.New("away")

// memory is a Log of one guild. Every guild has its entries, except those that are away.
type memory struct {
	away    map[id.Guild]bool
	mu      sync.Mutex
	entries []Entry
	read    func()       // called after the next read
	uses    atomic.Int64 // uses of someGuild
}

func (m *memory) add(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for range n {
		m.entries = append(m.entries, Entry{ID: ID{1000, uint64(len(m.entries))}, After: 100})
	}
}

func (m *memory) newest() ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.entries[len(m.entries)-1].ID
}

func (m *memory) Extent(_ context.Context, g leaderboard.GuildRef) (Extent, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.away[g.ID] {
		return Extent{}, errAway
	}
	x := Extent{Now: time.UnixMilli(1000), Count: int64(len(m.entries))}
	if x.Count > 0 {
		x.Oldest, x.Newest = m.entries[0].ID, m.entries[x.Count-1].ID
	}
	return x, nil
}

func (m *memory) ReadEvents(_ context.Context, from []Cursor, limit int64) ([][]Entry, error) {
	m.mu.Lock()
	defer func() {
		then := m.read
		m.read = nil
		m.mu.Unlock()
		if then != nil {
			then()
		}
	}()
	read, err := make([][]Entry, len(from)), error(nil)
	for i, c := range from {
		if m.away[c.Guild.ID] {
			err = errAway
			continue
		}
		for _, e := range m.entries {
			if e.ID.Compare(c.After) > 0 && int64(len(read[i])) < limit {
				read[i] = append(read[i], e)
			}
		}
	}
	return read, err
}

func (m *memory) Version(context.Context, *guild.Guild) (leaderboard.Version, error) {
	return leaderboard.Version{}, nil
}

// feed returns a Feed on m that is not running.
func (m *memory) feed() *Feed {
	return NewFeed(m, m, FeedOptions{
		interval: time.Millisecond, Log: slog.New(slog.DiscardHandler),
		Used: func(g id.Guild) {
			if g == someGuild.ID {
				m.uses.Add(1)
			}
		},
	})
}

// start runs a Feed on m until the test ends.
func (m *memory) start(t *testing.T) *Feed {
	f := m.feed()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return f
}

var someGuild = &guild.Guild{Incarnation: 1}

// next returns the next entries.
func next(t *testing.T, f *Follower) []Entry {
	t.Helper()
	got, err := f.Next(t.Context(), time.Now().Add(20*time.Second))
	if err != nil || len(got) == 0 {
		t.Fatalf("the follower got %d entries (%v), want some", len(got), err)
	}
	return got
}

func follow(t *testing.T, f *Feed, after *ID) *Follower {
	t.Helper()
	follower, err := f.Follow(t.Context(), someGuild, after)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(follower.Leave)
	return follower
}

// A follower gets all entries after its start, each once, wherever it starts, while others follow and events come.
func TestEachEntryComesOnce(t *testing.T) {
	m := &memory{}
	m.add(3 * readAtOnce)
	f := m.start(t)
	const all = 10 * readAtOnce
	var group sync.WaitGroup
	group.Go(func() {
		for range (all - 3*readAtOnce) / 10 {
			m.add(10)
		}
	})
	for i := range 8 {
		after := ID{1000, uint64(i * 200)}
		follower := follow(t, f, &after)
		group.Go(func() {
			for want := after.Number + 1; want < all; {
				got, err := follower.Next(t.Context(), time.Now().Add(20*time.Second))
				if err != nil || len(got) == 0 {
					t.Errorf("before entry %d the follower got %d entries (%v)", want, len(got), err)
					return
				}
				for _, e := range got {
					if e.ID.Number != want {
						t.Errorf("the follower got entry %v, want %d", e.ID, want)
						return
					}
					want++
				}
			}
		})
	}
	group.Wait()
}

// A follower does not lose what the feed sends while the follower reads the log.
func TestNothingIsLostBetweenReadingAndFollowing(t *testing.T) {
	m := &memory{}
	m.add(2)
	f := m.feed()
	late := follow(t, f, &ID{1000, 0})
	m.read = func() {
		m.add(1)
		if _, err := f.look(t.Context(), f.places()); err != nil {
			t.Error(err)
		}
	}
	for want := range uint64(2) {
		if got := next(t, late); len(got) != 1 || got[0].ID.Number != want+1 {
			t.Errorf("the follower got %v, want only entry %d", got, want+1)
		}
	}
}

// A follower with an id ahead of the log starts at the log's end, and so do later followers.
func TestAnIDAheadOfTheLogStartsAtItsEnd(t *testing.T) {
	m := &memory{}
	m.add(1)
	f := m.start(t)
	ahead := follow(t, f, &ID{1000, 5})
	if _, err := ahead.Next(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	other := follow(t, f, nil)
	m.add(1)
	for _, follower := range []*Follower{ahead, other} {
		if got := next(t, follower); got[0].ID.Number != 1 {
			t.Errorf("the follower got %v first, want entry 1", got[0].ID)
		}
	}
}

// A follower that does not read is dropped, and the others continue.
func TestASlowFollowerIsDropped(t *testing.T) {
	m := &memory{}
	m.add(1)
	f := m.start(t)
	slow, quick := follow(t, f, nil), follow(t, f, nil)
	m.add(1)
	next(t, slow)
	next(t, quick)
	for range maxWaiting + 2 {
		m.add(1)
		next(t, quick)
	}
	if _, err := slow.Next(t.Context(), time.Now().Add(time.Minute)); !errors.Is(err, ErrSlow) {
		t.Errorf("the slow follower got %v, want ErrSlow", err)
	}
	at := slow.At()
	m.add(1)
	if got := next(t, follow(t, f, &at)); got[0].ID.Number != at.Number+1 {
		t.Errorf("after %v the follower got %v, want the next entry", at, got[0].ID)
	}
	next(t, quick)
}

// A guild whose log cannot be read keeps its place, and the events of other guilds are sent.
func TestAGuildWhoseLogIsAwayHoldsUpNoOther(t *testing.T) {
	m := &memory{}
	m.add(1)
	f := m.start(t)
	away := &guild.Guild{Settings: guild.Settings{ID: "100000000000000009"}, Incarnation: 1}
	held, err := f.Follow(t.Context(), away, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Leave()
	follower := follow(t, f, nil)
	for range 2 { // from the second on the feed sends the entries
		m.add(1)
		for _, each := range []*Follower{held, follower} {
			for each.At() != m.newest() {
				next(t, each)
			}
		}
	}
	m.mu.Lock()
	m.away = map[id.Guild]bool{away.ID: true}
	m.mu.Unlock()
	if _, err := f.Follow(t.Context(), away, nil); !fault.Is(err, fault.Unavailable) {
		t.Errorf("following a guild whose log is away: %v, want fault.Unavailable", err)
	}
	m.add(1)
	next(t, follower)
	at := held.At()
	if got, err := held.Next(t.Context(), time.Now().Add(10*time.Millisecond)); err != nil || len(got) > 0 {
		t.Errorf("while the log is away the follower got %v (%v), want nothing", got, err)
	}
	m.mu.Lock()
	m.away = nil
	m.mu.Unlock()
	if got := next(t, held); got[0].ID.Compare(at) <= 0 {
		t.Errorf("after %v the follower got %v, want a later entry", at, got[0].ID)
	}
}

func TestACloseEndsAllFollowers(t *testing.T) {
	m := &memory{}
	f := m.start(t)
	var follower *Follower
	t.Run("one who follows and leaves", func(t *testing.T) { follower = follow(t, f, nil) })
	if len(f.guilds) != 0 {
		t.Error("the feed still has a guild that nobody follows")
	}
	f.Close()
	if _, err := follower.Next(t.Context(), time.Now().Add(time.Minute)); !errors.Is(err, errClosed) {
		t.Errorf("after the close the follower got %v, want errClosed", err)
	}
	if _, err := f.Follow(t.Context(), someGuild, nil); !fault.Is(err, fault.Unavailable) {
		t.Errorf("following after the close: %v, want fault.Unavailable", err)
	}
}

func TestALogKnowsWhatItMisses(t *testing.T) {
	const now = 10_000_000_000
	hour := uint64(keptFor.Milliseconds())
	some := Extent{Now: time.UnixMilli(now), Count: 5, Oldest: ID{now - 500, 3}, Newest: ID{now - 10, 0}}
	full := some
	full.Count = KeptEvents
	none := Extent{Now: time.UnixMilli(now)}
	for _, c := range []struct {
		name   string
		extent Extent
		after  ID
		misses bool
	}{
		{"the oldest that is kept", full, ID{now - 500, 3}, false},
		{"just before the oldest of a full log", full, ID{now - 500, 2}, true},
		{"just before the oldest of a log with room", some, ID{now - 500, 2}, false},
		{"an hour before", some, ID{now - hour, 0}, true},
		{"a little less than an hour before", some, ID{now - hour + 1, 0}, false},
		{"the newest", some, some.Newest, false},
		{"after the newest, before now", some, ID{now - 1, 0}, false},
		{"ahead", some, ID{now + 1, 0}, true},
		{"nothing is kept, a minute ago", none, ID{now - 60_000, 0}, false},
		{"nothing is kept, an hour ago", none, ID{now - hour, 0}, true},
		{"nothing is kept, where it ends", none, none.end(), false},
		{"the greatest id", some, ID{1<<64 - 1, 1<<64 - 1}, true},
	} {
		if got := c.extent.misses(c.after); got != c.misses {
			t.Errorf("%s: misses is %v, want %v", c.name, got, c.misses)
		}
	}
}

func TestIDsAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := ID{rapid.Uint64().Draw(t, "millis"), rapid.Uint64().Draw(t, "number")}
		if got, err := ParseID(id.String()); got != id || err != nil {
			t.Errorf("the id %v is read as %v (%v)", id, got, err)
		}
		if b := id.before(); id != (ID{}) && b.Compare(id) >= 0 {
			t.Errorf("before of %v is %v, want a smaller id", id, b)
		}
	})
	for _, text := range []string{"", "-", "1", "1-", "-1", "01-1", "1-01", "+1-1", "1-1 ", "1-1-1", "18446744073709551616-0", "a-b"} {
		if _, err := ParseID(text); err == nil {
			t.Errorf("%q is accepted as an id", text)
		}
	}
}

// A guild stays in use while it is followed, even without events.
func TestAFollowedGuildIsUsed(t *testing.T) {
	m := &memory{}
	follow(t, m.start(t), nil)
	testenv.Wait(t, "five uses", func() bool { return m.uses.Load() >= 5 })
}
