package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/store"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
	"levelboard/internal/usecase/snapshot"
)

func idsOf(closed []periods.Closed) (ids []string) {
	for _, c := range closed {
		ids = append(ids, c.ID)
	}
	return ids
}

func archivePeriods(t *testing.T, a store.Archive) {
	g, other := put(t, a, settingsOf(t, guildA, "")), put(t, a, settingsOf(t, guildB, ""))
	l := leased(t, a)
	first := month.First
	var rows []snapshot.Row
	for i := range int64(12) {
		rows = append(rows, gainRow(id.User(fmt.Sprintf("3%017d", i)), 1, int64(first), i+1))
	}
	writeRows(t, a, l, g, 0, 1, rows...)
	season := period.Season{ID: "one", Name: "First", Start: first, End: first + 2}.Period()
	empty := period.At(period.Daily, first+1)
	bare := closing(g, period.At(period.Daily, first-1))
	bare.Board = false
	step := closing(g, period.At(period.Daily, first))
	closePeriods(t, a, l, bare, step, closing(g, empty), closing(g, season), closing(g, period.At(period.Weekly, first)), closing(g, month), closing(other, month))

	list := func(kind period.Kind, offset, limit int64, want ...string) []periods.Closed {
		t.Helper()
		found := mustGet(a.ClosedPeriods(t.Context(), refOf(g), kind, offset, limit))(t)
		if got := idsOf(found); !slices.Equal(got, want) {
			t.Errorf("periods of kind %q from %d are %v, want %v", kind, offset, got, want)
		}
		return found
	}
	// November 1 is a Sunday.
	all := []string{"2026-11-01", "season-one", "2026-11", "2026-W44"}
	found := list("", 0, 10, all...)
	list("", 1, 2, all[1:3]...)
	list("", 4, 10)
	list(period.Weekly, 0, 10, "2026-W44")
	list(period.Seasonal, 0, 10, "season-one")
	list(period.Seasonal, 1, 10)
	for _, c := range found {
		var got []int64
		for _, w := range c.Winners {
			got = append(got, w.Rank, w.Gained)
		}
		if !slices.Equal(got, []int64{1, 12, 2, 11, 3, 10}) || c.Totals != (periods.Totals{Members: 12, Gained: 78}) || c.Settings.ID != "" {
			t.Errorf("%s has the winners %v and totals %+v, want 12 members with 78 XP", c.ID, got, c.Totals)
		}
	}
	if c := found[1]; c.Period != season || !c.Begins.Equal(step.Begins) || !c.Ends.Equal(step.Ends.AddDate(0, 0, 1)) {
		t.Errorf("the season is %+v, want the period and the times of its step", c)
	}
	var ranks []int64
	for _, s := range mustGet(a.Standings(t.Context(), refOf(g), month.ID, 4, 3))(t) {
		ranks = append(ranks, s.Rank, s.Gained)
	}
	if !slices.Equal(ranks, []int64{5, 8, 6, 7, 7, 6}) {
		t.Errorf("the page of standings is %v, want gains and ranks 5 8, 6 7, 7 6", ranks)
	}
	standingsAround(t, a, g, month.ID)
	wantStandings(t, a, g, empty)
	wantTotals(t, a, g, empty, 0, 0)
	wantStandings(t, a, g, *bare.Period)
}

// standingsAround reads the rows around each of the 12 members of a closed board.
func standingsAround(t *testing.T, a store.Archive, g *guild.Guild, periodID string) {
	t.Helper()
	all := mustGet(a.Standings(t.Context(), refOf(g), periodID, 0, 100))(t)
	for at, s := range all {
		for _, limit := range []int{1, 2, 5, 6, 11, 12, 13, 100} {
			after, err := a.StandingsBefore(t.Context(), refOf(g), periodID, s.UserID, limit)
			want := max(0, min(at-limit/2, len(all)-limit))
			if err != nil || after != int64(want) {
				t.Errorf("%d rows around rank %d of %d begin after %d (%v), want %d", limit, s.Rank, len(all), after, err, want)
			}
		}
	}
	for _, id := range []string{periodID, "2001-01"} {
		if _, err := a.StandingsBefore(t.Context(), refOf(g), id, "299999999999999999", 5); !errors.Is(err, leaderboard.ErrNoMember) {
			t.Errorf("around an unknown user in %s: %v, want leaderboard.ErrNoMember", id, err)
		}
	}
}

