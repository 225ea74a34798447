package leaderboard_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// join creates a member with this name.
func (w *world) join(user id.User, username string, xp level.XP) {
	w.Helper()
	c := leaderboard.Creation{XP: xp, User: leaderboard.User{Username: username}}
	if _, err := w.Create(w.Context(), w.guild, user, c); err != nil {
		w.Fatal(err)
	}
}

func (w *world) find(f *leaderboard.Finder, text string, want ...id.User) leaderboard.Found {
	w.Helper()
	found, err := f.Find(w.Context(), "caller", w.guild, text)
	if err != nil || len(found.Members) != len(want) {
		w.Fatalf("the search %q finds %+v (%v), want %v", text, found, err, want)
	}
	for i, m := range found.Members {
		if m.UserID != want[i] {
			w.Errorf("member %d that %q finds is %s, want %s", i, text, m.UserID, want[i])
		}
	}
	return found
}

func TestFoundMembersHaveTheirCurrentXPAndRank(t *testing.T) {
	w := newWorld(t)
	var archived archive
	f := leaderboard.NewFinder(w.Leaderboard, &archived)
	const anna, annika, zoe = user1, "200000000000000002", "200000000000000003"
	w.join(anna, "Anna", 100)
	w.join(annika, "annika", 300)
	w.find(f, "ann") // the archive has no snapshot yet
	w.find(f, string(anna), anna)
	archived.snapshot(w.board)
	w.join(zoe, "zoe", 200)
	if _, err := w.Change(t.Context(), w.guild, anna, leaderboard.Change{Op: leaderboard.Increment, Amount: 150}); err != nil {
		t.Fatal(err)
	}
	found := w.find(f, " ann ", annika, anna)
	if m := found.Members[1]; m.XP != 250 || m.Rank != 2 || m.User.Username != "Anna" || found.More {
		t.Errorf("the search found %+v, want Anna with 250 XP and rank 2, and no more", found)
	}
	if _, err := w.Delete(t.Context(), w.guild, annika, leaderboard.Once{}); err != nil {
		t.Fatal(err)
	}
	w.find(f, "ann", anna)
	w.find(f, annika)
	w.find(f, "nobody")

	present := func(is bool) {
		t.Helper()
		if _, err := w.SetPresence(t.Context(), w.guild, leaderboard.Presence{Present: is, Users: []id.User{anna}}); err != nil {
			t.Fatal(err)
		}
	}
	present(false)
	w.find(f, "ann")
	archived.snapshot(w.board)
	w.find(f, "ann")
	present(true)
	w.find(f, "ann", anna)
}

func TestASearchSaysIfThereAreMore(t *testing.T) {
	w := newWorld(t)
	var archived archive
	f := leaderboard.NewFinder(w.Leaderboard, &archived)
	var all []id.User
	for i := range leaderboard.MaxFound + 1 {
		all = append(all, id.User(fmt.Sprintf("2%017d", i)))
		w.join(all[i], fmt.Sprintf("gopher%02d", i), level.XP(100-i))
	}
	archived.snapshot(w.board)
	if !w.find(f, "gopher", all[:leaderboard.MaxFound]...).More {
		t.Error("a search with more matches than the limit does not say that there are more")
	}
	if w.find(f, "gopher0", all[:10]...).More {
		t.Error("a search with 10 matches says that there are more")
	}
	if !w.find(f, "g", all[:leaderboard.MaxFound]...).More {
		t.Error("a search by one letter does not say that there are more")
	}
	if _, err := f.Find(t.Context(), "caller", w.guild, " "); !fault.Is(err, fault.Invalid) {
		t.Errorf("a search without a letter: %v, want fault.Invalid", err)
	}
}

// names is a leaderboard.Names whose behaviour the test sets.
type names func(ctx context.Context) ([]id.User, error)

func (n names) FindNames(ctx context.Context, _ leaderboard.GuildRef, _ leaderboard.Query, _ leaderboard.NameLimits) (leaderboard.Candidates, error) {
	users, err := n(ctx)
	return leaderboard.Candidates{Users: users}, err
}

