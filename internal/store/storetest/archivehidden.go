package storetest

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/store"
	"levelboard/internal/usecase/hiding"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
)

func setHidden(t *testing.T, a store.Archive, g *guild.Guild, by hidden.Flags, hide bool, want int64, users ...id.User) *guild.Guild {
	t.Helper()
	now, changed, err := a.SetHidden(t.Context(), g.ID, hiding.Step{By: by, Hidden: hide, Users: users})
	if err != nil || changed != want {
		t.Fatalf("flag %q %v for %v changed %d (%v), want %d", by, hide, users, changed, err, want)
	}
	return now
}

func archiveHidden(t *testing.T, a store.Archive) {
	ctx := t.Context()
	const short, long = "20000000000000009", "100000000000000002" // ordered differently as numbers and as text
	g := put(t, a, settingsOf(t, guildA, `,"vanity":"gophers"`))
	other := put(t, a, settingsOf(t, guildB, ""))
	if _, _, err := a.SetHidden(ctx, "300000000000000009", hiding.Step{By: hidden.BySelf, Hidden: true, Users: []id.User{short}}); !errors.Is(err, guild.ErrNotFound) {
		t.Errorf("an unknown guild: %v, want guild.ErrNotFound", err)
	}
	if now := setHidden(t, a, g, hidden.BySelf, false, 0, short); now.Hidden != 0 || now.Version != g.Version {
		t.Errorf("a step without effect got the number %d, want none", now.Hidden)
	}
	first := setHidden(t, a, g, hidden.ByManager, true, 2, short, long)
	second := setHidden(t, a, g, hidden.BySelf, true, 1, long)
	setHidden(t, a, other, hidden.BySelf, true, 1, long)
	if first.Hidden <= g.Version || second.Hidden <= first.Hidden || second.Version != second.Hidden {
		t.Errorf("the steps have the numbers %d and %d after version %d, want rising ones", first.Hidden, second.Hidden, g.Version)
	}
	if read := mustGet(a.Guild(ctx, guildA))(t); read.Hidden != second.Hidden || read.Edited != g.Edited || read.Version != second.Version {
		t.Errorf("the guild has the number %d and the edit %d, want %d and %d", read.Hidden, read.Edited, second.Hidden, g.Edited)
	}
	if seen := mustGet(a.Changes(ctx, second.Hidden-1, 1))(t); len(seen) != 1 || seen[0].Subject != string(guildA) {
		t.Errorf("the change log has %+v, want one change of the guild", seen)
	}
	setHidden(t, a, g, hidden.ByManager, true, 0, short, long)
	list := mustGet(a.Hidden(ctx, guildA, 0, 10))(t)
	want := []hidden.User{{User: short, Flags: hidden.ByManager, Number: first.Hidden}, {User: long, Flags: hidden.ByManager | hidden.BySelf, Number: second.Hidden}}
	if !reflect.DeepEqual(list, want) || !reflect.DeepEqual(mustGet(a.Hidden(ctx, guildA, 1, 10))(t), want[1:]) {
		t.Errorf("the hidden are %+v, want %+v", list, want)
	}
	if among := mustGet(a.HiddenAmong(ctx, guildA, []id.User{long, "200000000000000077"}))(t); !reflect.DeepEqual(among, map[id.User]hidden.Flags{long: 3}) {
		t.Errorf("of two users %v are hidden, want %s with both flags", among, long)
	}
	part := mustGet(a.HiddenAfter(ctx, guildA, first.Hidden))(t)
	if !reflect.DeepEqual(part, hidden.Part{After: first.Hidden, Upto: second.Hidden, Users: want[1:]}) {
		t.Errorf("the part after the first step is %+v, want the second step", part)
	}
	third := setHidden(t, a, g, hidden.ByManager, false, 2, short, long)
	part = mustGet(a.HiddenAfter(ctx, guildA, 0))(t)
	if part.Upto != third.Hidden || len(part.Users) != 2 || part.Users[0].Flags+part.Users[1].Flags != hidden.BySelf {
		t.Errorf("the part after the flags were lifted is %+v, want two users with one flag in all", part)
	}
	if list := mustGet(a.Hidden(ctx, guildA, 0, 10))(t); len(list) != 1 || list[0].User != long {
		t.Errorf("the hidden are %+v, want %s", list, long)
	}
	if of := mustGet(a.StoredOf(ctx, long))(t).Hidden; !reflect.DeepEqual(of, []hiding.InGuild{{Guild: guildA, Flags: hidden.BySelf}, {Guild: guildB, Flags: hidden.BySelf}}) {
		t.Errorf("the user is hidden in %+v, want both guilds by self", of)
	}
	mustGet(a.DeleteGuild(ctx, guildB))(t)
	lifted := mustGet(a.LiftHidden(ctx, long))(t)
	if len(lifted) != 1 || lifted[0].ID != guildA || lifted[0].Incarnation != g.Incarnation || lifted[0].Hidden <= third.Hidden {
		t.Errorf("the flags were lifted in %+v, want %s with a new number", lifted, guildA)
	}
	if of := mustGet(a.StoredOf(ctx, long))(t).Hidden; len(of) > 0 {
		t.Errorf("after all flags were lifted the user is hidden in %+v", of)
	}
}

