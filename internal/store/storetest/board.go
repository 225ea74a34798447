// Package storetest has a conformance suite for all live stores and one for all archives.
package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/erasure"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
	"levelboard/internal/usecase/signin"
	"levelboard/internal/usecase/snapshot"
)

// Store is a live store.
type Store interface {
	leaderboard.Board
	snapshot.Live
	hydrate.Live
	audit.Live
	erasure.Live
	checkpoints.Live
	periods.Live
	events.Log
	signin.Store
}

// Board checks that a live store keeps the promises of Store's interfaces. open returns an empty store, which it closes when the test ends.
func Board(t *testing.T, open func(t *testing.T) Store) {
	runBoard(t, open, allCases)
}

var allCases = slices.Concat(boardCases, viewCases, sequenceCases, awardCases, onceCases, liveCases, verifyCases, changesCases, evictCases, rewriteCases, gainCases,
	gainBoardCases, putCases, presenceCases, positionCases, auditCases, eraseCases, hiddenCases)

func runBoard(t *testing.T, open func(t *testing.T) Store, cases []boardCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.run(&board{T: t, Store: open(t), g: leaderboard.GuildRef{ID: "100000000000000001", Incarnation: 7001}})
		})
	}
}

type boardCase struct {
	name string
	run  func(b *board)
}

var boardCases = []boardCase{
	{"a guild must be loaded", notLoaded},
	{"create", create},
	{"change", change},
	{"delete", deleteEntry},
	{"equal XP ranks by id", ranks},
	{"pages", pages},
	{"the version moves with each change only", versions},
	{"user data comes back as written", userData},
	{"XP of every size is exact", everySize},
}

// board is a store under test, with the guild that most cases use.
type board struct {
	*testing.T
	Store
	g leaderboard.GuildRef
}

func (b *board) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *board) wants(what string, err, want error) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Errorf("%s: error %v, want %v", what, err, want)
	}
}

// load hydrates the guild with these rows at epoch 1.
func (b *board) load(rows ...snapshot.Row) {
	b.Helper()
	b.hydrate(b.g, snapshot.State{Epoch: 1}, rows...)
}

func (b *board) hydrate(g leaderboard.GuildRef, s snapshot.State, rows ...snapshot.Row) {
	b.Helper()
	h := b.begin(g, snapshot.State{}, hydrate.FoundNothing)
	b.must(b.LoadChunk(b.Context(), h, rows))
	b.must(b.CommitHydration(b.Context(), h, s))
}

func (b *board) member(user id.User) leaderboard.Ranked {
	b.Helper()
	m, err := b.Member(b.Context(), b.g, user)
	b.must(err)
	return m
}

func (b *board) version() leaderboard.Version {
	b.Helper()
	v, err := b.Version(b.Context(), b.g)
	b.must(err)
	return v
}

func (b *board) page(offset, limit int64) leaderboard.Page {
	b.Helper()
	p, err := b.Page(b.Context(), b.g, offset, limit)
	b.must(err)
	return p
}

func (b *board) delete(user id.User) {
	b.Helper()
	_, err := b.Delete(b.Context(), b.g, user, leaderboard.Removal{})
	b.must(err)
}

// userN returns the nth user; later ones have greater ids.
func userN(n int) id.User { return id.User(fmt.Sprintf("2%017d", n)) }

// longAgo is a time that no store gives to a new change.
var longAgo = time.Date(2020, 2, 3, 4, 5, 6, 789e6, time.UTC)

func rowN(n int, xp level.XP) snapshot.Row {
	return snapshot.Row{Member: leaderboard.Member{
		UserID: userN(n), XP: xp, MessageCount: int64(n), LastUpdated: longAgo,
		User: leaderboard.User{Username: fmt.Sprintf("user%d", n), Discriminator: "0"},
	}}
}

