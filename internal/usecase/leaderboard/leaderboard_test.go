package leaderboard_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

const (
	guild1 id.Guild = "100000000000000001"
	user1  id.User  = "200000000000000001"
)

var plusOne = leaderboard.Change{Op: leaderboard.Increment, Amount: 1}

var errBroken = errors.New("broken on demand")

// world has the use cases on a board and a loader in memory. A test can make either fail.
type world struct {
	*testing.T
	*leaderboard.Leaderboard
	guild  *guild.Guild
	board  *memory
	loader *loader
	used   []id.Guild
	settings
}

func newWorld(t *testing.T) *world {
	t.Helper()
	parsed, err := guild.Parse(guild1, []byte(`{"name":"Gophers","memberCount":5,"ownerId":"200000000000000001"}`))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, board: newMemory(), guild: &guild.Guild{Settings: parsed, Incarnation: 7}}
	w.loader = &loader{board: w.board}
	w.Leaderboard = leaderboard.New(w.board, w.loader, &w.settings, leaderboard.Options{Used: func(g id.Guild) { w.used = append(w.used, g) }})
	return w
}

type settings struct {
	mu        sync.Mutex
	forgotten []id.Guild
}

func (s *settings) Forget(g id.Guild) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgotten = append(s.forgotten, g)
}

// steps returns all use cases on an existing member.
func (w *world) steps() map[string]func() error {
	ctx := w.Context()
	return map[string]func() error{
		"member": func() error { _, err := w.Member(ctx, w.guild, user1); return err },
		"page":   func() error { _, err := w.Page(ctx, w.guild, 1); return err },
		"view": func() error {
			_, err := w.View(ctx, w.guild, leaderboard.Look{Page: 1})
			return err
		},
		"version": func() error { _, err := w.Version(ctx, w.guild); return err },
		"create": func() error {
			_, err := w.Create(ctx, w.guild, "200000000000000002", leaderboard.Creation{XP: 5})
			return err
		},
		"change": func() error { _, err := w.Change(ctx, w.guild, user1, plusOne); return err },
		"delete": func() error { _, err := w.Delete(ctx, w.guild, user1, leaderboard.Once{}); return err },
	}
}

func (w *world) createUser1() {
	w.Helper()
	if _, err := w.Create(w.Context(), w.guild, user1, leaderboard.Creation{XP: 100, User: leaderboard.User{Username: "gopher"}}); err != nil {
		w.Fatal(err)
	}
	w.board.calls, w.loader.calls = 0, 0
}

func TestEveryUseCaseCountsAsUse(t *testing.T) {
	for name := range newWorld(t).steps() {
		w := newWorld(t)
		w.createUser1()
		w.used = nil
		if err := w.steps()[name](); err != nil || !slices.Equal(w.used, []id.Guild{guild1}) {
			t.Errorf("%s: noted uses of %v (%v), want of %s", name, w.used, err, guild1)
		}
	}
}

func TestAStepIsRepeatedAfterItsGuildIsLoaded(t *testing.T) {
	names := newWorld(t).steps()
	for name := range names {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.createUser1()
			w.board.drop()
			if err := w.steps()[name](); err != nil {
				t.Fatal(err)
			}
			if w.loader.calls != 1 || w.board.calls != 2 {
				t.Errorf("%d loads and %d steps, want 1 and 2", w.loader.calls, w.board.calls)
			}
		})
	}
}

func TestMembersAndPagesAreReadAndChanged(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	w.createUser1()
	for i, u := range []id.User{"200000000000000002", "200000000000000003"} {
		if _, err := w.Create(ctx, w.guild, u, leaderboard.Creation{XP: level.XP(200 * (i + 1))}); err != nil {
			t.Fatal(err)
		}
	}
	out, err := w.Change(ctx, w.guild, user1, leaderboard.Change{Op: leaderboard.Increment, Amount: 150, Cooldown: w.guild.Cooldown()})
	if want := (leaderboard.Outcome{Before: 100, After: 250}); err != nil || out != want {
		t.Errorf("the change's outcome is %+v (%v), want %+v", out, err, want)
	}
	m, err := w.Member(ctx, w.guild, user1)
	if err != nil || m.Rank != 2 || m.XP != 250 || m.User.Username != "gopher" {
		t.Errorf("the member is %+v (%v), want rank 2 with 250 XP", m, err)
	}
	if w.board.cooldown != time.Duration(w.guild.XPGainInterval)*time.Millisecond {
		t.Errorf("the cooldown is %v, want the guild's interval", w.board.cooldown)
	}
	p, err := w.Page(ctx, w.guild, 1)
	if err != nil || len(p.Rows) != 3 || p.Rows[1].UserID != user1 {
		t.Errorf("the page is %+v (%v), want 3 rows with %s second", p, err, user1)
	}
	if v, err := w.Version(ctx, w.guild); err != nil || v != p.Version {
		t.Errorf("the version is %+v (%v), want the page's %+v", v, err, p.Version)
	}
	if _, err := w.Delete(ctx, w.guild, user1, leaderboard.Once{}); err != nil {
		t.Error(err)
	}
	for i := range leaderboard.PageSize {
		if _, err := w.Create(ctx, w.guild, id.User("3"+string(user1[1:15])+string(rune('0'+i/100))+string(rune('0'+i/10%10))+string(rune('0'+i%10))), leaderboard.Creation{XP: 1}); err != nil {
			t.Fatal(err)
		}
	}
	for number, rows := range map[int64]int{1: 100, 2: 2, 3: 0} {
		p, err := w.Page(ctx, w.guild, number)
		if err != nil || len(p.Rows) != rows || (rows > 0 && p.Rows[0].Rank != 100*(number-1)+1) {
			t.Errorf("page %d has %d rows (%v), want %d", number, len(p.Rows), err, rows)
		}
	}
}

