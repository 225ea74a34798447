package httpapi

import (
	"context"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
)

// periodBoard has one member, whose gain is the number of the period's first day.
type periodBoard struct {
	Board
	reads int
}

func (b *periodBoard) Version(context.Context, *guild.Guild) (leaderboard.Version, error) {
	return leaderboard.Version{Epoch: 1, Rev: 1}, nil
}

func (b *periodBoard) Standings(_ context.Context, _ *guild.Guild, p period.Period, offset, limit int64) (leaderboard.Standings, error) {
	b.reads++
	s := leaderboard.Standings{Version: leaderboard.Version{Epoch: 1, Rev: 1}}
	if offset == 0 && limit == leaderboard.PageSize {
		s.Rows = []leaderboard.Standing{{Gained: int64(p.First)}}
	}
	return s, nil
}

// After midnight only the day has changed. Its page and ETag must differ.
func TestMidnightChangesTheDaysPage(t *testing.T) {
	board := &periodBoard{}
	a := &api{deps: Deps{Board: board}, pages: newPageCache(1 << 20)}
	g := &guild.Guild{Settings: guild.Settings{Curve: benchCurve(t), TimeZone: "UTC", Periods: []period.Kind{period.Daily}}, Incarnation: 1, Version: 1}
	yesterday := pageName{number: 1, period: period.At(period.Daily, 20782)}
	today := pageName{number: 1, period: period.At(period.Daily, 20783)}
	get := func(name pageName, ifNoneMatch ...string) (encodedPage, string) {
		t.Helper()
		page, outcome, err := a.currentPage(t.Context(), g, name, ifNoneMatch)
		if err != nil {
			t.Fatal(err)
		}
		return page, outcome
	}
	before, _ := get(yesterday)
	now, outcome := get(today, before.etag)
	if outcome != pageMiss || now.etag == before.etag || string(now.body) == string(before.body) {
		t.Errorf("today's page is a %v, %s %s, want a miss that differs from yesterday's %s %s", outcome, now.etag, now.body, before.etag, before.body)
	}
	if _, outcome := get(today); outcome != pageHit || board.reads != 2 {
		t.Errorf("today's page read again is a %v, after %d reads, want a hit after 2", outcome, board.reads)
	}
	if other := pageETag(g, leaderboard.Version{Epoch: 1, Rev: 1}, pageName{number: 1}); other == now.etag || other == before.etag {
		t.Errorf("the board's page without a period has the ETag %s of a day", other)
	}
}

func TestPeriodsAreWrittenAsDocumented(t *testing.T) {
	g := &guild.Guild{Settings: guild.Settings{ID: "100000000000000001", Name: "Gophers", MemberCount: 3, Curve: benchCurve(t), TimeZone: "Europe/Berlin"}}
	row := leaderboard.Ranked{Rank: 1, Member: leaderboard.Member{UserID: "100000000000000002", XP: 150}}
	season := period.Season{ID: "winter", Name: "Winter", Start: period.DayOf(2026, time.December, 1), End: period.DayOf(2027, time.March, 1)}.Period()
	for want, body := range map[string]pageJSON{
		`{"guild":{"icon":null,"id":"100000000000000001","memberCount":3,"name":"Gophers"},"isManager":true,"levels":[{"level":2,"messageCount":0,` +
			`"nextLevelXp":300,"progress":0,"rank":1,"user":{"accentColour":null,"avatar":null,"discriminator":"","globalName":null,"username":""},` +
			`"userId":"100000000000000002","xp":150}],"multipliers":[],"roleRewards":[],"vanity":null,` +
			`"xpGainInterval":0,"xpGlobalMultiplier":0,"xpPerMessageMax":0,"xpPerMessageMin":0}`: pageBody(g, []leaderboard.Ranked{row}, true),
		`{"guild":{"icon":null,"id":"100000000000000001","memberCount":3,"name":"Gophers"},"isManager":false,"levels":[{"gained":7,"level":2,"messageCount":0,` +
			`"nextLevelXp":300,"progress":0,"rank":1,"user":{"accentColour":null,"avatar":null,"discriminator":"","globalName":null,"username":""},` +
			`"userId":"100000000000000002","xp":150}],"multipliers":[],"period":{"id":"season-winter","kind":"season","name":"Winter",` +
			`"start":"2026-11-30T23:00:00Z","end":"2027-02-28T23:00:00Z","closed":false},"roleRewards":[],"vanity":null,` +
			`"xpGainInterval":0,"xpGlobalMultiplier":0,"xpPerMessageMax":0,"xpPerMessageMin":0}`: standingsBody(&g.Settings, runningBody(g, season), []leaderboard.Standing{{Ranked: row, Gained: 7}}, false),
	} {
		if got, err := encode(body); err != nil || string(got) != want {
			t.Errorf("the period is %s (%v), want %s", got, err, want)
		}
	}
}
