package watch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
)

func TestMain(m *testing.M) { testenv.Main(m) }

var (
	someGuild  = &guild.Guild{Settings: guild.Settings{ID: "100000000000000001"}, Incarnation: 1}
	otherGuild = &guild.Guild{Settings: guild.Settings{ID: "100000000000000002"}, Incarnation: 2}
	errBroken  = errors.New("broken on demand")
)

// memory is a Board on which page n has one member, whose XP is what the test says.
type memory struct {
	mu      sync.Mutex
	looked  *sync.Cond // on mu
	rev     int64
	xp      map[int64]level.XP
	err     error
	looks   int // calls of View
	read    int // pages that it read
	looking func(g *guild.Guild)
}

func newMemory() *memory {
	m := &memory{xp: map[int64]level.XP{}}
	m.looked = sync.NewCond(&m.mu)
	return m
}

func (m *memory) set(page int64, xp level.XP) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rev++
	m.xp[page] = xp
}

func (m *memory) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = err
}

func (m *memory) counts() (looks, read int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.looks, m.read
}

func (m *memory) View(_ context.Context, g *guild.Guild, look leaderboard.Look) (leaderboard.View, error) {
	m.mu.Lock()
	looking := m.looking
	m.mu.Unlock()
	if looking != nil {
		looking(g)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.looks++
	m.looked.Broadcast()
	if len(look.Pages) > leaderboard.MaxViewPages {
		return leaderboard.View{}, fmt.Errorf("%d pages", len(look.Pages))
	}
	v := leaderboard.View{Version: leaderboard.Version{Epoch: 1, Rev: m.rev}, Total: 1000}
	if look.Unless != nil && *look.Unless == v.Version {
		v.Unchanged = true
		return v, m.err
	}
	for _, number := range look.Pages {
		m.read++
		row := leaderboard.Ranked{Rank: number, Member: leaderboard.Member{UserID: id.User(fmt.Sprint(number)), XP: m.xp[number]}}
		v.Pages = append(v.Pages, leaderboard.NumberedPage{Number: number, Rows: []leaderboard.Ranked{row}})
	}
	return v, m.err
}

// Standings has one member, on the first page of a period.
func (m *memory) Standings(_ context.Context, _ *guild.Guild, _ period.Period, offset, _ int64) (leaderboard.Standings, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := leaderboard.Standings{Version: leaderboard.Version{Epoch: 1, Rev: m.rev}, Members: 1, Gained: int64(m.xp[1])}
	if offset == 0 {
		s.Rows = []leaderboard.Standing{{Ranked: leaderboard.Ranked{Rank: 1, Member: leaderboard.Member{UserID: "1", XP: m.xp[1]}}, Gained: int64(m.xp[1])}}
	}
	return s, m.err
}

// start runs a Feed on m until the test ends.
func (m *memory) start(t *testing.T, o FeedOptions) *Feed {
	o.Interval = time.Millisecond
	f := NewFeed(m, o)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return f
}

func watch(t *testing.T, f *Feed, g *guild.Guild, number int64) *Watcher {
	t.Helper()
	v, err := f.Watch(g, period.Period{}, number)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Leave)
	return v
}

// next waits for a state in which the page's member has that much XP.
func next(t *testing.T, v *Watcher, xp level.XP) State {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Patience)
	defer cancel()
	s, err := v.Next(ctx)
	if err != nil || len(s.Rows) != 1 || s.Rows[0].XP != xp {
		t.Fatalf("got %+v, %v; want %d XP", s, err, xp)
	}
	return s
}

// looksMore waits until the feed has looked that many times more.
func (m *memory) looksMore(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for until := m.looks + n; m.looks < until; {
		m.looked.Wait()
	}
}

// An open page looks with the newest flags of hidden users, or one that nobody else uses would show whom a replica hid before it died.
func TestALookKnowsTheNewestFlags(t *testing.T) {
	m := newMemory()
	hidden := *someGuild
	hidden.Hidden = 7
	looked := make(chan int64, 1)
	m.looking = func(g *guild.Guild) { looked <- g.Hidden }
	f := NewFeed(m, FeedOptions{Guild: func(context.Context, id.Guild) (*guild.Guild, error) { return &hidden, nil }})
	watch(t, f, someGuild, 1)
	watch(t, f, &hidden, 1)
	if len(f.guilds) != 1 {
		t.Errorf("a guild is watched as %d", len(f.guilds))
	}
	f.look(t.Context(), refOf(someGuild))
	if number := <-looked; number != 7 {
		t.Errorf("looked with the flags of number %d", number)
	}
}

