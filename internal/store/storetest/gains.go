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

var gainCases = []boardCase{
	{"gains are counted", gainsAreCounted},
	{"awards count as gains", awardsAreCounted},
	{"the live store's clock chooses the day", clockChoosesTheDay},
	{"a new day begins empty and the week continues", newDay},
	{"a deleted member leaves running periods", deletedGains},
	{"a new entry's gains start at zero", freshGains},
	{"days that are archived leave the entry", archivedDays},
	{"a zone may go back", zoneGoesBack},
	{"without periods nothing is counted", nothingIsCounted},
}

// futureCalendar is a calendar on a day this many days ahead.
type futureCalendar struct {
	period.Calendar
	days int
}

func ahead(days int) futureCalendar {
	return futureCalendar{period.Calendar{
		Zone: time.UTC, Kinds: []period.Kind{period.Daily, period.Weekly, period.Monthly},
		Seasons: []period.Season{{ID: "all", Name: "All", Start: 0, End: period.DayOf(9000, 1, 1)}},
	}, days}
}

// now returns days of which the live store chooses the one this many days ahead: by its clock it is before all of them.
func (l futureCalendar) now() *period.Days {
	at := time.Now()
	if l.days > 0 {
		at = at.Add(time.Duration(l.days+1) * 24 * time.Hour)
	}
	return l.DaysAt(at)
}

func (l futureCalendar) today() period.Day { return today() + period.Day(l.days) }

func today() period.Day { return period.DayAt(time.Now(), time.UTC) }

func (b *board) gain(user id.User, op leaderboard.Op, amount level.XP, c futureCalendar) leaderboard.Outcome {
	b.Helper()
	out, err := b.Change(b.Context(), b.g, user, leaderboard.Change{Op: op, Amount: amount, Days: c.now()})
	b.must(err)
	return out
}

func (b *board) standings(p period.Period) leaderboard.Standings {
	b.Helper()
	s, err := b.Standings(b.Context(), b.g, p, 0, 100)
	b.must(err)
	return s
}

// dated returns gains of the day this many days ahead, the day before it, and so on.
func dated(days int, gained ...int64) (list []period.Gain) {
	for i, g := range gained {
		list = append(list, period.Gain{Day: today() + period.Day(days-i), Gained: g})
	}
	return list
}

// gains are the members on a period's board with what they gained.
type gains map[id.User]int64

// wantGains compares the running period of a kind.
func (b *board) wantGains(c futureCalendar, kind period.Kind, want gains) {
	b.Helper()
	p, _ := c.Of(kind, c.today())
	s, got, sum := b.standings(p), gains{}, int64(0)
	for i, row := range s.Rows {
		got[row.UserID] = row.Gained
		sum += row.Gained
		if row.Rank != int64(i)+1 || i > 0 && s.Rows[i-1].Gained < row.Gained {
			b.Errorf("%s: row %d is %+v, want falling gains", p.ID, i, row)
		}
	}
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) || s.Members != int64(len(want)) || s.Gained != sum {
		b.Errorf("%s: the board has %v, %d members with %d XP, want %v", p.ID, got, s.Members, s.Gained, want)
	}
}

func gainsAreCounted(b *board) {
	b.load(row(userN(1), 100), row(userN(2), 50), row(userN(3), 0), row(userN(4), 10))
	c := ahead(0)
	b.wantGains(c, period.Daily, nil)
	b.gain(userN(1), leaderboard.Increment, 30, c)
	b.gain(userN(1), leaderboard.Decrement, 10, c)
	b.gain(userN(2), leaderboard.Increment, level.MaxXP, c)
	b.gain(userN(3), leaderboard.Increment, 20, c)
	b.gain(userN(3), leaderboard.Set, 1000, c)
	b.gain(userN(4), leaderboard.Decrement, 100, c)
	for _, kind := range period.Kinds {
		b.wantGains(c, kind, gains{userN(1): 20, userN(2): int64(level.MaxXP) - 50, userN(3): 20})
	}
	b.gain(userN(4), leaderboard.Increment, 11, c)
	b.wantGains(c, period.Daily, gains{userN(1): 20, userN(2): int64(level.MaxXP) - 50, userN(3): 20, userN(4): 1})
	p, _ := c.Of(period.Weekly, today())
	s, err := b.Standings(b.Context(), b.g, p, 1, 2)
	b.must(err)
	if len(s.Rows) != 2 || s.Rows[0].UserID != userN(3) || s.Rows[0].Rank != 2 || s.Rows[0].XP != 1000 || s.Rows[1].UserID != userN(1) {
		b.Errorf("equal gains are %+v, want the order of ZREVRANGE", s.Rows)
	}
	if s, err = b.Standings(b.Context(), b.g, p, 4, 100); err != nil || len(s.Rows) > 0 || s.Members != 4 {
		b.Errorf("past the last row the page is %+v (%v), want 4 members and no rows", s, err)
	}
}