func archiveHiddenParts(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	var users []id.User
	for n := range 3 * hidden.MaxStep / 2 {
		users = append(users, userN(n))
	}
	setHidden(t, a, g, hidden.BySelf, true, hidden.MaxStep/2, users[:hidden.MaxStep/2]...)
	last := setHidden(t, a, g, hidden.BySelf, true, hidden.MaxStep, users[hidden.MaxStep/2:]...)
	part := mustGet(a.HiddenAfter(t.Context(), guildA, 0))(t)
	seen := len(part.Users)
	for part.Upto < last.Hidden {
		part = mustGet(a.HiddenAfter(t.Context(), guildA, part.Upto))(t)
		seen += len(part.Users)
	}
	if seen != len(users) {
		t.Errorf("the parts have %d users, want %d", seen, len(users))
	}
}

func archiveHiddenPeriods(t *testing.T, a store.Archive) {
	ctx := t.Context()
	g := put(t, a, settingsOf(t, guildA, `,"vanity":"gophers"`))
	l, d := leased(t, a), int64(month.First)
	writeRows(t, a, l, g, 0, 1, gainRow(gainer1, 1, d, 40), gainRow(gainer2, 2, d, 30), gainRow(gainer3, 3, d, 20), gainRow(gainer4, 4, d, 10))
	now := setHidden(t, a, g, hidden.BySelf, true, 1, gainer4)
	step := closing(g, month)
	step.Open, step.Next, step.Keep = periods.Open{}, time.UnixMilli(1800000000000), month.End
	closePeriods(t, a, l, step)
	wantTotals(t, a, g, month, 3, 90)
	setHidden(t, a, now, hidden.ByManager, true, 1, gainer2)
	board := mustGet(a.Standings(ctx, refOf(g), month.ID, 0, 10))(t)
	if len(board) != 2 || board[0].UserID != gainer1 || board[1].UserID != gainer3 || board[1].Rank != 3 {
		t.Errorf("the board is %+v, want the first and the third user", board)
	}
	wantTotals(t, a, g, month, 3, 90)
	if _, err := a.StandingsBefore(ctx, refOf(g), month.ID, gainer2, 5); !errors.Is(err, leaderboard.ErrNoMember) {
		t.Errorf("around a hidden user: %v, want leaderboard.ErrNoMember", err)
	}
	if after := mustGet(a.StandingsBefore(ctx, refOf(g), month.ID, gainer3, 2))(t); after != 0 {
		t.Errorf("around the last, the rows begin after rank %d, want 0", after)
	}
	if found := mustGet(a.ClosedPeriods(ctx, refOf(g), period.Monthly, 0, 10))(t); len(found) != 1 || len(found[0].Winners) != 2 {
		t.Errorf("the closed month is %+v, want two winners", found)
	}
	day := period.Day(d)
	if days := mustGet(a.Activity(ctx, refOf(g), day, day+1))(t); len(days) != 1 || days[0].Members != 2 || days[0].Gained != 60 {
		t.Errorf("the activity is %+v, want 60 XP of 2 members", days)
	}
	setHidden(t, a, now, hidden.ByManager, false, 1, gainer2)
	wantStandings(t, a, g, month, gainer1, int64(40), gainer2, int64(30), gainer3, int64(20))
}
