package storetest

import (
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// gainBoardCases are about boards that are made while the archive and the entries have parts of what is on them.
var gainBoardCases = []boardCase{
	{"a loaded guild's gains are added up", loadedGains},
	{"gains that change while they are added up", gainsMeanwhile},
	{"boards that are made and read while members come and go", boardsMeanwhile},
	{"a board that is made after days that no board was read", daysUnread},
	{"a member who is deleted after days that no board was read", deletedUnread},
}

// largeCases take the in-process Redis minutes.
var largeCases = []boardCase{
	{"a board with many changes since it was read", manyNotes},
	{"a board that nobody reads", unreadBoard},
}

// loadWithGains loads two members who gained 10 and 20 today and 5 yesterday, and one who gained 100 before that.
func (b *board) loadWithGains() {
	h := b.begin(b.g, snapshot.State{}, hydrate.FoundNothing)
	h.LastDay = today()
	var rows []snapshot.Row
	for n := range 3 {
		r := row(userN(n+1), 1000)
		r.Gains = dated(0, int64(10*(n+1)), 5)
		rows = append(rows, r)
	}
	rows[2].Gains = nil
	b.must(b.LoadChunk(b.Context(), h, rows))
	b.must(b.CommitHydration(b.Context(), h, snapshot.State{Epoch: 1}))
}

func (b *board) count(p period.Period, archived int64, users ...id.User) {
	b.Helper()
	live := b.Store.(leaderboard.Counting)
	sums := make([]leaderboard.Sum, len(users))
	for i, user := range users {
		sums[i].User = user
	}
	for len(sums) > 0 {
		var err error
		sums, err = live.CountMembers(b.Context(), b.g, p, sums)
		b.must(err)
		for i := range sums {
			if !sums[i].Fresh {
				sums[i].Gained = archived
			}
		}
	}
}

func loadedGains(b *board) {
	b.loadWithGains()
	c, live := ahead(0), b.Store.(leaderboard.Counting)
	p, _ := c.Of(period.Seasonal, today())
	_, err := b.Standings(b.Context(), b.g, p, 0, 1, leaderboard.Digest{})
	b.wants("the board of a guild that was just loaded", err, leaderboard.ErrNotCounted)
	b.wants("to end what was not begun", live.EndCount(b.Context(), b.g, p), leaderboard.ErrNotCounted)
	needed, err := live.BeginCount(b.Context(), b.g, p)
	b.must(err)
	if !needed {
		b.Error("there is nothing to add up")
	}
	b.count(p, 100, userN(1), userN(2), userN(3), userN(4))
	_, err = b.Standings(b.Context(), b.g, p, 0, 1, leaderboard.Digest{})
	b.wants("the board that is being added up", err, leaderboard.ErrNotCounted)
	b.must(live.EndCount(b.Context(), b.g, p))
	b.wantGains(c, period.Seasonal, gains{userN(1): 115, userN(2): 125, userN(3): 100})
	if needed, err = live.BeginCount(b.Context(), b.g, p); err != nil || needed {
		b.Errorf("to begin again: %v, %v", needed, err)
	}
	b.gain(userN(1), leaderboard.Increment, 1, c)
	b.wantGains(c, period.Seasonal, gains{userN(1): 116, userN(2): 125, userN(3): 100})
}

func gainsMeanwhile(b *board) {
	b.loadWithGains()
	c, live := ahead(0), b.Store.(leaderboard.Counting)
	p, _ := c.Of(period.Seasonal, today())
	_, err := live.BeginCount(b.Context(), b.g, p)
	b.must(err)
	b.gain(userN(1), leaderboard.Increment, 1, c)
	b.count(p, 100, userN(1), userN(2))
	b.gain(userN(1), leaderboard.Increment, 1, ahead(1))
	b.gain(userN(3), leaderboard.Increment, 1, c)
	b.count(p, 100, userN(1), userN(3))
	b.count(p, 100, userN(1))
	b.must(live.EndCount(b.Context(), b.g, p))
	b.wantGains(c, period.Seasonal, gains{userN(1): 117, userN(2): 125, userN(3): 101})
	var unsaved []id.User
	b.must(live.UnsavedUsers(b.Context(), b.g, func(users []id.User) error { unsaved = append(unsaved, users...); return nil }))
	if len(unsaved) != 2 {
		b.Errorf("unsaved are %v", unsaved)
	}
}

func manyNotes(b *board) {
	const members = 1200
	var rows []snapshot.Row
	for n := range members {
		rows = append(rows, row(userN(n), 0))
	}
	b.load(rows...)
	c, want := ahead(0), int64(0)
	b.wantGains(c, period.Daily, nil)
	for n := range members {
		b.gain(userN(n), leaderboard.Increment, level.XP(n), c)
		want += int64(n)
	}
	p, _ := c.Of(period.Daily, today())
	s, err := b.Standings(b.Context(), b.g, p, 0, 3, leaderboard.Digest{})
	b.must(err)
	if s.Members != members-1 || s.Gained != want || len(s.Rows) != 3 || s.Rows[0].UserID != userN(members-1) {
		b.Errorf("got %d members with %d, want %d with %d; rows %+v", s.Members, s.Gained, members-1, want, s.Rows)
	}
}

// A board that nobody reads costs memory for so many changes, and is made again then.
func unreadBoard(b *board) {
	const members = 50_001
	var rows []snapshot.Row
	for n := range members {
		rows = append(rows, row(userN(n), 0))
	}
	b.load(rows...)
	c := ahead(0)
	b.wantGains(c, period.Weekly, nil)
	award := leaderboard.Awards{Days: c.now()}
	for n := range members {
		award.Members = append(award.Members, leaderboard.Award{User: userN(n), Offers: []level.XP{7}})
		if len(award.Members) == leaderboard.MaxAwards || n == members-1 {
			_, _, err := b.Award(b.Context(), b.g, award)
			b.must(err)
			award.Members = nil
		}
	}
	p, _ := c.Of(period.Weekly, today())
	_, err := b.Standings(b.Context(), b.g, p, 0, 1, leaderboard.Digest{})
	b.wants("the board that nobody read", err, leaderboard.ErrNotCounted)
	if s := b.standings(p); s.Members != members || s.Gained != 7*members {
		b.Errorf("got %d members with %d", s.Members, s.Gained)
	}
}

func boardsMeanwhile(b *board) {
	b.load(row(userN(1), 0), row(userN(2), 0))
	c := ahead(0)
	b.gain(userN(1), leaderboard.Increment, 10, c)
	b.wantGains(c, period.Weekly, gains{userN(1): 10})
	b.gain(userN(1), leaderboard.Increment, 1, c)
	b.gain(userN(2), leaderboard.Increment, 5, c)
	_, err := b.Delete(b.Context(), b.g, userN(2), leaderboard.Removal{Days: c.now()})
	b.must(err)
	_, err = b.Create(b.Context(), b.g, userN(2), leaderboard.Creation{Days: c.now()})
	b.must(err)
	b.gain(userN(2), leaderboard.Increment, 3, c)
	b.wantGains(c, period.Daily, gains{userN(1): 11, userN(2): 3}) // which is made while changes are noted for the week
	b.wantGains(c, period.Weekly, gains{userN(1): 11, userN(2): 3})
	b.gain(userN(1), leaderboard.Decrement, 20, ahead(1))
	b.wantGains(ahead(1), period.Seasonal, gains{userN(2): 3})
}

// gainUnread reads boards of today, and has a member gain 10 on each of so many days from then on, each archived at once.
func (b *board) gainUnread(days int, read ...period.Kind) {
	b.Helper()
	b.load(row(userN(1), 0))
	for _, kind := range read {
		b.wantGains(ahead(0), kind, nil)
	}
	for day := range days {
		b.gain(userN(1), leaderboard.Increment, 10, ahead(day))
		_, errs := b.EndChanges(b.Context(), []snapshot.Batch{b.changes()})
		b.must(errs[0])
	}
}

func daysUnread(b *board) {
	const days = 7
	b.gainUnread(days, period.Daily)
	last := ahead(days - 1)
	p, _ := last.Of(period.Seasonal, last.today())
	b.make(p, 10*(days-3), userN(1)) // the entry has the last three days
	b.wantGains(last, period.Seasonal, gains{userN(1): 10 * days})
	b.gain(userN(1), leaderboard.Increment, 1, last)
	b.wantGains(last, period.Seasonal, gains{userN(1): 10*days + 1})
}

func deletedUnread(b *board) {
	b.gainUnread(5, period.Daily, period.Seasonal)
	_, err := b.Delete(b.Context(), b.g, userN(1), leaderboard.Removal{Days: ahead(4).now()})
	b.must(err)
	b.wantGains(ahead(0), period.Daily, nil)
	b.wantGains(ahead(4), period.Seasonal, nil)
}