func TestWithoutTheArchiveOnlyIDsAreFound(t *testing.T) {
	w := newWorld(t)
	f := leaderboard.NewFinder(w.Leaderboard, names(func(context.Context) ([]id.User, error) { return nil, errBroken }))
	w.createUser1()
	_, err := f.Find(t.Context(), "caller", w.guild, "gopher")
	if got := fault.From(err); got == nil || got.Code != fault.Unavailable || got.RetryAfter <= 0 || !errors.Is(err, errBroken) {
		t.Errorf("a search by name: %v, want fault.Unavailable with its cause", err)
	}
	w.find(f, string(user1), user1)
}

// A caller runs one search at a time, however many it starts, and does not delay other callers.
func TestSearchesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		let, searching := make(chan struct{}), atomic.Int64{}
		f := leaderboard.NewFinder(w.Leaderboard, names(func(context.Context) ([]id.User, error) {
			searching.Add(1)
			defer searching.Add(-1)
			<-let
			return nil, nil
		}))
		done := make(chan error, 10)
		search := func(caller string) {
			_, err := f.Find(t.Context(), caller, w.guild, "gopher")
			done <- err
		}
		for range 9 {
			go search("greedy")
		}
		synctest.Wait()
		if n := searching.Load(); n != 1 {
			t.Errorf("%d searches of one caller run at a time, want 1", n)
		}
		go search("other")
		synctest.Wait()
		if n := searching.Load(); n != 2 {
			t.Errorf("%d searches run once another caller comes, want 2", n)
		}
		for range 8 { // after two seconds
			if err := <-done; !fault.Is(err, fault.RateLimited) {
				t.Errorf("a search that waited too long: %v, want fault.RateLimited", err)
			}
		}
		close(let)
		if err := errors.Join(<-done, <-done); err != nil {
			t.Error(err)
		}
	})
}

func TestAWaitingSearchCanBeCancelled(t *testing.T) {
	w := newWorld(t)
	let, begun, done := make(chan struct{}), make(chan struct{}), make(chan error)
	f := leaderboard.NewFinder(w.Leaderboard, names(func(context.Context) ([]id.User, error) {
		begun <- struct{}{}
		<-let
		return nil, nil
	}))
	for _, caller := range []string{"one", "other"} {
		go func() { _, err := f.Find(t.Context(), caller, w.guild, "gopher"); done <- err }()
		<-begun
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Find(ctx, "caller", w.guild, "gopher"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("the cancelled search returned %v, want fault.Unavailable", err)
	}
	close(let)
	if err := errors.Join(<-done, <-done); err != nil {
		t.Error(err)
	}
}

// In a large guild some texts match more words than a search reads from the index.
func TestFindingAmongTensOfThousands(t *testing.T) {
	const members = 30_000
	w := newWorld(t)
	w.board.loaded = true
	for i := range members {
		m := leaderboard.Member{UserID: id.User(fmt.Sprintf("2%017d", i)), XP: level.XP(i), User: leaderboard.User{Username: fmt.Sprintf("Gopher.%05d", i)}}
		if i < 10_000 {
			m.User.Username += " newcomer" // none has a high rank
		}
		w.board.members[m.UserID] = m
	}
	var archived archive
	archived.snapshot(w.board)
	f := leaderboard.NewFinder(w.Leaderboard, &archived)
	for _, c := range []struct {
		text  string
		found int
		more  bool
		last  int // the number of the best
	}{{"gopher.", 20, true, 29999}, {"GOPHER.2999", 10, false, 29999}, {"gopher.12345", 1, false, 12345}, {"gopher.1", 20, true, 19999}, {"gopher.3", 0, false, 0}, {"new", 20, true, 9999}, {"n", 0, true, 0}} {
		found, err := f.Find(t.Context(), "caller", w.guild, c.text)
		if err != nil || len(found.Members) != c.found || found.More != c.more {
			t.Errorf("%q finds %d members, more %v (%v), want %d, %v", c.text, len(found.Members), found.More, err, c.found, c.more)
			continue
		}
		for i, m := range found.Members {
			if n := c.last - i; m.XP != level.XP(n) || m.Rank != int64(members-n) {
				t.Errorf("member %d that %q finds has %d XP and rank %d, want %d and %d", i, c.text, m.XP, m.Rank, n, members-n)
			}
		}
	}
}