func awardsAreCounted(b *board) {
	b.load(row(userN(1), level.MaxXP-5))
	c := ahead(0)
	award := leaderboard.Awards{
		Members:  []leaderboard.Award{{User: userN(1), Offers: []level.XP{20}}, {User: userN(2), Offers: []level.XP{0, 15, 40}}, {User: userN(3), Offers: []level.XP{0}}},
		Cooldown: time.Minute, Days: c.now(), Once: onceOf("award", 1),
	}
	for range 2 {
		_, _, err := b.Award(b.Context(), b.g, award)
		b.must(err)
	}
	b.wantGains(c, period.Monthly, gains{userN(1): 5, userN(2): 15})
	rows := b.changes().Rows
	for _, r := range rows {
		want := []period.Gain{{Day: today(), Gained: map[id.User]int64{userN(1): 5, userN(2): 15}[r.UserID]}}
		if r.UserID == userN(3) {
			want = nil
		}
		if !reflect.DeepEqual(r.Gains, want) || r.Fresh {
			b.Errorf("%s is archived with the gains %v, fresh %v, want %v", r.UserID, r.Gains, r.Fresh, want)
		}
	}
}

// changes reads the guild's waiting changes.
func (b *board) changes() snapshot.Batch {
	b.Helper()
	p := b.ReadChanges(b.Context(), []id.Guild{b.g.ID}, 1000)[0]
	b.must(p.Err)
	return p.Batch
}

// waiting returns the waiting row of a user.
func (b *board) waiting(user id.User) snapshot.Row {
	b.Helper()
	for _, r := range b.changes().Rows {
		if r.UserID == user {
			return r
		}
	}
	b.Fatalf("the user %s has no waiting row", user)
	panic("unreachable")
}

func deletedGains(b *board) {
	b.load(row(userN(1), 0), row(userN(2), 0))
	c := ahead(0)
	b.gain(userN(1), leaderboard.Increment, 10, c)
	b.gain(userN(2), leaderboard.Increment, 5, c)
	_, err := b.Delete(b.Context(), b.g, userN(1), leaderboard.Removal{Days: c.now()})
	b.must(err)
	for _, kind := range period.Kinds {
		b.wantGains(c, kind, gains{userN(2): 5})
	}
}

func freshGains(b *board) {
	b.load(row(userN(1), 0))
	c := ahead(0)
	b.gain(userN(1), leaderboard.Increment, 10, c)
	_, err := b.Delete(b.Context(), b.g, userN(1), leaderboard.Removal{Days: c.now()})
	b.must(err)
	_, err = b.Create(b.Context(), b.g, userN(1), leaderboard.Creation{Days: c.now()})
	b.must(err)
	if r := b.waiting(userN(1)); !r.Fresh || len(r.Gains) > 0 {
		b.Errorf("the new entry is archived as %+v, want fresh without gains", r)
	}
	b.gain(userN(1), leaderboard.Increment, 3, c)
	b.gain(userN(1), leaderboard.Increment, 3, ahead(1))
	if r := b.waiting(userN(1)); !r.Fresh || !reflect.DeepEqual(r.Gains, dated(1, 3, 3)) {
		b.Errorf("the new entry is archived as %+v, want fresh with 3 XP on two days", r)
	}
	b.wantGains(ahead(1), period.Seasonal, gains{userN(1): 6})
}

func nothingIsCounted(b *board) {
	b.load(row(userN(1), 0))
	b.gain(userN(1), leaderboard.Increment, 10, futureCalendar{})
	if got := b.waiting(userN(1)); len(got.Gains) > 0 || got.Fresh {
		b.Errorf("the entry is archived as %+v, want no gains and not fresh", got)
	}
	// The same for members who return before a snapshot.
	for _, comesBack := range []func() error{
		func() error {
			_, err := b.Create(b.Context(), b.g, userN(1), leaderboard.Creation{})
			return err
		},
		func() error {
			_, _, err := b.Award(b.Context(), b.g, leaderboard.Awards{Members: []leaderboard.Award{{User: userN(1), Offers: []level.XP{5}}}})
			return err
		},
	} {
		_, err := b.Delete(b.Context(), b.g, userN(1), leaderboard.Removal{})
		b.must(err)
		b.must(comesBack())
		if got := b.waiting(userN(1)); got.Deleted || len(got.Gains) > 0 || got.Fresh {
			b.Errorf("the entry of a member who returned is %+v, want no gains and not fresh", got)
		}
	}
}
