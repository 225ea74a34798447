package storetest

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/store"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/periods"
	"levelboard/internal/usecase/snapshot"
)

// closing returns a step that closes a guild's period, with a board, in UTC.
func closing(g *guild.Guild, p period.Period) periods.Closing {
	begins, ends := p.Bounds(time.UTC)
	return periods.Closing{Guild: g, Period: &p, Begins: begins, Ends: ends, Board: true}
}

func closePeriods(t *testing.T, a store.Archive, l lease.Lease, steps ...periods.Closing) {
	t.Helper()
	for _, c := range steps {
		mustGet(a.ClosePeriod(t.Context(), l, c))(t)
	}
}

// wantStandings compares a board with want: user, gain, user, gain.
func wantStandings(t *testing.T, a store.Archive, g *guild.Guild, p period.Period, want ...any) {
	t.Helper()
	var got []any
	for i, s := range mustGet(a.Standings(t.Context(), refOf(g), p.ID, 0, 1000))(t) {
		if got = append(got, s.UserID, s.Gained); s.Rank != int64(i+1) {
			t.Errorf("row %d of the closed %s has rank %d", i+1, p.ID, s.Rank)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: the standings are %v, want %v", p.ID, got, want)
	}
}

func wantTotals(t *testing.T, a store.Archive, g *guild.Guild, p period.Period, members, gained int64) periods.Closed {
	t.Helper()
	c := mustGet(a.Closed(t.Context(), refOf(g), p.ID))(t)
	if c.Totals != (periods.Totals{Members: members, Gained: gained}) {
		t.Errorf("%s: the totals are %+v, want %d members with %d XP", p.ID, c.Totals, members, gained)
	}
	return c
}

// month is 2026-11, with the days 20758 to 20787.
var month = period.At(period.Monthly, period.DayOf(2026, time.November, 1))

func archiveClosing(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, `,"vanity":"gophers"`))
	other := put(t, a, settingsOf(t, guildB, ""))
	l := leased(t, a)
	d := int64(month.First)
	avatar := "a_1"
	first := gainRow(gainer1, 500, d-1, 1000, d, 10, d+3, 30, int64(month.End), 7)
	first.MessageCount, first.LastUpdated = 9, time.UnixMilli(1767225600123).UTC()
	first.User = leaderboard.User{Avatar: &avatar, Discriminator: "1", Username: "gopher", GlobalName: new("Gopher"), AccentColour: new("#00add8")}
	away := gainRow("80000000000000001", 8, d, 2000)
	away.Absent = true
	writeRows(t, a, l, g, 0, 1, first, away,
		gainRow(gainer2, 2, d, 40),          // as much as the first
		gainRow(gainer3, 3, d, 40, d+1, 60), // the most
		gainRow(gainer4, 4, d, 50, d+1, -50), gainRow("50000000000000001", 5, d, -5),
		gainRow("60000000000000001", 6, d, 1000), gainRow("70000000000000001", 7, d-1, 9))
	writeRows(t, a, l, g, 0, 2, tombstone("60000000000000001"))
	writeRows(t, a, l, other, 0, 1, gainRow(gainer1, 1, d, 1))
	want := []any{gainer3, int64(100), gainer2, int64(40), gainer1, int64(40)}

	step := closing(g, month)
	step.Open, step.Next, step.Keep = periods.Open{period.Daily: month.End, period.Monthly: month.End}, time.UnixMilli(1800000000000), month.End
	if _, err := a.Closed(t.Context(), refOf(g), month.ID); !errors.Is(err, periods.ErrNotClosed) {
		t.Errorf("reading the month before it closed: %v, want periods.ErrNotClosed", err)
	}
	if closed, err := a.ClosePeriod(t.Context(), l, step); err != nil || !closed {
		t.Errorf("closing the month: closed %v, %v, want true", closed, err)
	}
	wantStandings(t, a, g, month, want...)
	c := wantTotals(t, a, g, month, 3, 180)
	if c.Period != month || !c.Begins.Equal(step.Begins) || !c.Ends.Equal(step.Ends) || !reflect.DeepEqual(c.Settings, g.Settings) || c.Winners != nil {
		t.Errorf("the month is closed as %+v, want the period, times and settings of the step", c)
	}
	standing := mustGet(a.Standings(t.Context(), refOf(g), month.ID, 2, 10))(t)[0]
	if want := (leaderboard.Ranked{Member: first.Member, Rank: 3}); !reflect.DeepEqual(standing.Ranked, want) {
		t.Errorf("the third standing is %+v, want %+v", standing.Ranked, want)
	}
	wantDue(t, a, time.UnixMilli(1799999999999))
	due := wantDue(t, a, time.UnixMilli(1800000000000), guildA)[0]
	if !maps.Equal(due.Open, step.Open) || due.State != (snapshot.State{Archived: 2}) || !reflect.DeepEqual(due.Guild, g) {
		t.Errorf("the guild is due as %+v, want the step's open periods and 2 archived", due)
	}

	// Later gains do not change a closed period. The step stored the open periods.
	writeRows(t, a, l, g, 0, 3, gainRow(gainer1, 900, d, 1000))
	step.Open, step.Next, step.Board = nil, time.Time{}, false
	if closed, err := a.ClosePeriod(t.Context(), l, step); err != nil || closed {
		t.Errorf("closing the month again: closed %v, %v, want false", closed, err)
	}
	wantStandings(t, a, g, month, want...)
	wantTotals(t, a, g, month, 3, 180)
	wantDue(t, a, time.UnixMilli(1900000000000))
	if _, err := a.Closed(t.Context(), refOf(other), month.ID); !errors.Is(err, periods.ErrNotClosed) {
		t.Errorf("reading the month of another guild: %v, want periods.ErrNotClosed", err)
	}
}

