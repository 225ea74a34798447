package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/store"
	"levelboard/internal/usecase/periods"
)

func archiveDue(t *testing.T, a store.Archive) {
	l := leased(t, a)
	at := func(minutes int64) time.Time { return time.UnixMilli(1767225600000 + 60_000*minutes) }
	note := func(g *guild.Guild, minutes int64) {
		t.Helper()
		step := periods.Closing{Guild: g}
		if minutes > 0 {
			step.Next = at(minutes)
		}
		closePeriods(t, a, l, step)
	}
	quiet := put(t, a, settingsOf(t, "100000000000000003", ""))
	g := put(t, a, settingsOf(t, guildA, `,"periods":["week"]`))
	other := put(t, a, settingsOf(t, guildB, `,"seasons":[{"id":"one","name":"One","start":"2026-01-01","end":"2026-01-02"}]`))
	today := period.DayAt(time.Now(), time.UTC)
	if due := wantDue(t, a, time.UnixMilli(0), guildA, guildB); !opensSince(due[0], nil, today) || !opensSince(due[1], nil, today) || due[0].ClosedSeasons != nil {
		t.Errorf("guilds that never closed a period are due as %+v, want periods open since today", due)
	}
	note(g, 2)
	note(other, 1)
	wantDue(t, a, at(0))
	wantDue(t, a, at(1), guildB)
	wantDue(t, a, at(2), guildB, guildA)
	if due := mustGet(a.Due(t.Context(), at(2), 1))(t); len(due) != 1 || due[0].Guild.ID != guildB {
		t.Errorf("the first guild that is due is %+v, want %s", due, guildB)
	}
	// New settings make the guild due, also those that stop counting.
	g = mustGet(a.UpdateGuild(t.Context(), settingsOf(t, guildA, `,"periods":["week","day"]`), g.Version))(t)
	if due := wantDue(t, a, at(0), guildA); !opensSince(due[0], nil, today) {
		t.Errorf("with another kind of period the guild is due as %+v, want it open since today", due[0])
	}
	old := periods.Open{period.Weekly: 7, period.Monthly: 31}
	closePeriods(t, a, l, periods.Closing{Guild: g, Open: old, Next: at(2)})
	g = put(t, a, settingsOf(t, guildA, `,"periods":["week","day"]`))
	if due := wantDue(t, a, at(0), guildA); !opensSince(due[0], periods.Open{period.Weekly: 7}, today) {
		t.Errorf("an open period is due as %+v, want it open since before", due[0])
	}
	note(g, 2)
	// A description makes nothing due.
	describe(t, a, true, `"memberCount":78`)
	wantDue(t, a, at(0))
	note(g, 2)
	g = put(t, a, settingsOf(t, guildA, ""))
	wantDue(t, a, at(0), guildA)
	note(g, 0)
	put(t, a, settingsOf(t, guildA, ""))
	wantDue(t, a, at(2), guildB)
	put(t, a, quiet.Settings)
	wantDue(t, a, at(2), guildB)
	mustGet(a.DeleteGuild(t.Context(), guildB))(t)
	wantDue(t, a, at(2))
}

// opensSince reports whether a guild's periods are open since today, or since tomorrow if it is past midnight, except those open before.
func opensSince(d periods.Due, before periods.Open, today period.Day) bool {
	return reflect.DeepEqual(d.Open, before.Since(d.Guild.Calendar(), today)) || reflect.DeepEqual(d.Open, before.Since(d.Guild.Calendar(), today+1))
}

// ArchiveDueUnreadable checks that due guilds are listed behind many whose settings nobody can read. spoil makes a guild's unreadable.
func ArchiveDueUnreadable(t *testing.T, a store.Archive, spoil func(g id.Guild)) {
	for i := range 5 {
		g := put(t, a, settingsOf(t, id.Guild(fmt.Sprintf("1%017d", i)), `,"periods":["day"]`))
		if i < 4 {
			spoil(g.ID)
		}
	}
	for _, limit := range []int{1, 2, 10} {
		if due, err := a.Due(t.Context(), time.Now(), limit); err != nil || len(due) != 1 || due[0].Guild.ID != "100000000000000004" {
			t.Errorf("the at most %d due guilds are %+v (%v), want the readable one", limit, due, err)
		}
	}
}

func archiveClosedSeasons(t *testing.T, a store.Archive) {
	const (
		old   = `{"id":"old","name":"Old","start":"2026-01-01","end":"2026-02-01"}`
		moved = `{"id":"old","name":"Old","start":"2026-01-01","end":"2026-02-02"}`
		named = `{"id":"old","name":"Renamed","start":"2026-01-01","end":"2026-02-01"}`
		next  = `{"id":"next","name":"Next","start":"2026-03-01","end":"2026-04-01"}`
		later = `{"id":"next","name":"Next","start":"2026-03-02","end":"2026-04-02"}`
	)
	seasons := func(list string) guild.Settings { return settingsOf(t, guildA, `,"seasons":[`+list+`]`) }
	l := leased(t, a)
	put(t, a, seasons(moved))
	g := put(t, a, seasons(old+`,`+next))
	closePeriods(t, a, l, closing(g, g.Seasons[0].Period()), closing(g, period.Season{ID: "gone", Start: 1, End: 2}.Period()))
	g = put(t, a, seasons(named+`,`+later))
	if due := wantDue(t, a, time.Now(), guildA)[0]; !slices.Equal(due.ClosedSeasons, []string{"season-old"}) {
		t.Errorf("the closed seasons are %v, want season-old", due.ClosedSeasons)
	}
	if _, _, err := a.PutGuild(t.Context(), seasons(moved)); !errors.Is(err, guild.ErrSeasonClosed) {
		t.Errorf("putting a closed season with other dates: %v, want guild.ErrSeasonClosed", err)
	}
	if _, err := a.UpdateGuild(t.Context(), seasons(next+`,`+moved), g.Version); !errors.Is(err, guild.ErrSeasonClosed) {
		t.Errorf("updating a closed season to other dates: %v, want guild.ErrSeasonClosed", err)
	}
	if now := mustGet(a.Guild(t.Context(), guildA))(t); now.Version != g.Version {
		t.Errorf("refused settings changed the version from %d to %d", g.Version, now.Version)
	}
	g = put(t, a, seasons(next)) // without the season its board stays
	wantTotals(t, a, g, period.Season{ID: "old"}.Period(), 0, 0)
	if _, _, err := a.PutGuild(t.Context(), seasons(moved)); !errors.Is(err, guild.ErrSeasonClosed) {
		t.Errorf("putting a removed season back with other dates: %v, want guild.ErrSeasonClosed", err)
	}
	put(t, a, seasons(old))
	// A guild created again under the id may use the season's id.
	mustGet(a.DeleteGuild(t.Context(), guildA))(t)
	put(t, a, seasons(moved))
}