func TestRefusalsAreFaults(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	w.createUser1()
	const nobody = "299999999999999999"
	_, noMember := w.Member(ctx, w.guild, nobody)
	_, noChange := w.Change(ctx, w.guild, nobody, plusOne)
	_, exists := w.Create(ctx, w.guild, user1, leaderboard.Creation{XP: 1})
	_, noDelete := w.Delete(ctx, w.guild, nobody, leaderboard.Once{})
	for name, c := range map[string]struct {
		err  error
		code fault.Code
	}{
		"read nobody":   {noMember, fault.NotFound},
		"change nobody": {noChange, fault.NotFound},
		"delete nobody": {noDelete, fault.NotFound},
		"create again":  {exists, fault.Conflict},
	} {
		if !fault.Is(c.err, c.code) {
			t.Errorf("%s: %v, want code %v", name, c.err, c.code)
		}
	}
	if w.board.calls != 4 || w.loader.calls != 0 {
		t.Errorf("%d steps and %d loads, want 4 and 0: a refusal was repeated", w.board.calls, w.loader.calls)
	}
	if m, err := w.Member(ctx, w.guild, user1); err != nil || m.XP != 100 {
		t.Errorf("after the refusals the member is %+v (%v), want 100 XP", m, err)
	}
}

// A step with an unknown outcome may have been made, so it must not be repeated.
func TestNoOtherFailureIsRepeated(t *testing.T) {
	for _, after := range []bool{false, true} {
		w := newWorld(t)
		w.createUser1()
		w.board.err, w.board.after = errBroken, after
		for name, step := range w.steps() {
			w.board.calls = 0
			err := step()
			f := fault.From(err)
			if f == nil || f.Code != fault.Unavailable || f.RetryAfter <= 0 || !errors.Is(err, errBroken) {
				t.Errorf("%s: %v, want Unavailable with its cause and Retry-After", name, err)
			}
			if w.board.calls != 1 || w.loader.calls != 0 {
				t.Errorf("%s: %d steps and %d loads, want 1 and 0", name, w.board.calls, w.loader.calls)
			}
		}
	}
}

func TestAGuildThatMovedIsForgotten(t *testing.T) {
	w := newWorld(t)
	w.loader.err = leaderboard.ErrGuildMoved
	steps := 0
	for name, step := range w.steps() {
		steps++
		err := step()
		if f := fault.From(err); f == nil || f.Code != fault.Unavailable || f.RetryAfter <= 0 || !errors.Is(err, leaderboard.ErrGuildMoved) {
			t.Errorf("%s: %v, want Unavailable with Retry-After", name, err)
		}
		if len(w.forgotten) != steps || w.forgotten[steps-1] != guild1 || w.board.calls != steps {
			t.Errorf("%s: forgotten are %v after %d steps and %d calls, want the guild once a step", name, w.forgotten, steps, w.board.calls)
		}
	}
}

// Loading a guild of a million members takes longer than a request may. The error blames no store and says that nothing changed.
func TestTheErrorSaysThatTheGuildIsLoading(t *testing.T) {
	w := newWorld(t)
	w.loader.err = fmt.Errorf("wait: %w", leaderboard.ErrStillLoading)
	for name, step := range w.steps() {
		f := fault.From(step())
		if f == nil || f.Code != fault.Unavailable || f.RetryAfter <= 0 || !strings.Contains(f.Message, "is being loaded") || !strings.Contains(f.Message, "Nothing was changed") {
			t.Errorf("%s: %v, want Unavailable with Retry-After that says that the guild is being loaded", name, f)
		}
	}
}

func TestALoadThatFailsIsUnavailable(t *testing.T) {
	w := newWorld(t)
	w.loader.err = errBroken
	_, err := w.Member(t.Context(), w.guild, user1)
	if f := fault.From(err); f == nil || f.Code != fault.Unavailable || f.RetryAfter <= 0 || !errors.Is(err, errBroken) {
		t.Errorf("after a failed load: %v, want Unavailable with its cause", err)
	}
	if w.loader.calls != 1 || w.board.calls != 1 || len(w.forgotten) != 0 {
		t.Errorf("%d loads, %d steps and %v forgotten, want 1, 1 and none", w.loader.calls, w.board.calls, w.forgotten)
	}
}

func TestLoadsOfAGuildAreBounded(t *testing.T) {
	w := newWorld(t)
	w.loader.after = w.board.drop
	_, err := w.Change(t.Context(), w.guild, user1, plusOne)
	if f := fault.From(err); f == nil || f.Code != fault.Unavailable || !errors.Is(err, leaderboard.ErrNotLoaded) {
		t.Errorf("a guild that is gone after each load: %v, want Unavailable with ErrNotLoaded", err)
	}
	if w.board.calls != 3 || w.loader.calls != 2 {
		t.Errorf("%d steps and %d loads, want 3 and 2", w.board.calls, w.loader.calls)
	}
}