// wantDue compares the guilds that are due at a time, and returns them.
func wantDue(t *testing.T, a store.Archive, by time.Time, want ...id.Guild) []periods.Due {
	t.Helper()
	due := mustGet(a.Due(t.Context(), by, 10))(t)
	var got []id.Guild
	for _, d := range due {
		got = append(got, d.Guild.ID)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("due by %s are %v, want %v", by, got, want)
	}
	return due
}

func archiveClosingRefused(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	writeRows(t, a, l, g, 0, 1, gainRow(gainer1, 1, int64(month.First), 5))
	step := closing(g, month)
	step.Next = time.UnixMilli(1)
	older, foreign := *g, *g
	older.Edited--
	foreign.Incarnation++
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx   context.Context
		lease lease.Lease
		guild guild.Guild
		want  error
	}{
		"another fence":       {t.Context(), lease.Lease{Holder: l.Holder, Fence: l.Fence + 1}, *g, lease.ErrLost},
		"another holder":      {t.Context(), lease.Lease{Holder: "other", Fence: l.Fence}, *g, lease.ErrLost},
		"an older version":    {t.Context(), l, older, snapshot.ErrStale},
		"another incarnation": {t.Context(), l, foreign, snapshot.ErrStale},
		"a cancelled context": {cancelled, l, *g, context.Canceled},
	} {
		for _, p := range []*period.Period{step.Period, nil} {
			step := step
			step.Guild, step.Period = &c.guild, p
			if closed, err := a.ClosePeriod(c.ctx, c.lease, step); closed || !errors.Is(err, c.want) {
				t.Errorf("%s: closed %v with %v, want %v", name, closed, err, c.want)
			}
			if _, err := a.Closed(t.Context(), refOf(g), month.ID); !errors.Is(err, periods.ErrNotClosed) {
				t.Errorf("%s: reading the month: %v, want periods.ErrNotClosed", name, err)
			}
			wantDue(t, a, time.Now())
		}
	}
	closePeriods(t, a, l, step)
	wantStandings(t, a, g, month, gainer1, int64(5))
}

func archiveClosingTotals(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	first := month.First
	for i, gains := range [][]int64{{10, 5}, {-10, 3}, nil, {7, -7}} {
		day := int64(first) + int64(i)
		if gains != nil {
			writeRows(t, a, l, g, 0, int64(i+1), gainRow(gainer1, 1, day, gains[0]), gainRow(gainer2, 2, day, gains[1]))
		}
		step := closing(g, period.At(period.Daily, first+period.Day(i)))
		step.Board = i == 3
		closePeriods(t, a, l, step)
		wantStandings(t, a, g, period.At(period.Daily, first+2))
	}
	if _, err := a.Closed(t.Context(), refOf(g), first.String()); !errors.Is(err, periods.ErrNotClosed) {
		t.Errorf("reading a day without a board: %v, want periods.ErrNotClosed", err)
	}
	closePeriods(t, a, l, closing(g, month))
	days := mustGet(a.Activity(t.Context(), refOf(g), first, first+4))(t)
	want := []periods.DayTotals{
		{Day: first, Totals: periods.Totals{Members: 2, Gained: 15}},
		{Day: first + 1, Totals: periods.Totals{Members: 1, Gained: 3}},
		{Day: first + 3, Totals: periods.Totals{Members: 1, Gained: 7}},
	}
	if !slices.Equal(days, want) {
		t.Errorf("the activity is %+v, want %+v", days, want)
	}
	if days := mustGet(a.Activity(t.Context(), refOf(g), first+1, first+3))(t); !slices.Equal(days, want[1:2]) {
		t.Errorf("the activity of two days is %+v, want %+v", days, want[1:2])
	}
	writeRows(t, a, l, g, 0, 10, gainRow(gainer1, 1, int64(first)+4, 8), gainRow(gainer2, 2, int64(first)+4, -8))
	open := periods.DayTotals{Day: first + 4, Totals: periods.Totals{Members: 1, Gained: 8}}
	if days := mustGet(a.Activity(t.Context(), refOf(g), first, first+5))(t); !slices.Equal(days, append(want, open)) {
		t.Errorf("the activity with an open day is %+v, want %+v", days, append(want, open))
	}
	closePeriods(t, a, l, closing(g, period.At(period.Daily, first+6))) // counting was off before; the day before stays open
	later := periods.DayTotals{Day: first + 7, Totals: periods.Totals{Members: 1, Gained: 9}}
	writeRows(t, a, l, g, 0, 11, gainRow(gainer2, 1, int64(first)+7, 9))
	if days := mustGet(a.Activity(t.Context(), refOf(g), first, first+8))(t); !slices.Equal(days, append(want, open, later)) {
		t.Errorf("the activity with a day that never closed is %+v, want %+v", days, append(want, open, later))
	}
}

func archiveClosingRace(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	writeRows(t, a, l, g, 0, 1, gainRow(gainer1, 1, int64(month.First), 5), gainRow(gainer2, 1, int64(month.First), 6))
	errs, closes := make(chan error), atomic.Int64{}
	for range 4 {
		go func() {
			closed, err := a.ClosePeriod(t.Context(), l, closing(g, month))
			if closed {
				closes.Add(1)
			}
			errs <- err
		}()
	}
	for range 4 {
		must(t, <-errs)
	}
	if n := closes.Load(); n != 1 {
		t.Errorf("%d of four closers closed the period, want 1", n)
	}
	wantStandings(t, a, g, month, gainer2, int64(6), gainer1, int64(5))
	if all := mustGet(a.ClosedPeriods(t.Context(), refOf(g), "", 0, 10))(t); len(all) != 1 {
		t.Errorf("%d closed periods are listed, want 1", len(all))
	}
}