func TestAllWhoWatchSeeEachPageChange(t *testing.T) {
	m := newMemory()
	f := m.start(t, FeedOptions{})
	var watchers []*Watcher
	for i := range 30 {
		watchers = append(watchers, watch(t, f, someGuild, int64(1+i%15)))
	}
	for xp := level.XP(0); xp < 5; xp++ {
		for _, v := range watchers {
			if s := next(t, v, xp); s.Number != v.target.number || s.Total != 1000 {
				t.Errorf("page %d: %+v", v.target.number, s)
			}
		}
		for page := range int64(16) {
			m.set(page, xp+1)
		}
	}
}

func TestWhatDidNotChangeIsNotReadAndWakesNobody(t *testing.T) {
	m := newMemory()
	f := m.start(t, FeedOptions{})
	v := watch(t, f, someGuild, 1)
	next(t, v, 0)
	_, before := m.counts()
	m.looksMore(5)
	if _, read := m.counts(); read != before {
		t.Errorf("%d pages were read of a guild that did not change", read-before)
	}
	// A change that is on another page.
	m.set(2, 77)
	m.looksMore(5)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := v.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("woken with %+v, %v", s, err)
	}
	// It can be called again, and gets the newest version with the next change.
	m.set(1, 5)
	if s := next(t, v, 5); s.Version.Rev != 2 {
		t.Errorf("version %+v", s.Version)
	}
}

func TestManyPagesOfManyViewersAreOneReadOfEach(t *testing.T) {
	m := newMemory()
	f := NewFeed(m, FeedOptions{})
	for range 100 {
		watch(t, f, someGuild, 3)
		watch(t, f, someGuild, 4)
	}
	f.look(t.Context(), refOf(someGuild))
	if looks, read := m.counts(); looks != 1 || read != 2 {
		t.Errorf("%d looks, %d pages", looks, read)
	}
	f.look(t.Context(), refOf(someGuild))
	if looks, read := m.counts(); looks != 2 || read != 2 {
		t.Errorf("%d looks, %d pages after a look at what did not change", looks, read)
	}
	// Who comes later sees at once what the others see, without a look, and after one a page that nobody watched.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := watch(t, f, someGuild, 3).Next(ctx); err != nil {
		t.Error(err)
	}
	v := watch(t, f, someGuild, 5)
	f.look(t.Context(), refOf(someGuild))
	if _, err := v.Next(ctx); err != nil {
		t.Error(err)
	}
}

func TestWhoIsSlowSeesTheNewest(t *testing.T) {
	m := newMemory()
	f := NewFeed(m, FeedOptions{})
	slow := watch(t, f, someGuild, 1)
	for xp := range level.XP(1000) {
		m.set(1, xp)
		f.look(t.Context(), refOf(someGuild))
	}
	next(t, slow, 999)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := slow.Next(ctx); err == nil {
		t.Errorf("something older was kept: %+v", s)
	}
}

func TestWhileNobodyWatchesNothingIsRead(t *testing.T) {
	m := newMemory()
	f := m.start(t, FeedOptions{})
	v, other := watch(t, f, someGuild, 1), watch(t, f, otherGuild, 1)
	next(t, v, 0)
	next(t, other, 0)
	v.Leave()
	v.Leave()
	f.mu.Lock()
	if _, there := f.guilds[refOf(someGuild)]; there || f.watchers != 1 {
		t.Errorf("the feed remembers who left: %d watchers", f.watchers)
	}
	f.mu.Unlock()
	m.looksMore(3) // one look at it may have been under way
	m.mu.Lock()
	m.looking = func(g *guild.Guild) {
		if g == someGuild {
			t.Error("a guild that nobody watches is looked at")
		}
	}
	m.mu.Unlock()
	m.looksMore(3)
	other.Leave()
	f.mu.Lock()
	if len(f.guilds) != 0 || f.watchers != 0 {
		t.Error("the feed remembers who left")
	}
	f.mu.Unlock()
	m.mu.Lock()
	m.looking = nil
	m.mu.Unlock()
	next(t, watch(t, f, someGuild, 1), 0)
}

