package storetest

import (
	"errors"
	"reflect"

	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

var hiddenCases = []boardCase{
	{"a hidden member is on no board", hiddenFromBoards},
	{"a hidden member can be changed", hiddenChanges},
	{"a hidden member's gains are kept", hiddenGains},
	{"members come and go while they are hidden", hiddenPresence},
	{"flags are copied in any order, any number of times", lateFlags},
	{"a guild with older flags is not loaded", olderFlags},
	{"flags alone make a snapshot without members", flagsWait},
	{"a hidden member makes marked events", hiddenEvents},
}

// hide copies flags, the last of which has this number.
func (b *board) hide(number int64, flags hidden.Flags, users ...id.User) {
	b.Helper()
	part := hidden.Part{After: 0, Upto: number}
	for _, user := range users {
		part.Users = append(part.Users, hidden.User{User: user, Flags: flags, Number: number})
	}
	if has, err := b.CopyHidden(b.Context(), b.g, part); err != nil || has != number {
		b.Errorf("copying flags %q of %v: the store has %d (%v), want %d", flags, users, has, err, number)
	}
}

func (b *board) wantBoard(users ...id.User) {
	b.Helper()
	var got []id.User
	for i, row := range b.page(0, 100).Rows {
		if got = append(got, row.UserID); row.Rank != int64(i)+1 {
			b.Errorf("row %d has rank %d, want %d", i, row.Rank, i+1)
		}
	}
	if !reflect.DeepEqual(got, users) {
		b.Errorf("the board has %v, want %v", got, users)
	}
}

func hiddenFromBoards(b *board) {
	b.load(rowN(1, 30), rowN(2, 20), rowN(3, 10))
	before := b.version()
	b.hide(5, hidden.BySelf|hidden.ByManager, userN(2), userN(9))
	b.wantBoard(userN(1), userN(3))
	if b.version() == before {
		b.Error("hiding a member did not change the version")
	}
	if v := b.view(leaderboard.Look{Page: 1, Users: []id.User{userN(1), userN(2)}}); v.Total != 2 || len(v.Members) != 1 {
		b.Errorf("the view is %+v, want 2 in all and one of the asked members", v)
	}
	if m := b.member(userN(2)); !m.Hidden || m.Rank != 2 || m.XP != 20 {
		b.Errorf("the hidden member is %+v, want rank 2 with 20 XP", m)
	}
	p := b.position(userN(2))
	if p.Of != 3 || p.Rank != 2 || p.Ahead == nil || p.Ahead.UserID != userN(1) || p.Flags != hidden.BySelf|hidden.ByManager {
		b.Errorf("the hidden member's position is %+v, want rank 2 of 3 behind member 1, with both flags", p)
	}
	if p := b.position(userN(3)); p.Of != 2 || p.Rank != 2 || p.Ahead.UserID != userN(1) || p.Flags != 0 || p.Hidden {
		b.Errorf("another member's position is %+v, want rank 2 of 2 behind member 1", p)
	}
	_, err := b.Around(b.Context(), b.g, userN(2), leaderboard.Window{Limit: 3})
	if b.wants("around", err, leaderboard.ErrNoMember); errors.Is(err, leaderboard.ErrNotPresent) {
		b.Errorf("around a hidden member: %v, want no mention of an absent one", err)
	}
	found, err := b.Stored(b.Context(), b.g, []id.User{userN(2), userN(9), userN(1)})
	if err != nil || len(found) != 2 || found[0].XP != 20 || found[1].XP != 30 {
		b.Errorf("the members by ids are %+v (%v), want 20 and 30 XP", found, err)
	}
	b.create(userN(9), 25)
	b.wantBoard(userN(1), userN(3))
	b.hide(6, 0, userN(2), userN(9))
	b.wantBoard(userN(1), userN(9), userN(2), userN(3))
	if m := b.member(userN(2)); m.Hidden || m.Rank != 3 {
		b.Errorf("without flags the member is %+v, want rank 3", m)
	}
}

func hiddenChanges(b *board) {
	b.load(rowN(1, 30), rowN(2, 20))
	b.hide(5, hidden.ByManager, userN(2), userN(3), userN(4))
	if out := b.change(userN(2), plusOne); out.Before != 20 || out.After != 21 {
		b.Errorf("an increment's outcome is %+v, want 20 to 21", out)
	}
	b.change(userN(2), leaderboard.Change{Op: leaderboard.Set, Amount: 40})
	b.award(leaderboard.Awards{Members: []leaderboard.Award{{User: userN(2), Offers: []level.XP{5}}, {User: userN(3), Offers: []level.XP{7}}}},
		leaderboard.Awarded{Before: 40, MessageCount: rowN(2, 20).MessageCount, Gained: []level.XP{5}}, leaderboard.Awarded{Created: true, Gained: []level.XP{7}})
	b.put(leaderboard.Puts{Mode: leaderboard.PutSet, Members: []leaderboard.Put{{User: userN(2), XP: 50}, {User: userN(4), XP: 60}}})
	b.wantBoard(userN(1))
	for user, xp := range map[id.User]level.XP{userN(2): 50, userN(3): 7, userN(4): 60} {
		if m := b.member(user); m.XP != xp || !m.Hidden {
			b.Errorf("%s is %+v, want hidden with %d XP", user, m, xp)
		}
		if row := b.waiting(user); row.XP != xp || row.Absent || row.Deleted {
			b.Errorf("%s is archived as %+v, want present with %d XP", user, row, xp)
		}
	}
	b.delete(userN(2))
	b.create(userN(2), 1)
	b.wantBoard(userN(1))
}

func hiddenGains(b *board) {
	c := ahead(0)
	b.loadOn(c, today(), gainedOn(1, 10, 10, 10, 10), gainedOn(2, 20, 20, 20, 20), rowN(3, 100))
	b.hide(5, hidden.BySelf, userN(2), userN(3))
	b.wantAllGains(c, gains{userN(1): 10})
	b.gain(userN(2), leaderboard.Increment, 5, c)
	b.gain(userN(3), leaderboard.Increment, 7, c)
	b.put(leaderboard.Puts{Mode: leaderboard.PutAdd, Days: c.now(), Members: []leaderboard.Put{{User: userN(3), XP: 1}, {User: userN(4), XP: 2}}})
	_, _, err := b.Award(b.Context(), b.g, leaderboard.Awards{Days: c.now(), Members: []leaderboard.Award{{User: userN(3), Offers: []level.XP{2}}}})
	b.must(err)
	b.wantAllGains(c, gains{userN(1): 10, userN(4): 2})
	p, _ := c.Of(period.Weekly, c.today())
	if got := b.position(userN(3), p).Periods[0]; got.Gained != 10 || got.Rank != 0 {
		b.Errorf("the hidden member's position in the week is %+v, want 10 XP without a rank", got)
	}
	_, err = b.Around(b.Context(), b.g, userN(3), leaderboard.Window{Limit: 3, Period: &p})
	b.wants("around in a period", err, leaderboard.ErrNoMember)
	b.hide(6, 0, userN(2), userN(3))
	b.wantAllGains(c, gains{userN(1): 10, userN(2): 25, userN(3): 10, userN(4): 2})
}

func hiddenPresence(b *board) {
	c := ahead(0)
	b.load(rowN(1, 30), rowN(2, 20))
	b.gain(userN(2), leaderboard.Increment, 5, c)
	b.hide(5, hidden.BySelf, userN(2))
	b.setPresence(false, c.now(), userN(2))
	_, err := b.Member(b.Context(), b.g, userN(2))
	b.wants("absent and hidden", err, leaderboard.ErrNotPresent)
	b.setAgain(false, userN(2))
	if row := b.waiting(userN(2)); !row.Absent || row.XP != 25 {
		b.Errorf("the member is archived as %+v, want absent with 25 XP", row)
	}
	b.hide(6, 0, userN(2))
	b.wantBoard(userN(1))
	b.hide(7, hidden.BySelf, userN(2))
	b.setPresence(true, c.now(), userN(2))
	b.wantBoard(userN(1))
	b.wantAllGains(c, gains{})
	b.setPresence(false, c.now(), userN(2))
	b.award(leaderboard.Awards{Members: []leaderboard.Award{{User: userN(2), Offers: []level.XP{1}}}, Days: c.now()},
		leaderboard.Awarded{Before: 25, MessageCount: rowN(2, 20).MessageCount, Gained: []level.XP{1}})
	b.wantBoard(userN(1))
	b.hide(8, 0, userN(2))
	b.wantBoard(userN(1), userN(2))
	b.wantAllGains(c, gains{userN(2): 6})
}

func lateFlags(b *board) {
	ctx := b.Context()
	copied := func(part hidden.Part, want int64) {
		b.Helper()
		if has, err := b.CopyHidden(ctx, b.g, part); err != nil || has != want {
			b.Errorf("after copying %+v the store has %d (%v), want %d", part, has, err, want)
		}
	}
	_, err := b.CopyHidden(ctx, b.g, hidden.Part{})
	b.wants("a guild that is not loaded", err, leaderboard.ErrNotLoaded)
	b.load(rowN(1, 30), rowN(2, 20), rowN(3, 10))
	copied(hidden.Part{}, 0)
	copied(hidden.Part{After: 4, Upto: 9, Users: []hidden.User{{User: userN(1), Flags: hidden.BySelf, Number: 9}}}, 0) // the flags before are missing
	b.wantBoard(userN(1), userN(2), userN(3))
	late := hidden.Part{Upto: 6, Users: []hidden.User{{User: userN(1), Flags: hidden.BySelf, Number: 4}, {User: userN(2), Flags: hidden.BySelf, Number: 6}}}
	copied(hidden.Part{Upto: 5, Users: []hidden.User{{User: userN(1), Number: 5}}}, 5)
	copied(late, 6)
	b.wantBoard(userN(1), userN(3))
	before := b.version()
	copied(late, 6)
	copied(hidden.Part{Upto: 5, Users: []hidden.User{{User: userN(3), Flags: hidden.ByManager, Number: 5}}}, 6)
	if after := b.version(); after != before {
		b.Errorf("a late copy changed the version from %v to %v", before, after)
	}
	copied(hidden.Part{After: 6, Upto: 8}, 8)
	b.wantBoard(userN(1), userN(3))
}

func olderFlags(b *board) {
	b.load(rowN(1, 30))
	b.hide(5, hidden.BySelf, userN(1))
	b.g.Hidden = 5
	b.member(userN(1))
	b.g.Hidden = 6
	_, err := b.Member(b.Context(), b.g, userN(1))
	b.wants("a member", err, leaderboard.ErrNotLoaded)
	_, err = b.Page(b.Context(), b.g, 0, 10)
	b.wants("a page", err, leaderboard.ErrNotLoaded)
	_, err = b.Change(b.Context(), b.g, userN(1), plusOne)
	b.wants("a change", err, leaderboard.ErrNotLoaded)
	b.hide(6, 0, userN(1))
	b.wantBoard(userN(1))

	b.must(b.Drop(b.Context(), b.g))
	b.g.Hidden = 0
	b.load(rowN(1, 30))
	b.hide(6, hidden.BySelf, userN(1)) // a load starts without flags
	b.wantBoard()
}

func flagsWait(b *board) {
	b.load(rowN(1, 30), rowN(2, 20))
	b.hide(5, hidden.BySelf, userN(2))
	if changed, _ := b.survey(0); !changed {
		b.Error("the survey lists no change, want the copied flags to wait")
	}
	page := b.changesPage(10)
	if len(page.Batch.Rows) > 0 || page.Batch.Rev == 0 || page.Batch.Rev != page.Batch.AsOf {
		b.Fatalf("the waiting batch is %+v, want a rev without members", page.Batch)
	}
	b.end(page.Batch)
	b.nothingWaits()
	if changed, _ := b.survey(0); changed {
		b.Error("the survey lists a change after the snapshot")
	}
	if m := b.waitingOf(userN(1)); m != nil {
		b.Errorf("the member %+v waits, want flags only", m)
	}
}

// waitingOf returns the waiting row of a user, or nil.
func (b *board) waitingOf(user id.User) *snapshot.Row {
	for _, row := range b.changes().Rows {
		if row.UserID == user {
			return &row
		}
	}
	return nil
}

func hiddenEvents(b *board) {
	b.load(rowN(1, 30), rowN(2, 20))
	b.hide(5, hidden.BySelf, userN(1))
	curve := level.Curve{}
	b.change(userN(1), leaderboard.Change{Op: leaderboard.Set, Amount: 5000, Curve: &curve})
	b.change(userN(2), leaderboard.Change{Op: leaderboard.Set, Amount: 5000, Curve: &curve})
	b.setPresence(false, nil, userN(1))
	b.setPresence(true, nil, userN(1))
	b.delete(userN(1))
	b.delete(userN(2))
	var got []events.Entry
	read, err := b.ReadEvents(b.Context(), []events.Cursor{{Guild: b.g}}, 100)
	b.must(err)
	for _, e := range read[0] {
		if e.ID = (events.ID{}); e.Reset == "" {
			got = append(got, e)
		}
	}
	want := []events.Entry{
		{User: userN(1), Before: 30, After: 5000, Hidden: true}, {User: userN(2), Before: 20, After: 5000},
		{User: userN(1), Moved: events.Removed, Hidden: true}, {User: userN(1), Moved: events.Returned, After: 5000, Hidden: true},
		{User: userN(1), Moved: events.Removed, Hidden: true}, {User: userN(2), Moved: events.Removed},
	}
	if !reflect.DeepEqual(got, want) {
		b.Errorf("the events are %+v, want %+v", got, want)
	}
}
