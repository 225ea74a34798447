package storetest

import (
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// gainBoardCases are about which boards of periods exist.
var gainBoardCases = []boardCase{
	{"a load brings the boards", loadedGains},
	{"a load knows a later day", loadedBehind},
	{"a kind can be switched on, off and on again", kindsChange},
	{"a season's dates may change", seasonChanges},
	{"boards while members come and go", boardsMeanwhile},
	{"a board without a calendar is dropped", boardsWithoutCalendar},
}

// loadOn loads members with boards as of the calendar's day. newest is the last day with gains.
func (b *board) loadOn(c futureCalendar, newest period.Day, rows ...snapshot.Row) {
	b.Helper()
	h := b.begin(b.g, snapshot.State{}, hydrate.FoundNothing)
	boards := c.Boards(c.today())
	boards.Day = newest
	h.Boards = boards.String()
	for _, r := range rows {
		for i, gained := range r.OnBoards {
			if !r.Absent {
				h.Gained[i] += max(gained, 0)
			}
		}
	}
	b.must(b.LoadChunk(b.Context(), h, rows))
	b.must(b.CommitHydration(b.Context(), h, snapshot.State{Epoch: 1}))
}

func gainedOn(n int, onBoards ...int64) snapshot.Row {
	r := rowN(n, 1000)
	r.Gains, r.OnBoards = dated(0, onBoards[0]), onBoards
	return r
}

// wantNoBoard fails unless the board of a kind must be loaded before it is read.
func (b *board) wantNoBoard(c futureCalendar, kind period.Kind) {
	b.Helper()
	p, _ := c.Of(kind, c.today())
	_, err := b.Standings(b.Context(), b.g, p, 0, 1)
	b.wants("the board of "+p.ID, err, leaderboard.ErrNoBoard)
	_, err = b.Position(b.Context(), b.g, userN(1), []period.Period{p})
	b.wants("a position on the board of "+p.ID, err, leaderboard.ErrNoBoard)
}

func loadedGains(b *board) {
	c, two := ahead(0), gainedOn(2, 3, 4, 5, 6)
	two.Absent = true
	b.loadOn(c, today(), gainedOn(1, 10, 20, 30, 40), two, gainedOn(3, -5, -5, 0, 7))
	b.wantGains(c, period.Daily, gains{userN(1): 10})
	b.wantGains(c, period.Monthly, gains{userN(1): 30})
	b.wantGains(c, period.Seasonal, gains{userN(1): 40, userN(3): 7})
	b.gain(userN(1), leaderboard.Increment, 1, c)
	b.gain(userN(3), leaderboard.Increment, 6, c)
	b.setPresence(true, c.now(), userN(2))
	b.wantGains(c, period.Daily, gains{userN(1): 11, userN(2): 3, userN(3): 1})
	b.wantGains(c, period.Weekly, gains{userN(1): 21, userN(2): 4, userN(3): 1})
	b.wantGains(c, period.Seasonal, gains{userN(1): 41, userN(2): 6, userN(3): 13})
}

// The zone went back, so the board of a day that was counted before is empty when the day comes again.
func loadedBehind(b *board) {
	c, next := ahead(0), ahead(1)
	b.loadOn(c, next.today(), gainedOn(1, 10, 20, 30, 40))
	b.gain(userN(1), leaderboard.Increment, 1, c)
	b.wantGains(c, period.Daily, gains{userN(1): 11})
	b.wantNoBoard(next, period.Daily)
	b.gain(userN(1), leaderboard.Increment, 1, next)
	b.wantNoBoard(next, period.Daily)
	b.wantNoBoard(next, period.Seasonal)
}

func kindsChange(b *board) {
	b.load(row(userN(1), 0))
	all, days := ahead(0), ahead(0)
	days.Kinds, days.Seasons = []period.Kind{period.Daily}, nil
	b.gain(userN(1), leaderboard.Increment, 1, days)
	b.wantGains(days, period.Daily, gains{userN(1): 1})
	b.wantNoBoard(all, period.Monthly)
	b.gain(userN(1), leaderboard.Increment, 1, all)
	b.wantNoBoard(all, period.Monthly)

	b.must(b.Drop(b.Context(), b.g))
	b.loadOn(all, today(), gainedOn(1, 1, 1, 1, 1))
	b.gain(userN(1), leaderboard.Increment, 1, all)
	b.wantGains(all, period.Monthly, gains{userN(1): 2})
	b.gain(userN(1), leaderboard.Increment, 1, days) // from a replica with other settings
	b.wantNoBoard(all, period.Monthly)
	b.wantGains(days, period.Daily, gains{userN(1): 3})

	tomorrow := ahead(1)
	tomorrow.Kinds, tomorrow.Seasons = all.Kinds, []period.Season{{ID: "new", Start: tomorrow.today(), End: tomorrow.today() + 5}}
	b.gain(userN(1), leaderboard.Increment, 1, tomorrow)
	b.wantNoBoard(tomorrow, period.Monthly) // a day is missing
}

func seasonChanges(b *board) {
	b.load(row(userN(1), 0))
	season := func(first, end period.Day, day int) futureCalendar {
		c := ahead(day)
		c.Kinds, c.Seasons = nil, []period.Season{{ID: "s", Start: today() + first, End: today() + end}}
		return c
	}
	b.gain(userN(1), leaderboard.Increment, 1, season(0, 3, 0))
	b.gain(userN(1), leaderboard.Increment, 1, season(0, 3, 1))
	b.wantGains(season(0, 3, 1), period.Seasonal, gains{userN(1): 2})
	b.gain(userN(1), leaderboard.Increment, 1, season(3, 5, 3)) // begins with a day that was not counted
	b.wantGains(season(3, 5, 3), period.Seasonal, gains{userN(1): 1})
	b.gain(userN(1), leaderboard.Increment, 1, season(2, 5, 3))
	b.wantNoBoard(season(2, 5, 3), period.Seasonal)
}

func boardsMeanwhile(b *board) {
	b.load(row(userN(1), 0), row(userN(2), 0))
	c := ahead(0)
	b.gain(userN(1), leaderboard.Increment, 11, c)
	b.gain(userN(2), leaderboard.Increment, 5, c)
	_, err := b.Delete(b.Context(), b.g, userN(2), leaderboard.Removal{Days: c.now()})
	b.must(err)
	b.wantGains(c, period.Weekly, gains{userN(1): 11})
	_, err = b.Create(b.Context(), b.g, userN(2), leaderboard.Creation{Days: c.now()})
	b.must(err)
	b.gain(userN(2), leaderboard.Increment, 3, c)
	b.wantGains(c, period.Weekly, gains{userN(1): 11, userN(2): 3})
	b.gain(userN(1), leaderboard.Decrement, 20, ahead(1)) // all of its gains
	b.wantGains(ahead(1), period.Seasonal, gains{userN(2): 3})
	b.gain(userN(1), leaderboard.Increment, 10, ahead(1))
	b.wantGains(ahead(1), period.Seasonal, gains{userN(1): 10, userN(2): 3})
}

// A change without a calendar updates no boards, so they are not trusted afterwards.
func boardsWithoutCalendar(b *board) {
	for _, change := range []func() error{
		func() error { // a deletion
			_, err := b.Delete(b.Context(), b.g, userN(2), leaderboard.Removal{})
			return err
		},
		func() error { // an absence
			_, err := b.SetPresence(b.Context(), b.g, leaderboard.Presence{Users: []id.User{userN(2)}})
			return err
		},
	} {
		c := ahead(0)
		b.loadOn(c, today(), gainedOn(1, 1, 1, 1, 1), gainedOn(2, 2, 2, 2, 2))
		b.must(change())
		b.wantNoBoard(c, period.Daily)
		b.gain(userN(1), leaderboard.Increment, 1, c)
		b.wantNoBoard(c, period.Daily)
		b.must(b.Drop(b.Context(), b.g))
	}
}