func TestAPageThatIsAddedWhileAnotherIsReadIsRead(t *testing.T) {
	m := newMemory()
	f := NewFeed(m, FeedOptions{})
	watch(t, f, someGuild, 1)
	var second *Watcher
	m.looking = func(*guild.Guild) {
		if second == nil {
			second = watch(t, f, someGuild, 2)
		}
	}
	f.look(t.Context(), refOf(someGuild))
	f.look(t.Context(), refOf(someGuild))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := second.Next(ctx); err != nil {
		t.Error(err)
	}
}

func TestABoardThatIsAwayIsLookedAtAgain(t *testing.T) {
	m := newMemory()
	f := m.start(t, FeedOptions{})
	v := watch(t, f, someGuild, 1)
	next(t, v, 0)
	m.fail(errBroken)
	m.set(1, 5)
	m.looksMore(2)
	m.fail(nil)
	next(t, v, 5)
}

func TestAGuildThatIsGoneEndsItsViewers(t *testing.T) {
	m := newMemory()
	f := m.start(t, FeedOptions{})
	v := watch(t, f, someGuild, 1)
	next(t, v, 0)
	m.fail(fault.Down("look", leaderboard.ErrGuildMoved))
	<-v.Gone()
	if _, err := v.Next(t.Context()); !errors.Is(err, errMoved) {
		t.Errorf("error %v, want errMoved", err)
	}
}

func TestWatchersAreBounded(t *testing.T) {
	f := NewFeed(newMemory(), FeedOptions{Watchers: maxPages + 2})
	for number := range int64(maxPages) {
		watch(t, f, someGuild, number+1)
	}
	if _, err := f.Watch(someGuild, period.Period{}, maxPages+1); !fault.Is(err, fault.Unavailable) {
		t.Errorf("one page too many: %v", err)
	}
	watch(t, f, someGuild, 1)
	last := watch(t, f, otherGuild, 1)
	for _, g := range []*guild.Guild{someGuild, otherGuild} {
		if _, err := f.Watch(g, period.Period{}, 1); !fault.Is(err, fault.Unavailable) {
			t.Errorf("one watcher too many: %v", err)
		}
	}
	last.Leave()
	watch(t, f, otherGuild, 1)
}

func TestABoardOfAPeriodIsWatchedUntilItsEnd(t *testing.T) {
	m := newMemory()
	now := time.Date(2026, 11, 25, 23, 0, 0, 0, time.UTC)
	f := NewFeed(m, FeedOptions{Now: func() time.Time { return now }})
	day := period.At(period.Daily, period.DayAt(now, time.UTC))
	today, err := f.Watch(someGuild, day, 7) // past the last, which stands for the last
	if err != nil {
		t.Fatal(err)
	}
	always := watch(t, f, someGuild, 1)
	for xp := range level.XP(3) {
		m.set(1, xp)
		f.look(t.Context(), refOf(someGuild))
		if s := next(t, today, xp); s.Number != 1 || s.Gained != int64(xp) || s.Rows[0].Gained != int64(xp) {
			t.Errorf("%+v", s)
		}
		next(t, always, xp)
	}
	now = now.Add(time.Hour)
	m.set(1, 50)
	f.look(t.Context(), refOf(someGuild))
	<-today.Gone()
	if s, err := today.Next(t.Context()); !errors.Is(err, errEnded) {
		t.Errorf("after the end %+v, %v", s, err)
	}
	next(t, always, 50)
}

func TestACloseEndsAll(t *testing.T) {
	f := NewFeed(newMemory(), FeedOptions{})
	v := watch(t, f, someGuild, 1)
	f.Close()
	if _, err := v.Next(t.Context()); !errors.Is(err, errClosed) {
		t.Errorf("error %v, want errClosed", err)
	}
	if _, err := f.Watch(someGuild, period.Period{}, 1); !fault.Is(err, fault.Unavailable) {
		t.Errorf("to watch now is %v", err)
	}
	if len(f.guilds) != 0 || f.watchers != 0 {
		t.Error("the feed remembers who left")
	}
}
