package period_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"levelboard/internal/domain/period"
)

var calendarKinds = []period.Kind{period.Daily, period.Weekly, period.Monthly}

// Ids follow ISO 8601, sort by time and can be parsed. The periods of a kind cover every day once.
func TestIDsSortByTimeAndParse(t *testing.T) {
	for _, kind := range calendarKinds {
		last := period.At(kind, period.DayOf(2019, time.December, 20))
		for d := last.End; d < period.DayOf(2041, time.January, 10); d++ {
			p := period.At(kind, d)
			switch {
			case !p.Has(d) || p.Has(p.First-1) || p.Has(p.End):
				t.Fatalf("%s is not in its %s, or another day is: %+v", d, kind, p)
			case p.ID == last.ID && p != last, p.ID < last.ID, p.ID != last.ID && p.First != last.End:
				t.Fatalf("%+v follows %+v, want a gapless order", p, last)
			}
			if read, err := period.Parse(p.ID); err != nil || read != p {
				t.Fatalf("the id %s is read as %+v (%v), want %+v", p.ID, read, err, p)
			}
			last = p
		}
	}
}

func TestWeeksAroundNewYearFollowISO8601(t *testing.T) {
	for day, want := range map[string]string{
		"2020-12-27": "2020-W52", "2020-12-28": "2020-W53", "2020-12-31": "2020-W53", "2021-01-03": "2020-W53", "2021-01-04": "2021-W01",
		"2022-01-02": "2021-W52", "2022-01-03": "2022-W01", "2024-12-29": "2024-W52", "2024-12-30": "2025-W01", "2025-12-28": "2025-W52",
		"2025-12-29": "2026-W01", "2026-01-01": "2026-W01", "2026-01-04": "2026-W01", "2026-01-05": "2026-W02", "2026-11-25": "2026-W48",
		"2026-12-31": "2026-W53", "2027-01-03": "2026-W53", "2027-01-04": "2027-W01", "2032-12-31": "2032-W53", "2037-12-31": "2037-W53",
	} {
		d, err := period.ParseDay(day)
		if err != nil {
			t.Fatal(err)
		}
		p := period.At(period.Weekly, d)
		if p.ID != want || p.End-p.First != 7 || dateOfDay(p.First).Weekday() != time.Monday {
			t.Errorf("%s is in %+v, want the week %s from a Monday", day, p, want)
		}
	}
}

func dateOfDay(d period.Day) time.Time { return d.Begin(time.UTC) }

