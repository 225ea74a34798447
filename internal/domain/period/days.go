package period

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Days are yesterday, today and tomorrow in a guild's zone. The live store chooses one of them by its own clock.
type Days struct {
	begins, ends time.Time // today
	text         string
}

// DaysAt returns the days around an instant, or nil when the calendar counts nothing.
func (c Calendar) DaysAt(t time.Time) *Days {
	if !c.Counts() {
		return nil
	}
	today := DayAt(t, c.Zone)
	d := &Days{begins: today.Begin(c.Zone), ends: (today + 1).Begin(c.Zone)}
	d.text = fmt.Sprintf("%d %d %s|%s|%s", d.begins.UnixMilli(), d.ends.UnixMilli(), c.Boards(today-1), c.Boards(today), c.Boards(today+1))
	return d
}

// At reports whether the instant is in the day that d calls today.
func (d *Days) At(t time.Time) bool { return !t.Before(d.begins) && t.Before(d.ends) }

// String returns when today begins and ends, in ms since 1970, and the boards of the three days, for redisstore's scripts (prelude/gains.lua).
func (d *Days) String() string { return d.text }

// Boards are the periods that count a day's gains, in the order of Kinds; a kind that does not count
// has the zero Period. The day always counts: its totals are listed whatever boards a guild has.
type Boards struct {
	Day     Day
	Periods [4]Period
}

// Boards returns the boards of a day. The calendar must count something.
func (c Calendar) Boards(d Day) Boards {
	b := Boards{Day: d}
	for i, kind := range Kinds {
		b.Periods[i], _ = c.Of(kind, d)
	}
	b.Periods[0] = At(Daily, d)
	return b
}

// String returns the day and the range of each period, as the live store notes its boards: "20784 20784-20785 20780-20787 - -".
func (b Boards) String() string {
	text := strconv.Itoa(int(b.Day))
	for _, p := range b.Periods {
		text += " " + p.Range()
	}
	return text
}

// SameAs reports whether text, a result of String, has the same periods. The day may differ.
func (b Boards) SameAs(text string) bool {
	_, ours, _ := strings.Cut(b.String(), " ")
	_, theirs, _ := strings.Cut(text, " ")
	return ours == theirs
}

// First returns the first day that counts for any of the boards.
func (b Boards) First() (first Day) {
	first = b.Day
	for _, p := range b.Periods {
		if p != (Period{}) {
			first = min(first, p.First)
		}
	}
	return first
}

// Range returns the first day of the period and the day after its last, as the live store has it: "20776-20783"; "-" for the zero Period.
func (p Period) Range() string {
	if p == (Period{}) {
		return "-"
	}
	return strconv.Itoa(int(p.First)) + "-" + strconv.Itoa(int(p.End))
}

// Place returns the position of a kind in Kinds, from 1.
func (k Kind) Place() int { return slices.Index(Kinds, k) + 1 }
