package period

import (
	"fmt"
	"strconv"
	"time"
)

// Days are yesterday, today and tomorrow in a guild's zone: what the live store needs to choose a day by its own clock.
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
	d.text = fmt.Sprintf("%d %d %d %d %d", d.begins.UnixMilli(), d.ends.UnixMilli(), int32(today-1), int32(today), int32(today+1))
	return d
}

// Range is the first day of the period and the one after its last, as the live store has it: "20776-20783".
func (p Period) Range() string {
	return strconv.FormatInt(int64(p.First), 10) + "-" + strconv.FormatInt(int64(p.End), 10)
}

// At reports whether the day that is today is so at an instant.
func (d *Days) At(t time.Time) bool { return !t.Before(d.begins) && t.Before(d.ends) }

// String returns when today begins and ends, in ms since 1970, and the three days' numbers, as redisstore's scripts take them
// (prelude/counting.lua).
func (d *Days) String() string { return d.text }