func TestParseReadsIDs(t *testing.T) {
	for text, want := range map[string]struct {
		kind       period.Kind
		first, end string
	}{
		"1970-01-01": {period.Daily, "1970-01-01", "1970-01-02"},
		"2026-11-25": {period.Daily, "2026-11-25", "2026-11-26"},
		"2026-W53":   {period.Weekly, "2026-12-28", "2027-01-04"},
		"1970-W01":   {period.Weekly, "1969-12-29", "1970-01-05"},
		"2024-02":    {period.Monthly, "2024-02-01", "2024-03-01"},
		"2026-12":    {period.Monthly, "2026-12-01", "2027-01-01"},
		"1970-01":    {period.Monthly, "1970-01-01", "1970-02-01"},
		"9999-12":    {period.Monthly, "9999-12-01", "10000-01-01"},
	} {
		p, err := period.Parse(text)
		if err != nil || p.ID != text || p.Kind != want.kind || p.First.String() != want.first || p.End.String() != want.end || p.Name != "" {
			t.Errorf("%s is read as %s %s, %s to %s (%v), want %+v", text, p.Kind, p.ID, p.First, p.End, err, want)
		}
	}
	for _, text := range []string{"season-a", "season-winter-26", "season--", "season-season-1", "season-0123456789abcdef0123456789abcdef"} {
		if p, err := period.Parse(text); err != nil || p != (period.Period{Kind: period.Seasonal, ID: text}) {
			t.Errorf("the season's id %s is read as %+v (%v)", text, p, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range malformed {
		if p, err := period.Parse(text); !errors.Is(err, period.ErrMalformed) || p != (period.Period{}) {
			t.Errorf("%q is read as %+v (%v), want ErrMalformed", text, p, err)
		}
	}
}

var malformed = []string{
	"", " ", "day", "week", "month", "season", "2026", "26-11-25", "2026-11-31", "2026-02-29", "2026-00", "2026-13", "2026-1", "2026-011", "2026-11-",
	"2026-W", "2026-W0", "2026-W00", "2026-W1", "2026-W54", "2026-W99", "2025-W53", "2027-W53", "2026-w01", "2026W01", "2026-W01-1", "2026-W+1",
	"1969-12-31", "1969-12", "1969-W52", "0000-W01", "0000-01", "0000-01-01", "10000-01", "10000-W01", "9999-W53", "9999-W99",
	" 2026-11", "2026-11 ", "2026-11\n", "2026-W48\n", "\n2026-W48", "2026-11-25\x00", "２０２６-11", "2026-１1", "2026-W４8",
	"season-", "season-A", "season-a b", "season-ä", "season-a_b", "season-a\n", "seasons-a", "Season-a", "season-0123456789abcdef0123456789abcdef0",
}

func FuzzParse(f *testing.F) {
	for _, text := range append(malformed, "2026-11-25", "2026-W53", "1970-W01", "2026-11", "season-winter-26", "9999-12-31") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := period.Parse(text)
		if err != nil {
			if !errors.Is(err, period.ErrMalformed) || p != (period.Period{}) {
				t.Fatalf("%q is read as %+v (%v), want ErrMalformed", text, p, err)
			}
			return
		}
		if p.ID != text || (p.Kind != period.Seasonal && (p != period.At(p.Kind, p.First) || p != period.At(p.Kind, p.End-1))) {
			t.Fatalf("%q is read as %+v, want the period of that id", text, p)
		}
	})
}

func TestValidSeasonIDAcceptsShortNames(t *testing.T) {
	for text, want := range map[string]bool{
		"a": true, "winter-26": true, "-": true, "0": true, "0123456789abcdef0123456789abcdef": true,
		"": false, "0123456789abcdef0123456789abcdef0": false, "A": false, "a ": false, "a\n": false, "ä": false, "a/b": false, "a_b": false, "a\x00": false,
	} {
		if period.ValidSeasonID(text) != want {
			t.Errorf("ValidSeasonID(%q) is %v, want %v", text, !want, want)
		}
	}
}

func TestAtPanicsForASeason(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("At did not panic")
		}
	}()
	period.At(period.Seasonal, 1)
}

func TestRunningReturnsTheConfiguredPeriods(t *testing.T) {
	day := func(text string) period.Day {
		d, err := period.ParseDay(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	c := period.Calendar{
		Zone: time.UTC, Kinds: []period.Kind{period.Monthly, period.Daily},
		Seasons: []period.Season{
			{ID: "spring", Name: "Spring", Start: day("2027-03-01"), End: day("2027-06-01")},
			{ID: "winter", Name: "Winter", Start: day("2026-12-01"), End: day("2027-03-01")},
		},
	}
	for on, want := range map[string][]string{
		"2026-11-30": {"2026-11-30", "2026-11"},
		"2026-12-01": {"2026-12-01", "2026-12", "season-winter"},
		"2027-02-28": {"2027-02-28", "2027-02", "season-winter"},
		"2027-03-01": {"2027-03-01", "2027-03", "season-spring"},
		"2027-06-01": {"2027-06-01", "2027-06"},
	} {
		var ids []string
		for _, p := range c.Running(day(on)) {
			ids = append(ids, p.ID)
			if !p.Has(day(on)) || (p.Kind == period.Seasonal) != (p.Name != "") {
				t.Errorf("on %s the period %+v runs, which lacks the day or has a wrong name", on, p)
			}
		}
		if !slices.Equal(ids, want) {
			t.Errorf("on %s the periods %q run, want %q", on, ids, want)
		}
	}
	if _, ok := c.Of(period.Weekly, day("2026-12-01")); ok {
		t.Error("a kind that is not configured has a period")
	}
	for c, want := range map[*period.Calendar]bool{&c: true, {}: false, {Kinds: c.Kinds}: true, {Seasons: c.Seasons}: true} {
		if c.Counts() != want {
			t.Errorf("the calendar %+v counts %v, want %v", c, !want, want)
		}
	}
	if running := (period.Calendar{}).Running(day("2026-12-01")); len(running) != 0 {
		t.Errorf("without configured kinds %+v run", running)
	}
}
