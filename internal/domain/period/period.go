package period

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// errMalformed says that a text is not the id of a period, or not a date.
var errMalformed = errors.New("not the id of a period")

// Kind says how long a period is.
type Kind string

// The kinds, shorter ones first.
const (
	Daily    Kind = "day"
	Weekly   Kind = "week"
	Monthly  Kind = "month"
	Seasonal Kind = "season"
)

// Kinds are all kinds, shortest first.
var Kinds = []Kind{Daily, Weekly, Monthly, Seasonal}

// Period is a range of days: First is in it, End is the first day after it.
type Period struct {
	Kind       Kind
	ID         string // 2026-11-25, 2026-W48, 2026-11 or season-winter-26; ids of one kind sort by time, except seasons'
	Name       string // for a season; else empty
	First, End Day
}

// seasonPrefix begins the ids of seasons.
const seasonPrefix = "season-"

// Season is a range of days that a guild chose: it contains Start but not End.
type Season struct {
	ID    string `json:"id"` // 1 to 32 of a-z, 0-9 and -
	Name  string `json:"name" bytes:"1..400"`
	Start Day    `json:"start"`
	End   Day    `json:"end"`
}

// Period returns the season as a period.
func (s Season) Period() Period {
	return Period{Kind: Seasonal, ID: seasonPrefix + s.ID, Name: s.Name, First: s.Start, End: s.End}
}

// At returns the day, week or month that contains a day. It panics for Seasonal, since only guilds define seasons.
func At(kind Kind, d Day) Period {
	date := d.date()
	switch kind {
	case Daily:
		return Period{Kind: kind, ID: d.String(), First: d, End: d + 1}
	case Weekly: // ISO 8601: it begins on Monday
		first := d - Day((date.Weekday()+6)%7)
		year, week := date.ISOWeek()
		return Period{Kind: kind, ID: fmt.Sprintf("%04d-W%02d", year, week), First: first, End: first + 7}
	case Monthly:
		first, end := DayOf(date.Year(), date.Month(), 1), DayOf(date.Year(), date.Month()+1, 1)
		return Period{Kind: kind, ID: date.Format("2006-01"), First: first, End: end}
	}
	panic("period: a " + string(kind) + " is not part of every calendar")
}

var (
	weekID   = regexp.MustCompile(`^(\d{4})-W(\d{2})$`)
	monthID  = regexp.MustCompile(`^\d{4}-\d{2}$`)
	seasonID = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)
)

// ValidSeasonID reports whether text can be the id of a season.
func ValidSeasonID(text string) bool { return seasonID.MatchString(text) }

// Parse reads the id of a period, in the years 1970 to 9999. For a season it sets only kind and
// id. It returns errMalformed for any other text, including week 53 of a year with 52 weeks.
func Parse(text string) (Period, error) {
	if id, ok := strings.CutPrefix(text, seasonPrefix); ok && ValidSeasonID(id) {
		return Period{Kind: Seasonal, ID: text}, nil
	}
	kind, d := Daily, Day(0)
	var err error
	if found := weekID.FindStringSubmatch(text); found != nil {
		year, _ := strconv.Atoi(found[1])
		week, _ := strconv.Atoi(found[2])
		kind, d = Weekly, DayOf(year, time.January, 4)+Day(7*(week-1)) // January 4 is in the first week
	} else if monthID.MatchString(text) {
		kind = Monthly
		d, err = ParseDay(text + "-01")
	} else {
		d, err = ParseDay(text)
	}
	if err != nil || d < 0 {
		return Period{}, errMalformed
	}
	p := At(kind, d)
	if p.ID != text {
		return Period{}, errMalformed
	}
	return p, nil
}

// SeasonName returns the name of a season, or nil for other kinds, which have none.
func (p Period) SeasonName() *string {
	if p.Kind != Seasonal {
		return nil
	}
	return &p.Name
}

// Bounds returns the first instant of the period, and the first instant after it.
func (p Period) Bounds(zone *time.Location) (start, end time.Time) {
	return p.First.Begin(zone), p.End.Begin(zone)
}

// Has reports whether the period contains a day.
func (p Period) Has(d Day) bool { return p.First <= d && d < p.End }

// Calendar is the periods for which a guild counts gains.
type Calendar struct {
	Zone    *time.Location
	Kinds   []Kind // of Daily, Weekly and Monthly, each at most once
	Seasons []Season
}

// Counts reports whether the guild counts gains at all.
func (c Calendar) Counts() bool { return len(c.Kinds) > 0 || len(c.Seasons) > 0 }

// Running returns the periods that contain a day, shorter kinds first.
func (c Calendar) Running(d Day) (running []Period) {
	for _, kind := range Kinds {
		if p, ok := c.Of(kind, d); ok {
			running = append(running, p)
		}
	}
	return running
}

// Of returns the period of a kind that contains a day. ok is false if there is none or the guild does not count the kind.
func (c Calendar) Of(kind Kind, d Day) (Period, bool) {
	if kind == Seasonal {
		for _, s := range c.Seasons {
			if p := s.Period(); p.Has(d) {
				return p, true
			}
		}
		return Period{}, false
	}
	for _, k := range c.Kinds {
		if k == kind {
			return At(kind, d), true
		}
	}
	return Period{}, false
}
