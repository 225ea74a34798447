package leaderboard

import (
	"context"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
)

// Standing is a member on the board of a period.
type Standing struct {
	Ranked // by the gains of the period
	Gained int64
}

// Standings is a part of the board of a running period and its version, read in one atomic step.
type Standings struct {
	Version Version
	// Members counts the members with a gain above 0, and Gained is the sum of their gains.
	Members, Gained int64
	Rows            []Standing
}

// LatestGains are a member's gains on its last days. They include all that are not archived yet.
type LatestGains struct {
	Days []period.Gain
	// Fresh says that the archive's other days belong to an earlier, deleted entry.
	Fresh bool
}

// Standings reads at most limit members of a running period from a position on. It loads the period's board if the live store lacks it.
func (l *Leaderboard) Standings(ctx context.Context, g *guild.Guild, p period.Period, offset, limit int64) (Standings, error) {
	return loaded(ctx, l, g, "read a period", func() (Standings, error) {
		return l.board.Standings(ctx, Ref(g), p, offset, limit)
	})
}

// PeriodReader reads boards of running periods, as Leaderboard does.
type PeriodReader interface {
	Standings(ctx context.Context, g *guild.Guild, p period.Period, offset, limit int64) (Standings, error)
}

// PeriodPage reads a page of a running period by its number, from 1. A number
// past the last page gets the last page. at is the number of the page.
func PeriodPage(ctx context.Context, board PeriodReader, g *guild.Guild, p period.Period, number int64) (found Standings, at int64, err error) {
	for at = number; ; at = LastPage(found.Members) {
		found, err = board.Standings(ctx, g, p, PageSize*(at-1), PageSize)
		if err != nil || at <= LastPage(found.Members) {
			return found, at, err
		}
	}
}

// EntryGains reads a member's gains on its last days.
func (l *Leaderboard) EntryGains(ctx context.Context, g *guild.Guild, user id.User) (LatestGains, error) {
	return loaded(ctx, l, g, "read a member's gains", func() (LatestGains, error) { return l.board.EntryGains(ctx, Ref(g), user) })
}

// days are a guild's days, computed from one version of its settings.
type days struct {
	version int64
	*period.Days
}

// daysOf returns the days around now by the guild's calendar, or nil if it counts nothing.
func (l *Leaderboard) daysOf(g *guild.Guild) *period.Days {
	calendar := g.Calendar()
	if !calendar.Counts() {
		return nil
	}
	now := time.Now()
	known, ok := l.days.Get(g.Incarnation)
	if !ok || known.version != g.Version || !known.At(now) {
		known = days{g.Version, calendar.DaysAt(now)}
		l.days.Add(g.Incarnation, known)
	}
	return known.Days
}
