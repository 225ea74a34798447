package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
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

var someGuild = &guild.Guild{Settings: guild.Settings{ID: "100000000000000001"}, Incarnation: 1}

// memory is a Board whose page n has one member with the XP that the test sets.
type memory struct {
	mu    sync.Mutex
	rev   int64
	xp    map[int64]level.XP
	err   error
	looks int // number of calls of View
	read  int // number of pages that View read
	flags int64
}

func newMemory() *memory { return &memory{xp: map[int64]level.XP{}} }

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

func (m *memory) View(_ context.Context, g *guild.Guild, look leaderboard.Look) (leaderboard.View, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.looks++
	m.flags = g.Hidden
	v := leaderboard.View{Version: leaderboard.Version{Epoch: 1, Rev: m.rev}, Total: 1000}
	if look.Unless != nil && *look.Unless == v.Version {
		v.Unchanged = true
		return v, m.err
	}
	if v.Number = look.Page; v.Number > 0 {
		m.read++
		v.Rows = []leaderboard.Ranked{{Rank: v.Number, Member: leaderboard.Member{UserID: id.User(fmt.Sprint(v.Number)), XP: m.xp[v.Number]}}}
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

// feed returns a Feed on m that knows someGuild.
func (m *memory) feed() *Feed {
	return NewFeed(m, FeedOptions{
		Log: slog.New(slog.DiscardHandler), Now: time.Now, Guild: func(context.Context, id.Guild) (*guild.Guild, error) { return someGuild, nil },
	})
}

func watch(t *testing.T, f *Feed, p period.Period, number int64) *Watcher {
	t.Helper()
	v, err := f.Watch(someGuild, p, number)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Leave)
	return v
}

// next returns the next state, in which the page's member must have this XP.
func next(t *testing.T, v *Watcher, xp level.XP) State {
	t.Helper()
	s, err := v.Next(t.Context())
	if err != nil || len(s.Rows) != 1 || s.Rows[0].XP != xp {
		t.Fatalf("the state is %+v (%v), want one row with %d XP", s, err, xp)
	}
	return s
}

// still fails if the page changes.
func still(t *testing.T, v *Watcher) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if s, err := v.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the watcher got %+v (%v) though nothing changed", s, err)
	}
}

var allTime period.Period

func TestAllWatchersGetEachChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		f := m.feed()
		var watchers []*Watcher
		for i := range 30 {
			watchers = append(watchers, watch(t, f, allTime, int64(1+i%15)))
		}
		for xp := range level.XP(5) {
			began := time.Now()
			for page := range int64(16) {
				m.set(page, xp)
			}
			for _, v := range watchers {
				if s := next(t, v, xp); s.Number != v.target.number || s.Total != 1000 {
					t.Errorf("page %d is sent as %+v, want its number and 1000 members", v.target.number, s)
				}
			}
			if took := time.Since(began); took > defaultInterval {
				t.Errorf("the change came after %v, want within %v", took, defaultInterval)
			}
		}
		if m.read != 15*5 {
			t.Errorf("%d pages were read, want %d: one for all its watchers", m.read, 15*5)
		}
	})
}

func TestAnUnchangedPageIsNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		v := watch(t, m.feed(), allTime, 1)
		next(t, v, 0)
		if still(t, v); m.read != 1 || m.looks < 100 {
			t.Errorf("%d pages of an unchanged guild were read in %d looks, want 1 in 100 or more", m.read, m.looks)
		}
		m.set(2, 77) // on another page
		still(t, v)
		m.set(1, 5)
		if s := next(t, v, 5); s.Version.Rev != 2 {
			t.Errorf("the version is %+v, want rev 2", s.Version)
		}
	})
}

func TestASlowWatcherGetsTheNewestState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		f := m.feed()
		quick, slow := watch(t, f, allTime, 1), watch(t, f, allTime, 1)
		for xp := range level.XP(100) {
			m.set(1, xp)
			next(t, quick, xp)
		}
		next(t, slow, 99)
		still(t, slow)
		// A later watcher gets the current state at once.
		began := time.Now()
		if next(t, watch(t, f, allTime, 1), 99); time.Since(began) > 0 {
			t.Errorf("a later watcher waited %v, want 0", time.Since(began))
		}
	})
}

func TestAPageWithoutWatchersIsForgotten(t *testing.T) {
	f := newMemory().feed()
	t.Run("while two watch", func(t *testing.T) {
		if first, second := watch(t, f, allTime, 1), watch(t, f, allTime, 1); first.page != second.page || len(f.pages) != 1 {
			t.Error("two watchers of a page do not share it")
		}
	})
	if len(f.pages) != 0 {
		t.Error("the feed keeps a page without watchers")
	}
}

// An open page uses the newest flags. Otherwise it would show a member whom another replica hid before it died.
func TestALookUsesTheNewestFlags(t *testing.T) {
	m := newMemory()
	f := m.feed()
	hidden := *someGuild
	hidden.Hidden = 7
	f.o.Guild = func(context.Context, id.Guild) (*guild.Guild, error) { return &hidden, nil }
	next(t, watch(t, f, allTime, 1), 0)
	if m.flags != 7 {
		t.Errorf("the look used the flags of number %d, want 7", m.flags)
	}
}

func TestAFailedLookIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		v := watch(t, m.feed(), allTime, 1)
		next(t, v, 0)
		m.set(1, 5)
		m.fail(errors.New("broken on demand"))
		still(t, v)
		m.fail(nil)
		next(t, v, 5)
	})
}

func TestADeletedGuildEndsItsWatchers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		v := watch(t, m.feed(), allTime, 1)
		next(t, v, 0)
		m.fail(fault.Down("look", leaderboard.ErrGuildMoved))
		if _, err := v.Next(t.Context()); !errors.Is(err, errMoved) {
			t.Errorf("the watcher of a deleted guild got %v, want errMoved", err)
		}
	})
}

func TestABoardOfAPeriodIsWatchedUntilItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		f := m.feed()
		today := watch(t, f, period.At(period.Daily, period.DayAt(time.Now(), time.UTC)), 7) // past the last page, so the last is shown
		always := watch(t, f, allTime, 1)
		for xp := range level.XP(3) {
			m.set(1, xp)
			if s := next(t, today, xp); s.Number != 1 || s.Gained != int64(xp) || s.Rows[0].Gained != int64(xp) {
				t.Errorf("the state is %+v, want page 1 with %d gained", s, xp)
			}
			next(t, always, xp)
		}
		time.Sleep(24 * time.Hour)
		m.set(1, 50)
		if s, err := today.Next(t.Context()); !errors.Is(err, errEnded) {
			t.Errorf("after the period's end the watcher got %+v (%v), want errEnded", s, err)
		}
		next(t, always, 50)
	})
}

func TestACloseEndsAllWatchers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newMemory().feed()
		v := watch(t, f, allTime, 1)
		next(t, v, 0)
		time.AfterFunc(time.Millisecond, f.Close)
		if _, err := v.Next(t.Context()); !errors.Is(err, errClosed) {
			t.Errorf("after the close the watcher got %v, want errClosed", err)
		}
		if _, err := f.Watch(someGuild, allTime, 1); !fault.Is(err, fault.Unavailable) {
			t.Errorf("watching after the close: %v, want fault.Unavailable", err)
		}
	})
}
