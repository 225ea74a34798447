package web

import (
	"context"
	"slices"
	"time"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
	"levelboard/internal/usecase/watch"
)

// boardAsk says what a visitor wants to see of a board.
type boardAsk struct {
	period string  // a kind, the id of a period, or empty for all time
	number int64   // of the page; if it is past the last page, the last is shown
	user   id.User // the user whose row is read too; empty for none
}

// boardView is a page of a board at one moment.
type boardView struct {
	watch.State
	period   *period.Period // nil for all time
	ends     time.Time
	over     bool                  // the period has closed, and its board does not change
	settings *guild.Settings       // the settings with the curve and rewards to use
	own      *leaderboard.Standing // the row of boardAsk.user; nil if not on the board
}

// readBoard reads a page. It returns a NotFound fault for a period without a board, and an Invalid one for a malformed period.
func (s *Site) readBoard(ctx context.Context, g *guild.Guild, ask boardAsk) (v boardView, err error) {
	p, closed, err := s.findPeriod(ctx, g, ask.period)
	switch {
	case err != nil:
		return v, err
	case ask.period == "":
		return s.readAllTime(ctx, g, ask)
	case closed != nil:
		v, err = s.readClosed(ctx, g, closed, ask)
	default:
		v, err = s.readRunning(ctx, g, p, ask)
	}
	if err != nil || ask.user == "" {
		return v, err
	}
	around, _, err := s.deps.Periods.Around(ctx, g, ask.user, ask.period, 1)
	if fault.Is(err, fault.NotFound) {
		return v, nil
	}
	if len(around.Rows) == 1 {
		v.own = &around.Rows[0]
	}
	return v, err
}

// findPeriod finds a period by its kind or id. For "" it returns the zero period, all time.
func (s *Site) findPeriod(ctx context.Context, g *guild.Guild, name string) (period.Period, *periods.Closed, error) {
	if name == "" {
		return period.Period{}, nil, nil
	}
	if err := periods.CheckName(name); err != nil {
		return period.Period{}, nil, err
	}
	p, closed, err := s.deps.Periods.Find(ctx, g, name)
	if fault.Is(err, fault.NotFound) {
		err = fault.Wrap(err, fault.NotFound, "There is no leaderboard for this period. It is not set up, has not begun, or is no longer kept.")
	}
	return p, closed, err
}

func (s *Site) readAllTime(ctx context.Context, g *guild.Guild, ask boardAsk) (v boardView, err error) {
	look := leaderboard.Look{Page: ask.number}
	if ask.user != "" {
		look.Users = []id.User{ask.user}
	}
	found, err := s.deps.Board.View(ctx, g, look)
	if err != nil {
		return v, err
	}
	v = boardView{State: watch.AllTime(found), settings: &g.Settings}
	if len(found.Members) == 1 {
		v.own = &leaderboard.Standing{Ranked: found.Members[0]}
	}
	return v, nil
}

func (s *Site) readRunning(ctx context.Context, g *guild.Guild, p period.Period, ask boardAsk) (v boardView, err error) {
	v = boardView{period: &p, settings: &g.Settings}
	v.State, err = watch.Running(ctx, s.deps.Board, g, p, ask.number)
	_, v.ends = p.Bounds(g.Calendar().Zone)
	return v, err
}

func (s *Site) readClosed(ctx context.Context, g *guild.Guild, closed *periods.Closed, ask boardAsk) (v boardView, err error) {
	v = boardView{period: &closed.Period, ends: closed.Ends, over: true, settings: &closed.Settings}
	v.Number, v.Total, v.Gained = min(ask.number, leaderboard.LastPage(closed.Members)), closed.Members, closed.Gained
	v.Rows, err = s.deps.Periods.Page(ctx, g, closed.Period, v.Number)
	return v, err
}

// periodTab is a link to the board of all time, to that of a running period, or to the past ones.
type periodTab struct {
	Name string
	Path string
	Ends time.Time // zero if it does not end
	Here bool
}

// tabsOf returns the tabs of a guild's board. There are none if it counts no gains.
func tabsOf(g *guild.Guild, now time.Time, shown *period.Period) []periodTab {
	calendar := g.Calendar()
	if !calendar.Counts() {
		return nil
	}
	tabs := []periodTab{{Name: "All time", Path: boardPath(g), Here: shown == nil}}
	for _, p := range calendar.Running(period.DayAt(now, calendar.Zone)) {
		_, ends := p.Bounds(calendar.Zone)
		tabs = append(tabs, periodTab{Name: runningName(p), Path: boardPath(g) + "?period=" + string(p.Kind), Ends: ends, Here: shown != nil && shown.ID == p.ID})
	}
	here := slices.ContainsFunc(tabs, func(t periodTab) bool { return t.Here })
	return append(tabs, periodTab{Name: "Past", Path: boardPath(g) + "/periods", Here: !here})
}

// runningName names a running period.
func runningName(p period.Period) string {
	switch p.Kind {
	case period.Daily:
		return "Today"
	case period.Weekly:
		return "This week"
	case period.Monthly:
		return "This month"
	}
	return p.Name
}

// dateForm formats a date, such as Nov 25, 2026.
const dateForm = "Jan 2, 2006"

// periodName names a period in a way that stays right after its end.
func periodName(p period.Period) string {
	switch p.Kind {
	case period.Daily:
		return dayDate(p.First)
	case period.Weekly:
		return "Week of " + dayDate(p.First)
	case period.Monthly:
		return p.First.Begin(time.UTC).Format("January 2006")
	}
	return p.Name
}
