package period_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"levelboard/internal/domain/period"
)

// dateOf returns the date that a clock in the zone shows.
func dateOf(t time.Time, z *time.Location) period.Day {
	year, month, day := t.In(z).Date()
	return period.DayOf(year, month, day)
}

// checkInstant checks that an instant is in exactly one day, week and month, those of DayAt.
func checkInstant(t *testing.T, at time.Time, z *time.Location) {
	t.Helper()
	d := period.DayAt(at, z)
	if clock := dateOf(at, z); d < clock || d > clock+1 {
		t.Errorf("%s in %s is on day %s, but the clock shows %s", at, z, d, clock)
	}
	for _, kind := range []period.Kind{period.Daily, period.Weekly, period.Monthly} {
		p := period.At(kind, d)
		start, end := p.Bounds(z)
		if at.Before(start) || !at.Before(end) {
			t.Errorf("%s in %s is on %s, outside the %s %s from %s to %s", at, z, d, kind, p.ID, start, end)
		}
		if _, before := period.At(kind, p.First-1).Bounds(z); !before.Equal(start) {
			t.Errorf("in %s the %s before %s ends at %s, want its start %s", z, kind, p.ID, before, start)
		}
		if after, _ := period.At(kind, p.End).Bounds(z); !after.Equal(end) {
			t.Errorf("in %s the %s after %s starts at %s, want its end %s", z, kind, p.ID, after, end)
		}
	}
}

// checkDay checks that a day begins with the first instant whose date is that day or later.
func checkDay(t *testing.T, d period.Day, z zone) {
	t.Helper()
	begin := d.Begin(z.Location)
	if clock := dateOf(begin, z.Location); clock < d {
		t.Errorf("%s begins at %s in %s, but the clock still shows %s", d, begin, z, clock)
	}
	// Between changes of the offset the clock only runs forward, so the last instants before changes have the latest dates.
	latest := []time.Time{begin.Add(-1)}
	for _, change := range z.changes {
		if change.Before(begin) && begin.Sub(change) < 72*time.Hour {
			latest = append(latest, change.Add(-1))
		}
	}
	for _, at := range latest {
		if clock := dateOf(at, z.Location); clock >= d {
			t.Errorf("%s begins at %s in %s, but at %s the clock already shows %s", d, begin, z, at, clock)
		}
	}
	if next := (d + 1).Begin(z.Location); next.Before(begin) {
		t.Errorf("%s begins at %s in %s, after the next day at %s", d, begin, z, next)
	}
	checkInstant(t, begin, z.Location)
	checkInstant(t, begin.Add(-1), z.Location)
}

func TestEveryInstantIsInOneDayWeekAndMonth(t *testing.T) {
	random := rand.New(rand.NewPCG(2026, 11)) // a fixed seed
	for _, z := range zones(t) {
		for _, change := range z.changes {
			checkInstant(t, change.Add(-1), z.Location)
			checkInstant(t, change, z.Location)
			checkDay(t, dateOf(change, z.Location), z)
			checkDay(t, dateOf(change, z.Location)+1, z)
		}
		for year := 2020; year <= 2040; year++ {
			checkDay(t, period.DayOf(year, time.January, 1), z)
			checkInstant(t, from.Add(time.Duration(random.Int64N(int64(to.Sub(from))))), z.Location)
		}
		if t.Failed() {
			return // other zones would fail the same way
		}
	}
}

// The system's zones list every change until 2037, and those in the binary have a rule. Both must give the same days.
func TestTheYearAfterALeapYearBeginsAtMidnight(t *testing.T) {
	for _, name := range []string{"America/New_York", "Europe/Berlin", "Australia/Sydney", "America/Santiago"} {
		z := load(t, name)
		for year := 2020; year <= 2100; year += 4 {
			begin := period.DayOf(year+1, time.January, 1).Begin(z)
			if want := time.Date(year+1, time.January, 1, 0, 0, 0, 0, z); !begin.Equal(want) {
				t.Errorf("in %s the year %d begins at %s, want %s", name, year+1, begin, want)
			}
		}
	}
}

