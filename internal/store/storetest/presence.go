package storetest

import (
	"reflect"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

var presenceCases = []boardCase{
	{"an absent member is on no board", notPresent},
	{"an absent member keeps everything", keptWhileAway},
	{"a message that counts brings a member back", broughtBack},
	{"an absent member can be deleted", deletedWhileAway},
	{"absence is no gain and no loss", gainsWhileAway},
	{"a new board counts absent members", countedWhileAway},
	{"absent members may gain first", firstGainsWhileAway},
}

// leave makes members absent, and back makes them present.
func (b *board) leave(users ...id.User)    { b.Helper(); b.setPresence(false, nil, users...) }
func (b *board) comeBack(users ...id.User) { b.Helper(); b.setPresence(true, nil, users...) }

func (b *board) setPresence(present bool, days *period.Days, users ...id.User) {
	b.Helper()
	moved, err := b.SetPresence(b.Context(), b.g, leaderboard.Presence{Present: present, Users: users, Days: days})
	if err != nil || moved.Changed != int64(len(users)) || moved.Missing != nil {
		b.Errorf("setting presence %v of %v: %+v (%v), want all changed", present, users, moved, err)
	}
}

func notPresent(b *board) {
	ctx := b.Context()
	_, err := b.SetPresence(ctx, b.g, leaderboard.Presence{Users: []id.User{userN(1)}})
	b.wants("in a guild that is not loaded", err, leaderboard.ErrNotLoaded)
	b.load(rowN(1, 10), rowN(2, 20), rowN(3, 30))
	moved, err := b.SetPresence(ctx, b.g, leaderboard.Presence{Users: []id.User{userN(3), userN(9), userN(1)}})
	if want := (leaderboard.Moved{Changed: 2, Missing: []id.User{userN(9)}}); err != nil || !reflect.DeepEqual(moved, want) {
		b.Errorf("setting presence returned %+v (%v), want %+v", moved, err, want)
	}
	if p := b.page(0, 10); len(p.Rows) != 1 || p.Rows[0].UserID != userN(2) || p.Rows[0].Rank != 1 {
		b.Errorf("the page is %+v, want only member 2 with rank 1", p.Rows)
	}
	v, err := b.View(ctx, b.g, leaderboard.Look{Page: 1, Users: []id.User{userN(1), userN(2)}})
	if err != nil || v.Total != 1 || len(v.Members) != 1 || v.Members[0].UserID != userN(2) {
		b.Errorf("the view is %+v (%v), want only member 2", v, err)
	}
	before := b.version()
	for _, user := range []id.User{userN(1), userN(3)} {
		_, err = b.Member(ctx, b.g, user)
		b.wants("read", err, leaderboard.ErrNotPresent)
		_, err = b.Change(ctx, b.g, user, plusOne)
		b.wants("change", err, leaderboard.ErrNotPresent)
		_, err = b.EntryGains(ctx, b.g, user)
		b.wants("read gains", err, leaderboard.ErrNotPresent)
		_, err = b.Create(ctx, b.g, user, leaderboard.Creation{XP: 5})
		b.wants("create", err, leaderboard.ErrMemberExists)
	}
	b.setAgain(false, userN(1), userN(3))
	b.setAgain(true, userN(2))
	if after := b.version(); after != before {
		b.Errorf("calls without an effect changed the version from %v to %v", before, after)
	}
	b.comeBack(userN(1))
	if m := b.member(userN(1)); m.Rank != 2 {
		b.Errorf("the member came back as %+v, want rank 2", m)
	}
}

// setAgain sets a presence that the users have already.
func (b *board) setAgain(present bool, users ...id.User) {
	b.Helper()
	moved, err := b.SetPresence(b.Context(), b.g, leaderboard.Presence{Present: present, Users: users})
	if err != nil || moved.Changed != 0 || moved.Missing != nil {
		b.Errorf("setting presence %v again: %+v (%v), want nothing changed", present, moved, err)
	}
}

// keptWhileAway takes an absent member through a snapshot and a load.
func keptWhileAway(b *board) {
	row := rowN(1, level.MaxXP)
	row.CooldownUntil, row.Gains = longAgo.Add(time.Hour), dated(0, 7, 0, -3)
	b.load(row, rowN(2, 5))
	b.leave(userN(1), userN(2))
	rows := b.flushAll()
	if len(rows) != 2 || !rows[0].Absent || !rows[1].Absent {
		b.Fatalf("archived are %+v, want two absent members", rows)
	}
	if rows[0].LastUpdated.Equal(longAgo) {
		b.Error("a change of presence did not change LastUpdated")
	}
	b.must(b.Drop(b.Context(), b.g))
	b.hydrate(b.g, snapshot.State{Epoch: 2}, rows...)
	b.wantNoRows()
	b.comeBack(userN(1), userN(2))
	b.wantMember(userN(1), level.MaxXP, 1)
	b.wantMember(userN(2), 5, 2)
	again := b.flushAll()
	row.LastUpdated = again[0].LastUpdated
	if !reflect.DeepEqual(again[0], row) {
		b.Errorf("after the load the entry is\n%+v, want\n%+v", again[0], row)
	}
}

func (b *board) wantNoRows() {
	b.Helper()
	if p := b.page(0, 10); len(p.Rows) != 0 {
		b.Errorf("the page is %+v, want no rows", p.Rows)
	}
}

func broughtBack(b *board) {
	b.load(rowN(1, 10), rowN(2, 20), rowN(3, 30))
	b.leave(userN(1), userN(2), userN(3))
	b.award(leaderboard.Awards{Members: []leaderboard.Award{
		offer(userN(1), leaderboard.Uncounted), offer(userN(2), leaderboard.Uncounted, 0), offer(userN(3), 7), offer(userN(4), leaderboard.Uncounted),
	}}, gave(10, 1, leaderboard.Uncounted), gave(20, 2, leaderboard.Uncounted, 0), gave(30, 3, 7), gave(0, 0, leaderboard.Uncounted))
	_, err := b.Member(b.Context(), b.g, userN(1))
	b.wants("who only wrote where nothing counts", err, leaderboard.ErrNotPresent)
	b.wantMember(userN(2), 20, 3)
	b.wantMember(userN(3), 37, 4)
	_, err = b.Member(b.Context(), b.g, userN(4))
	b.wants("who only wrote where nothing counts", err, leaderboard.ErrNoMember)
	if got := b.page(0, 10); len(got.Rows) != 2 {
		b.Errorf("the page is %+v, want members 3 and 2", got)
	}
}

func deletedWhileAway(b *board) {
	b.load(rowN(1, 10))
	b.leave(userN(1))
	b.delete(userN(1))
	_, err := b.Member(b.Context(), b.g, userN(1))
	b.wants("read", err, leaderboard.ErrNoMember)
	if rows := b.flushAll(); len(rows) != 1 || !rows[0].Deleted {
		b.Errorf("archived are %+v, want a tombstone", rows)
	}
	b.create(userN(1), 3)
	b.wantMember(userN(1), 3, 0)
}

// gainsWhileAway reads boards while members leave and return.
func gainsWhileAway(b *board) {
	c := ahead(0)
	b.load(rowN(1, 1000), rowN(2, 1000), rowN(3, 1000))
	b.wantAllGains(c, gains{})
	b.gain(userN(1), leaderboard.Increment, 50, c)
	b.gain(userN(2), leaderboard.Increment, 30, c)
	b.gain(userN(3), leaderboard.Decrement, 10, c)
	b.setPresence(false, c.now(), userN(1), userN(3))
	b.wantAllGains(c, gains{userN(2): 30})
	b.setPresence(false, c.now(), userN(2))
	b.setPresence(true, c.now(), userN(1), userN(2), userN(3))
	b.gain(userN(3), leaderboard.Increment, 25, c)
	b.wantAllGains(c, gains{userN(1): 50, userN(2): 30, userN(3): 15})

	b.setPresence(false, c.now(), userN(1), userN(2))
	b.wantAllGains(c, gains{userN(3): 15})
	b.put(leaderboard.Puts{Mode: leaderboard.PutAdd, Days: c.now(), Members: []leaderboard.Put{{User: userN(1), XP: 5}}})
	b.wantAllGains(c, gains{userN(3): 15})
	b.award(leaderboard.Awards{Days: c.now(), Members: []leaderboard.Award{offer(userN(1), 4)}}, gave(1055, 1, 4))
	b.wantAllGains(c, gains{userN(1): 59, userN(3): 15})
	_, err := b.Delete(b.Context(), b.g, userN(2), leaderboard.Removal{Days: c.now()})
	b.must(err)
	b.gain(b.newMember(userN(2), 5), leaderboard.Increment, 2, c)
	b.wantAllGains(c, gains{userN(1): 59, userN(2): 2, userN(3): 15})
}

func (b *board) newMember(user id.User, xp level.XP) id.User {
	b.Helper()
	b.create(user, xp)
	return user
}

func (b *board) wantAllGains(c futureCalendar, want gains) {
	b.Helper()
	for _, kind := range []period.Kind{period.Daily, period.Weekly, period.Monthly, period.Seasonal} {
		b.wantGains(c, kind, want)
	}
}

func countedWhileAway(b *board) {
	c := ahead(0)
	one, two := rowN(1, 100), rowN(2, 100)
	one.Gains, two.Gains, two.Absent = dated(0, 20), dated(0, 30), true
	one.OnBoards, two.OnBoards = []int64{20}, []int64{30}
	b.loadOn(c, today(), one, two)
	b.wantGains(c, period.Daily, gains{userN(1): 20})
	b.put(leaderboard.Puts{Mode: leaderboard.PutAdd, Days: c.now(), Members: []leaderboard.Put{{User: userN(2), XP: 3}}})
	b.wantGains(c, period.Daily, gains{userN(1): 20})
	b.setPresence(true, c.now(), userN(2))
	b.wantGains(c, period.Daily, gains{userN(1): 20, userN(2): 33})
}

func firstGainsWhileAway(b *board) {
	c, two, three := ahead(0), rowN(2, 100), rowN(3, 100)
	two.Absent, three.Absent = true, true
	b.load(rowN(1, 100), two, three)
	b.put(leaderboard.Puts{Mode: leaderboard.PutAdd, Days: c.now(), Members: []leaderboard.Put{{User: userN(2), XP: 5}}})
	b.wantGains(c, period.Daily, nil)
	b.setPresence(true, c.now(), userN(2))
	b.wantGains(c, period.Weekly, gains{userN(2): 5})

	b.must(b.Drop(b.Context(), b.g))
	b.load(rowN(1, 100), two, three)
	_, _, err := b.Award(b.Context(), b.g, leaderboard.Awards{
		Days: c.now(), Members: []leaderboard.Award{{User: userN(3), Offers: []level.XP{7}}, {User: userN(1), Offers: []level.XP{4}}},
	})
	b.must(err)
	b.wantGains(c, period.Seasonal, gains{userN(3): 7, userN(1): 4})
}
