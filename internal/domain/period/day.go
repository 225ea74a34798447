// Package period computes the days, weeks, months and seasons of a guild in its time zone:
// their ids, their bounds, and which of them contain an instant. It counts and stores nothing.
package period

import (
	"errors"
	"time"
)

// Day is a local date, in days since 1970-01-01. Days are consecutive numbers, so a period is a range of them.
type Day int32

const secondsOfDay = 24 * 60 * 60

// DayOf returns the day of a date. Like time.Date it normalizes: December 32 is January 1.
func DayOf(year int, month time.Month, day int) Day {
	return Day(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / secondsOfDay)
}

// ParseDay reads a date such as 2026-11-25, in the years 1970 to 9999. It returns errMalformed for any other text.
func ParseDay(text string) (Day, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil || t.Year() < 1970 || t.Format(time.DateOnly) != text {
		return 0, errMalformed
	}
	return Day(t.Unix() / secondsOfDay), nil
}

// MarshalText writes the date for UnmarshalText.
func (d Day) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what ParseDay reads. Its error is the rule that the text breaks.
func (d *Day) UnmarshalText(text []byte) error {
	parsed, err := ParseDay(string(text))
	if err != nil {
		return errors.New("must be a date in the years 1970 to 9999, such as 2026-12-01")
	}
	*d = parsed
	return nil
}

// String returns the date as ParseDay reads it.
func (d Day) String() string { return d.date().Format(time.DateOnly) }

// date is midnight of the day in UTC.
func (d Day) date() time.Time { return time.Unix(int64(d)*secondsOfDay, 0).UTC() }

// widest is more than the difference of any zone from UTC.
const widest = 26 * time.Hour

// Begin returns the first instant at which the date in the zone is d or later.
// If a zone skips the date, the date begins and ends at the same instant.
func (d Day) Begin(zone *time.Location) time.Time {
	midnight := d.date()
	for t := midnight.Add(-widest); ; { // before t, the date is never d
		local := t.In(zone)
		_, offset := local.Zone()
		at := midnight.Add(-time.Duration(offset) * time.Second)
		if at.Before(t) {
			at = t // the clocks went forward over midnight
		}
		_, ends := local.ZoneBounds()
		if !ends.IsZero() && !ends.After(t) {
			ends = DayOf(t.Year()+1, time.January, 1).date() // ZoneBounds ends a leap year a day too early: golang/go#81583
		}
		if ends.IsZero() || at.Before(ends) {
			return at.UTC()
		}
		t = ends.UTC()
	}
}

// DayAt returns the day in the zone at an instant: the last one that has begun. Where clocks go back
// over midnight, the clock shows the day before for a second time; DayAt stays at the later day.
func DayAt(t time.Time, zone *time.Location) Day {
	year, month, day := t.In(zone).Date()
	d := DayOf(year, month, day)
	for !t.Before((d + 1).Begin(zone)) {
		d++
	}
	return d
}
