package period

import (
	"strconv"
	"time"
)

// Days are today, yesterday and tomorrow in a guild's zone, each with the periods that it counts for: what the live store needs to choose a day
// by its own clock.
type Days struct {
	begins, ends time.Time // today
	text         string
}

// DaysAt returns the days around an instant; nil when the calendar counts nothing.
func (c Calendar) DaysAt(t time.Time) *Days {
	if !c.Counts() {
		return nil
	}
	today := DayAt(t, c.Zone)
	d := &Days{begins: today.Begin(c.Zone), ends: (today + 1).Begin(c.Zone)}
	text := strconv.AppendInt(nil, d.begins.UnixMilli(), 10)
	text = strconv.AppendInt(append(text, ' '), d.ends.UnixMilli(), 10)
	for _, day := range []Day{today - 1, today, today + 1} {
		text = strconv.AppendInt(append(text, '|'), int64(day), 10)
		for _, kind := range Kinds {
			text = append(append(text, ' '), c.counted(kind, day)...)
		}
	}
	d.text = string(text)
	return d
}

// counted is the range of the period of a kind, or "-". Days are always counted, whether or not they have a board.
func (c Calendar) counted(kind Kind, d Day) string {
	p, ok := c.Of(kind, d)
	if kind == Daily {
		p, ok = At(kind, d), true
	}
	if !ok {
		return "-"
	}
	return p.Range()
}

// Range is the first day of the period and the one after its last, as the live store has it: "20776-20783".
func (p Period) Range() string {
	return strconv.FormatInt(int64(p.First), 10) + "-" + strconv.FormatInt(int64(p.End), 10)
}

// At reports whether the day that is today is so at an instant.
func (d *Days) At(t time.Time) bool { return !t.Before(d.begins) && t.Before(d.ends) }

// String returns when today begins and ends, in ms since 1970, and each of the days with its periods, as redisstore's scripts take them
// (prelude/counting.lua).
func (d *Days) String() string { return d.text }