func notLoaded(b *board) {
	ctx, user := b.Context(), userN(1)
	calls := func(g leaderboard.GuildRef) map[string]error {
		errs := map[string]error{}
		_, errs["Member"] = b.Member(ctx, g, user)
		_, errs["Page"] = b.Page(ctx, g, 0, 100)
		_, errs["View"] = b.View(ctx, g, leaderboard.Look{Page: 1, Unless: &leaderboard.Version{Epoch: 1}})
		_, errs["Version"] = b.Version(ctx, g)
		_, errs["Create"] = b.Create(ctx, g, userN(2), leaderboard.Creation{XP: 5})
		_, errs["Change"] = b.Change(ctx, g, user, leaderboard.Change{Op: leaderboard.Set, Amount: 5})
		_, _, errs["Put"] = b.Put(ctx, g, leaderboard.Puts{Mode: leaderboard.PutSet, Members: []leaderboard.Put{{User: user, XP: 5}}})
		_, errs["SetPresence"] = b.SetPresence(ctx, g, leaderboard.Presence{Users: []id.User{user}})
		_, errs["Delete"] = b.Delete(ctx, g, user, leaderboard.Removal{})
		_, ends := b.EndChanges(ctx, []snapshot.Batch{{Guild: g, Epoch: 1, Rev: 100}})
		errs["EndChanges"] = ends[0]
		return errs
	}
	for name, err := range calls(b.g) {
		b.wants(name+" of an unknown guild", err, leaderboard.ErrNotLoaded)
	}
	if guilds, err := b.LoadedGuilds(ctx); err != nil || len(guilds) != 0 {
		b.Errorf("after calls on an unknown guild %v are loaded (%v), want none", guilds, err)
	}

	b.load(rowN(1, 10))
	before, entry := b.version(), b.member(user)
	other := leaderboard.GuildRef{ID: b.g.ID, Incarnation: b.g.Incarnation + 1}
	for name, err := range calls(other) {
		b.wants(name+" of another incarnation", err, leaderboard.ErrNotLoaded)
	}
	if after := b.version(); after != before {
		b.Errorf("refused calls changed the version from %v to %v", before, after)
	}
	if got := b.page(0, 10).Rows; len(got) != 1 || !reflect.DeepEqual(got[0], entry) {
		b.Errorf("after refused calls the rows are %v, want only %v", got, entry)
	}
	b.nothingWaits()
}

func deleteEntry(b *board) {
	ctx := b.Context()
	b.load(rowN(1, 10), rowN(2, 20))
	b.delete(userN(2))
	_, err := b.Member(ctx, b.g, userN(2))
	b.wants("read after delete", err, leaderboard.ErrNoMember)
	_, err = b.Change(ctx, b.g, userN(2), leaderboard.Change{Op: leaderboard.Increment, Amount: 1})
	b.wants("change after delete", err, leaderboard.ErrNoMember)
	before := b.version()
	_, err = b.Delete(ctx, b.g, userN(2), leaderboard.Removal{})
	b.wants("delete twice", err, leaderboard.ErrNoMember)
	if after := b.version(); after != before {
		b.Errorf("a refused delete changed the version from %v to %v", before, after)
	}
	if m := b.member(userN(1)); m.Rank != 1 {
		b.Errorf("after the member above was deleted the rank is %d, want 1", m.Rank)
	}
	b.create(userN(2), 5)
	if m := b.member(userN(2)); m.XP != 5 || m.MessageCount != 0 || m.User.Username != "u" {
		b.Errorf("the member created again is %+v, want 5 XP and nothing of the deleted entry", m)
	}
}

func versions(b *board) {
	b.hydrate(b.g, snapshot.State{Epoch: 3, Archived: 41}, rowN(1, 10))
	want := leaderboard.Version{Epoch: 3, Rev: 41}
	check := func(what string, moves bool) {
		b.Helper()
		if moves {
			want.Rev++
		}
		if got := b.version(); got != want {
			b.Errorf("after %s the version is %+v, want %+v", what, got, want)
		}
		if got := b.page(0, 1).Version; got != want {
			b.Errorf("after %s a page has the version %+v, want %+v", what, got, want)
		}
	}
	check("hydration", false)
	b.member(userN(1))
	check("a read", false)
	b.create(userN(2), 0)
	check("create", true)
	b.change(userN(2), leaderboard.Change{Op: leaderboard.Increment, Amount: 1, Cooldown: time.Minute})
	check("change", true)
	b.delete(userN(2))
	check("delete", true)
	b.flushAll()
	check("a snapshot", false)
}