func TestDaysMayHave23To25Hours(t *testing.T) {
	for _, c := range []struct {
		zone, day, start string
		length           time.Duration
	}{
		{"UTC", "2026-03-29", "2026-03-29T00:00:00Z", 24 * time.Hour},
		{"Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00Z", 23 * time.Hour},
		{"Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00Z", 25 * time.Hour},
		{"America/New_York", "2026-03-08", "2026-03-08T05:00:00Z", 23 * time.Hour},
		{"America/New_York", "2026-11-01", "2026-11-01T04:00:00Z", 25 * time.Hour},
		{"Australia/Lord_Howe", "2026-10-04", "2026-10-03T13:30:00Z", 23*time.Hour + 30*time.Minute},
		{"Australia/Lord_Howe", "2026-04-05", "2026-04-04T13:00:00Z", 24*time.Hour + 30*time.Minute},
		{"Asia/Kathmandu", "2026-01-01", "2025-12-31T18:15:00Z", 24 * time.Hour},

		// Midnight is skipped, so the day begins at 01:00.
		{"America/Asuncion", "2023-10-01", "2023-10-01T04:00:00Z", 23 * time.Hour},
		{"Asia/Beirut", "2026-03-29", "2026-03-28T22:00:00Z", 23 * time.Hour},
		{"America/Havana", "2026-03-08", "2026-03-08T05:00:00Z", 23 * time.Hour},
		{"America/Santiago", "2026-09-06", "2026-09-06T04:00:00Z", 23 * time.Hour},
		{"Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00Z", 23 * time.Hour},
		// Midnight and the hour before it come twice. The day begins the first time.
		{"America/Havana", "2026-11-01", "2026-11-01T04:00:00Z", 25 * time.Hour},
		{"America/Scoresbysund", "2023-10-29", "2023-10-29T00:00:00Z", 25 * time.Hour},
		{"America/St_Johns", "2010-11-07", "2010-11-07T02:30:00Z", 25 * time.Hour},
		// The last hour before midnight comes twice. The next day begins after the second one.
		{"America/Asuncion", "2023-03-25", "2023-03-25T03:00:00Z", 25 * time.Hour},
		{"Asia/Beirut", "2026-10-24", "2026-10-23T21:00:00Z", 25 * time.Hour},
		{"America/Santiago", "2026-04-04", "2026-04-04T03:00:00Z", 25 * time.Hour},
		{"Africa/Cairo", "2026-10-29", "2026-10-28T21:00:00Z", 25 * time.Hour},

		// Samoa and Kwajalein crossed the date line, so no instant has that date.
		{"Pacific/Apia", "2011-12-29", "2011-12-29T10:00:00Z", 24 * time.Hour},
		{"Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z", 0},
		{"Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z", 24 * time.Hour},
		{"Pacific/Kwajalein", "1993-08-21", "1993-08-21T12:00:00Z", 0},
		{"Pacific/Kwajalein", "1993-08-22", "1993-08-21T12:00:00Z", 24 * time.Hour},
	} {
		z := load(t, c.zone)
		d, err := period.ParseDay(c.day)
		if err != nil {
			t.Fatal(err)
		}
		start, end := period.At(period.Daily, d).Bounds(z)
		if start.Format(time.RFC3339) != c.start || end.Sub(start) != c.length {
			t.Errorf("%s in %s lasts from %s for %s, want from %s for %s", c.day, c.zone, start.Format(time.RFC3339), end.Sub(start), c.start, c.length)
		}
		for _, at := range []time.Time{start.Add(-1), start, end.Add(-1), end} {
			checkInstant(t, at, z)
		}
	}
}

// In Newfoundland clocks went from 00:01 back to 23:01. The clock shows the earlier date again, but the day stays.
func TestADayDoesNotReturn(t *testing.T) {
	z := load(t, "America/St_Johns")
	start, end := time.Date(2010, time.November, 6, 20, 0, 0, 0, z), time.Date(2010, time.November, 7, 6, 0, 0, 0, z)
	last := period.DayAt(start, z)
	for at := start; at.Before(end); at = at.Add(30 * time.Second) {
		d := period.DayAt(at, z)
		if d < last {
			t.Fatalf("at %s the day is %s, after %s", at, d, last)
		}
		last = d
	}
	if at := time.Date(2010, time.November, 7, 3, 0, 0, 0, time.UTC); at.In(z).Day() != 6 || period.DayAt(at, z).String() != "2010-11-07" {
		t.Errorf("at %s the day is %s, want 2010-11-07", at.In(z), period.DayAt(at, z))
	}
}

func TestParseDayReadsDates(t *testing.T) {
	for _, text := range []string{"1970-01-01", "2024-02-29", "2026-11-25", "9999-12-31"} {
		if d, err := period.ParseDay(text); err != nil || d.String() != text {
			t.Errorf("the date %s is read as %s (%v)", text, d, err)
		}
	}
	for _, text := range []string{
		"", "2026", "2026-11", "1969-12-31", "0000-01-01", "10000-01-01", "2026-02-29", "2026-13-01", "2026-00-10", "2026-01-00", "2026-01-32",
		"2026-1-01", "2026-01-1", "2026-01-01T00:00:00Z", " 2026-01-01", "2026-01-01\n", "-2026-01-01", "+2026-01-01", "2026/01/01", "２026-01-01",
	} {
		if d, err := period.ParseDay(text); err == nil {
			t.Errorf("the invalid date %q is read as %s", text, d)
		}
	}
}
