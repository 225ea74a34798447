package storetest

import (
	"fmt"
	"reflect"
	"slices"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

var positionCases = []boardCase{
	{"positions", positions},
	{"positions in running periods", periodPositions},
	{"the rows around a member", around},
	{"the rows around a member of a period", aroundInPeriod},
	{"positions and surroundings that cannot be read", noPositions},
}

func (b *board) position(user id.User, running ...period.Period) leaderboard.Position {
	b.Helper()
	p, err := b.Position(b.Context(), b.g, user, running)
	b.must(err)
	return p
}

func positions(b *board) {
	b.load(row(userN(1), 10), row(userN(2), 30), row(userN(3), 10), row(userN(4), 0))
	for user, want := range map[int]leaderboard.Position{
		2: {},
		3: {Ahead: &leaderboard.Ahead{UserID: userN(2), XP: 30}}, // of equal XP, the greater id is first
		1: {Ahead: &leaderboard.Ahead{UserID: userN(3), XP: 10}},
		4: {Ahead: &leaderboard.Ahead{UserID: userN(1), XP: 10}},
	} {
		want.Ranked, want.Of, want.Periods = b.member(userN(user)), 4, []leaderboard.PeriodPosition{}
		if got := b.position(userN(user)); !reflect.DeepEqual(got, want) {
			b.Errorf("member %d has the position %+v, want %+v", user, got, want)
		}
	}
	b.delete(userN(3))
	b.change(userN(2), leaderboard.Change{Op: leaderboard.Set, Amount: level.MaxXP})
	if p := b.position(userN(1)); p.Of != 3 || p.Rank != 2 || *p.Ahead != (leaderboard.Ahead{UserID: userN(2), XP: level.MaxXP}) {
		b.Errorf("after a change the position is %+v, want rank 2 of 3 behind member 2", p)
	}
}

func periodPositions(b *board) {
	b.load(row(userN(1), 100), row(userN(2), 100), row(userN(3), 100), row(userN(4), 100))
	c := ahead(0)
	running := c.Running(c.today())
	if len(running) != 4 {
		b.Fatalf("%d periods are running, want 4", len(running))
	}
	want := func(user int, gained, rank int64) {
		b.Helper()
		p := b.position(userN(user), running...)
		for i, one := range running {
			if p.Periods[i] != (leaderboard.PeriodPosition{Period: one, Rank: rank, Gained: gained}) {
				b.Errorf("in %s member %d has the position %+v, want rank %d with %d XP", one.ID, user, p.Periods[i], rank, gained)
			}
		}
	}
	want(1, 0, 0)
	b.gain(userN(1), leaderboard.Increment, 30, c)
	b.gain(userN(2), leaderboard.Increment, 50, c)
	b.gain(userN(3), leaderboard.Decrement, 20, c)
	want(1, 30, 2)
	want(2, 50, 1)
	want(3, -20, 0)
	want(4, 0, 0)
	b.gain(userN(3), leaderboard.Increment, 20, c)
	want(3, 0, 0)
	for i := range 30 {
		b.create(userN(100+i), 0)
		b.gain(userN(100+i), leaderboard.Increment, 40, c)
	}
	want(1, 30, 32)
	if p := b.position(userN(2), running[2]); len(p.Periods) != 1 || p.Periods[0].Rank != 1 || p.Periods[0].ID != running[2].ID {
		b.Errorf("in one period the positions are %+v, want rank 1 of %s", p.Periods, running[2].ID)
	}
	_, err := b.Delete(b.Context(), b.g, userN(2), leaderboard.Removal{Days: c.now()})
	b.must(err)
	want(1, 30, 31)
	b.create(userN(2), 5)
	want(2, 0, 0)
}

// wantAround compares the rows around each of users with that part of the whole board.
func (b *board) wantAround(what string, w leaderboard.Window, all []leaderboard.Standing, users ...id.User) {
	b.Helper()
	for _, user := range users {
		at := slices.IndexFunc(all, func(s leaderboard.Standing) bool { return s.UserID == user })
		from := max(0, min(at-int(w.Limit)/2, len(all)-int(w.Limit)))
		want := leaderboard.Around{Of: int64(len(all)), Rows: all[from:min(len(all), from+int(w.Limit))]}
		if got, err := b.Around(b.Context(), b.g, user, w); err != nil || !reflect.DeepEqual(got, want) {
			b.Errorf("%s: the %d rows around rank %d are %d of %d from %v (%v), want %d rows",
				what, w.Limit, at+1, len(got.Rows), got.Of, ranksOf(got.Rows), err, len(want.Rows))
		}
	}
}

func ranksOf(rows []leaderboard.Standing) (ranks []int64) {
	for _, r := range rows {
		ranks = append(ranks, r.Rank)
	}
	return ranks
}

func around(b *board) {
	rows := make([]snapshot.Row, 25)
	users := make([]id.User, len(rows))
	for i := range rows {
		rows[i], users[i] = rowN(i, level.XP(i/2)), userN(i) // each XP twice
	}
	b.load(rows...)
	all := make([]leaderboard.Standing, len(rows))
	for i, r := range b.page(0, 100).Rows {
		all[i].Ranked = r
	}
	for _, limit := range []int64{1, 2, 3, 10, 11, 24, 25, 26, 100} {
		b.wantAround("all time", leaderboard.Window{Limit: limit}, all, users...)
	}
	if got, err := b.Around(b.Context(), b.g, all[10].UserID, leaderboard.Window{Limit: 4}); err != nil || fmt.Sprint(ranksOf(got.Rows)) != "[9 10 11 12]" {
		b.Errorf("with the limit 4 the ranks are %v (%v), want 9 to 12", ranksOf(got.Rows), err)
	}
}

func aroundInPeriod(b *board) {
	c, rows := ahead(0), []snapshot.Row{}
	for i := range 12 {
		rows = append(rows, row(userN(i), 100))
	}
	b.load(rows...)
	var users []id.User
	for i := range 9 {
		b.gain(userN(i), leaderboard.Increment, level.XP(1+i/3), c)
		users = append(users, userN(i))
	}
	b.gain(userN(9), leaderboard.Decrement, 5, c)
	for _, kind := range period.Kinds {
		p, _ := c.Of(kind, c.today())
		all := b.standings(p).Rows
		for _, limit := range []int64{1, 2, 4, 5, 9, 10, 100} {
			b.wantAround(p.ID, leaderboard.Window{Limit: limit, Period: &p}, all, users...)
		}
		for _, user := range []id.User{userN(9), userN(10), userN(50)} {
			_, err := b.Around(b.Context(), b.g, user, leaderboard.Window{Limit: 5, Period: &p})
			b.wants("around one who is not above 0", err, leaderboard.ErrNoMember)
		}
	}
}

func noPositions(b *board) {
	ctx, day := b.Context(), period.At(period.Daily, today())
	read := func(user id.User, p *period.Period, want error) {
		b.Helper()
		var running []period.Period
		if p != nil {
			running = append(running, *p)
		}
		_, err := b.Position(ctx, b.g, user, running)
		b.wants("a position", err, want)
		_, err = b.Around(ctx, b.g, user, leaderboard.Window{Limit: 5, Period: p})
		b.wants("around", err, want)
	}
	read(userN(1), nil, leaderboard.ErrNotLoaded)
	read(userN(1), &day, leaderboard.ErrNotLoaded)
	b.load(row(userN(1), 10))
	read(userN(2), nil, leaderboard.ErrNoMember)
	read(userN(2), &day, leaderboard.ErrNoMember)
	b.create(userN(3), 30)
	b.leave(userN(3))
	read(userN(3), nil, leaderboard.ErrNotPresent)
	read(userN(3), &day, leaderboard.ErrNotPresent)
	if p := b.position(userN(1)); p.Of != 1 || p.Rank != 1 || p.Ahead != nil {
		b.Errorf("beside an absent member the position is %+v, want rank 1 of 1", p)
	}
	before := b.version()
	b.position(userN(1), day)
	if after := b.version(); after != before {
		b.Errorf("reads changed the version from %v to %v", before, after)
	}
	for _, limit := range []int64{-1, 0, leaderboard.MaxAround + 1} {
		if _, err := b.Around(ctx, b.g, userN(1), leaderboard.Window{Limit: limit}); err == nil {
			b.Errorf("%d rows around a member were accepted", limit)
		}
	}
}