func archiveAnnouncements(t *testing.T, a store.Archive) {
	g, deleted := put(t, a, settingsOf(t, guildA, "")), put(t, a, settingsOf(t, guildB, ""))
	l := leased(t, a)
	first := month.First
	var rows []snapshot.Row
	for i := range int64(12) {
		rows = append(rows, gainRow(id.User(fmt.Sprintf("3%017d", i)), 1, int64(first), i+1))
	}
	writeRows(t, a, l, g, 0, 1, rows...)
	writeRows(t, a, l, deleted, 0, 1, rows...)
	bare := closing(g, period.At(period.Weekly, first))
	bare.Board = false
	closePeriods(t, a, l, closing(deleted, month), closing(g, month), bare, closing(g, period.At(period.Daily, first+5)), closing(g, period.At(period.Daily, first)))
	mustGet(a.DeleteGuild(t.Context(), guildB))(t)
	want := func(after int64, limit int, want ...string) []periods.Announcement {
		t.Helper()
		found := mustGet(a.Unannounced(t.Context(), after, limit))(t)
		var got []string
		for _, f := range found {
			if got = append(got, f.ID); f.Guild != refOf(g) || len(f.Winners) != 10 || f.Winners[9].Rank != 10 {
				t.Errorf("the period to announce is %+v, want 10 winners of the guild", f)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("the periods to announce are %v, want %v", got, want)
		}
		return found
	}
	want(0, 1, "2026-11")
	found := want(0, 10, "2026-11", "2026-11-01")
	want(found[0].Number, 10, "2026-11-01")
	for range 2 {
		must(t, a.Announced(t.Context(), found[0]))
		want(0, 10, "2026-11-01")
	}
	must(t, a.Announced(t.Context(), found[1]))
	want(0, 10)
}

func archiveHistoryPurged(t *testing.T, a store.Archive) {
	g, guarded := put(t, a, settingsOf(t, guildA, "")), put(t, a, settingsOf(t, guildB, ""))
	l := leased(t, a)
	today := period.DayAt(time.Now(), time.UTC)
	const history = 30
	old := today - history - 1 // the first day that stays
	var rows []snapshot.Row
	for i := range int64(snapshot.KeptRanks + 5) {
		rows = append(rows, gainRow(id.User(fmt.Sprintf("3%017d", i)), 1, int64(old-2), 1, int64(old-1), 1, int64(old), 1))
	}
	writeRows(t, a, l, g, 0, 1, rows...)
	writeRows(t, a, l, guarded, 0, 1, rows[:2]...)
	day := func(d period.Day) period.Period { return period.At(period.Daily, d) }
	bare := closing(g, day(old-1))
	bare.Board = false
	season := period.Season{ID: "quiet", Name: "Quiet", Start: old - 20, End: old - 10}.Period()
	guard := closing(guarded, day(old-2))
	guard.Keep = old - 1
	closePeriods(t, a, l, closing(g, day(old-2)), bare, closing(g, season), closing(g, day(old-15)), closing(g, day(today-1)), guard)
	purge := func(limit, days, want int) {
		t.Helper()
		if n, err := a.Purge(t.Context(), limit, snapshot.Keep{Tombstones: time.Hour, History: days}); err != nil || n != want {
			t.Errorf("purged %d rows (%v), want %d", n, err, want)
		}
	}
	purge(1000, 0, 0)
	purge(1000, 400, 0)
	purge(50, history, 50)
	// Gains of 105 members on two days, 2 of the other guild, 5 ranks, 2 days without a board, and notes of 2 guilds and 3 periods.
	purge(1000, history, 2*105+2+5+2+2+3-50)
	purge(1000, history, 0)
	wantGains(t, a, g, rows[0].UserID, int64(old), 1)
	wantGains(t, a, guarded, rows[0].UserID, int64(old-1), 1, int64(old), 1)
	if got := mustGet(a.Standings(t.Context(), refOf(g), day(old-2).ID, 0, 1000))(t); len(got) != snapshot.KeptRanks {
		t.Errorf("%d ranks are left, want %d", len(got), snapshot.KeptRanks)
	}
	wantTotals(t, a, g, day(old-2), snapshot.KeptRanks+5, snapshot.KeptRanks+5)
	wantTotals(t, a, g, season, 0, 0)
	if got := mustGet(a.Activity(t.Context(), refOf(g), 0, today+1))(t); len(got) != 2 || got[1].Day != old {
		t.Errorf("the activity is %+v, want the day with a board and the first day that stays", got)
	}
	// A later step removes the guarded guild's gains.
	step := closing(guarded, day(old-1))
	step.Keep = 0
	closePeriods(t, a, l, step)
	purge(1000, history, 2+1+1)
	wantGains(t, a, guarded, rows[0].UserID, int64(old), 1)

	// A purge removes a deleted guild in pieces, and leaves nothing.
	mustGet(a.DeleteGuild(t.Context(), guildA))(t)
	const left = 105 + 105 + snapshot.KeptRanks + 3 // members, gains, standings; two days and the season
	total := 0
	for {
		n, err := a.Purge(t.Context(), 50, snapshot.Keep{Tombstones: time.Hour})
		if total += n; err != nil || n < 50 {
			must(t, err)
			break
		}
	}
	if total != left {
		t.Errorf("purged %d rows of the deleted guild, want %d", total, left)
	}
	if deleted, err := a.Deleted(t.Context(), 10); err != nil || len(deleted) != 0 {
		t.Errorf("the deleted guilds are %v (%v), want none", deleted, err)
	}
	wantGains(t, a, g, rows[0].UserID)
	wantStandings(t, a, g, day(old-2))
	wantGains(t, a, guarded, rows[0].UserID, int64(old), 1)
}
