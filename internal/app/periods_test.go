package app_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"levelboard/internal/domain/period"
	"levelboard/internal/testing/apitest"
)

var periodCases = cases{
	"running boards have ranks and gains": runningBoards,
	"periods are as private as the board": whoMayReadPeriods,
	"the list has order and winners":      listOfPeriods,
	"activity and history are by day":     activityAndHistory,
	"without periods lists are empty":     nothingConfigured,
	"closed boards stay":                  closedBoardsStay,
	"caches keep closed boards":           cachesKeepClosedBoards,
	"a closed period is an event":         closedPeriodIsAnEvent,
}

// atNoon returns a time zone in which it is about noon now, so that no test runs over midnight.
func atNoon() string {
	switch ahead := 12 - time.Now().UTC().Hour(); {
	case ahead > 0:
		return fmt.Sprintf("Etc/GMT-%d", ahead) // POSIX inverts the sign
	case ahead < 0:
		return fmt.Sprintf("Etc/GMT+%d", -ahead)
	}
	return "UTC"
}

// day returns a day in that zone, counted from today.
func day(t *testing.T, from int) period.Day {
	t.Helper()
	zone, err := time.LoadLocation(atNoon())
	if err != nil {
		t.Fatal(err)
	}
	return period.DayAt(time.Now(), zone) + period.Day(from)
}

// season returns a season for a guild's settings, in days from today.
func season(t *testing.T, id string, start, end int) object {
	t.Helper()
	return object{"id": id, "name": "The " + id, "start": day(t, start).String(), "end": day(t, end).String()}
}

// counting returns settings with all kinds of periods, overridden by over.
func counting(t *testing.T, over object) object {
	t.Helper()
	s := object{"timeZone": atNoon(), "periods": []string{"day", "week", "month"}, "seasons": []object{season(t, "now", -3, 3)}}
	for name, value := range over {
		s[name] = value
	}
	return s
}

func periodPath(entry, period string, page int) string {
	return boardPath(entry, page) + "&period=" + period
}

func periodsPath(entry string) string  { return "/v2/levels/" + entry + "/periods?page=1" }
func activityPath(entry string) string { return "/v2/levels/" + entry + "/activity?days=366" }
func historyPath(g, u string) string {
	return "/v2/guilds/" + g + "/members/" + u + "/history?days=366"
}

// thePeriod is a period in an answer.
type thePeriod struct {
	ID, Kind   string
	Name       *string
	Start, End time.Time
	Closed     bool
}

// periodBoard is a page of a period's board.
type periodBoard struct {
	board
	Period thePeriod
	Levels []struct {
		Gained, Level, MessageCount, Rank, XP int
		User                                  object
		UserID                                string
	}
}

// rows returns the members with their ranks and gains.
func (b periodBoard) rows() (rows []string) {
	for _, l := range b.Levels {
		rows = append(rows, fmt.Sprintf("%d %s %d", l.Rank, l.UserID, l.Gained))
	}
	return rows
}

func (s *service) periodBoard(key, entry, period string) periodBoard {
	s.t.Helper()
	return apitest.JSON[periodBoard](s.t, s.Do("GET", periodPath(entry, period, 1), key, nil).Want(s.t, 200))
}

func (s *service) wantRows(g, period string, want ...string) {
	s.t.Helper()
	if got := s.periodBoard("", g, period).rows(); !slices.Equal(got, want) {
		s.t.Errorf("the rows of the %s are %v, want %v", period, got, want)
	}
}

func row(rank int, u string, gained int) string { return fmt.Sprintf("%d %s %d", rank, u, gained) }

var kinds = []string{"day", "week", "month", "season"}

// gain adds to a member's XP, and creates the member if needed.
func (s *service) gain(key, g, u string, xp int) {
	s.t.Helper()
	if s.Do("GET", memberPath(g, u), key, nil).Status == 404 {
		s.create(key, g, u, 0)
	}
	s.patch(key, g, u, object{"increment": xp})
}

func runningBoards(t *testing.T, s *service) {
	g, a, b, c := s.guild(counting(t, nil)), newID(), newID(), newID()
	key := s.key(g)
	for _, u := range []string{a, b, c} {
		s.create(key, g, u, 1000)
	}
	s.patch(key, g, a, object{"increment": 50})
	s.patch(key, g, b, object{"increment": 70})
	s.patch(key, g, c, object{"increment": 10})
	s.patch(key, g, b, object{"decrement": 30})
	s.patch(key, g, c, object{"decrement": 11})
	ids := map[string]string{
		"day": day(t, 0).String(), "week": period.At(period.Weekly, day(t, 0)).ID, "month": period.At(period.Monthly, day(t, 0)).ID, "season": "season-now",
	}
	zone, err := time.LoadLocation(atNoon())
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds {
		s.wantRows(g, kind, row(1, a, 50), row(2, b, 40))
		s.wantRows(g, ids[kind], row(1, a, 50), row(2, b, 40))
		got := s.periodBoard("", g, kind)
		p := period.At(period.Daily, day(t, 0))
		if kind == "season" {
			p.First, p.End = day(t, -3), day(t, 3)
		} else {
			p = period.At(period.Kind(kind), day(t, 0))
		}
		starts, ends := p.Bounds(zone)
		if now := got.Period; now.ID != ids[kind] || now.Kind != kind || now.Closed || !now.Start.Equal(starts) || !now.End.Equal(ends) {
			t.Errorf("the %s is %+v, want the running %s from %s to %s", kind, now, ids[kind], starts, ends)
		}
		if name := got.Period.Name; kind == "season" && (name == nil || *name != "The now") || kind != "season" && name != nil {
			t.Errorf("the %s has the name %v, want one for seasons only", kind, name)
		}
		if first := got.Levels[0]; first.XP != 1050 || first.Level != 5 {
			t.Errorf("the first row of the %s is %+v, want 1050 XP and level 5", kind, first)
		}
	}
	got := s.Do("HEAD", periodPath(g, "week", 1), "", nil).Want(t, 200)
	wantNoBody(t, got)
	wantHeader(t, got, "Cache-Control", "public, no-cache")
	s.patch(key, g, c, object{"increment": 60}) // gained 59 in all, which is the most
	s.wantRows(g, "day", row(1, c, 59), row(2, a, 50), row(3, b, 40))
}
