package periods

import (
	"cmp"
	"context"
	"slices"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
)

// Periods lists a page (from 1) of the guild's periods of a kind, or of all kinds (""): running ones, and closed ones
// with at least one member. The newest start comes first, then the shorter period. Each has up to ListWinners winners.
func (b *Boards) Periods(ctx context.Context, g *guild.Guild, kind period.Kind, number int64) ([]Listed, error) {
	if number > leaderboard.MaxPage {
		return nil, nil
	}
	running, err := b.runningPeriods(ctx, g, kind)
	if err != nil {
		return nil, err
	}
	offset := PageSize * (number - 1)
	skipped := max(0, offset-int64(len(running)))
	closed, err := b.archive.ClosedPeriods(ctx, leaderboard.Ref(g), kind, skipped, PageSize+int64(len(running)))
	if err != nil {
		return nil, fault.Down("list periods", err)
	}
	all := make([]Listed, len(closed), len(closed)+len(running))
	for i, c := range closed {
		all[i] = Listed{Closed: c, Over: true}
	}
	before := skipped // how many periods in the list come before those in all
	for _, r := range running {
		if skipped > 0 && (len(all) == 0 || newestFirst(r, all[0]) < 0) {
			before++
		} else {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, newestFirst)
	all = all[min(int64(len(all)), offset-before):]
	return all[:min(len(all), PageSize)], nil
}

func newestFirst(a, b Listed) int {
	return cmp.Or(b.Begins.Compare(a.Begins), cmp.Compare(a.End-a.First, b.End-b.First))
}

func (b *Boards) runningPeriods(ctx context.Context, g *guild.Guild, kind period.Kind) (all []Listed, err error) {
	running, err := b.open(ctx, g)
	if err != nil {
		return nil, err
	}
	for _, p := range running {
		if kind != "" && kind != p.Kind {
			continue
		}
		s, err := b.running.Standings(ctx, g, p, 0, ListWinners)
		if err != nil {
			return nil, err
		}
		one := Listed{Closed: Closed{Period: p, Totals: Totals{Members: s.Members, Gained: s.Gained}, Winners: s.Rows}}
		one.Begins, one.Ends = p.Bounds(g.Calendar().Zone)
		all = append(all, one)
	}
	return all, nil
}

// open returns the running periods that have not closed.
func (b *Boards) open(ctx context.Context, g *guild.Guild) (running []period.Period, err error) {
	calendar := g.Calendar()
	for _, p := range calendar.Running(period.DayAt(b.now(), calendar.Zone)) {
		closed, err := b.closedAlready(ctx, g, p)
		if err != nil {
			return nil, err
		}
		if closed == nil {
			running = append(running, p)
		}
	}
	return running, nil
}

// Activity lists the gains of all members on each of the last days (at most MaxHistory), including today. The oldest
// day is first; days without gains are left out. Today comes from the live store, earlier days from the archive.
func (b *Boards) Activity(ctx context.Context, g *guild.Guild, days int) ([]DayTotals, error) {
	calendar := g.Calendar()
	if !calendar.Counts() {
		return nil, nil
	}
	today := period.DayAt(b.now(), calendar.Zone)
	all, err := b.archive.Activity(ctx, leaderboard.Ref(g), today+1-period.Day(days), today)
	if err != nil {
		return nil, fault.Down("read the activity", err)
	}
	s, err := b.running.Standings(ctx, g, period.At(period.Daily, today), 0, 1)
	if err == nil && s.Members > 0 {
		all = append(all, DayTotals{today, Totals{Members: s.Members, Gained: s.Gained}})
	}
	return all, err
}

// History lists a member's gains on each of the last days. The oldest day is first; days
// with a gain of 0 are left out. It returns a NotFound fault for a user without an entry.
func (b *Boards) History(ctx context.Context, g *guild.Guild, user id.User, days int) ([]period.Gain, error) {
	latest, err := b.running.EntryGains(ctx, g, user)
	calendar := g.Calendar()
	if err != nil || !calendar.Counts() {
		return nil, err
	}
	today := period.DayAt(b.now(), calendar.Zone)
	first := today + 1 - period.Day(days)
	archived, err := b.archive.History(ctx, leaderboard.Ref(g), user, first)
	if err != nil {
		return nil, fault.Down("read the history of a member", err)
	}
	all := slices.DeleteFunc(archived, func(a period.Gain) bool {
		return latest.Fresh || slices.ContainsFunc(latest.Days, func(l period.Gain) bool { return l.Day == a.Day })
	})
	all = slices.DeleteFunc(append(all, latest.Days...), func(g period.Gain) bool { return g.Day < first || g.Day > today || g.Gained == 0 })
	slices.SortFunc(all, func(a, b period.Gain) int { return cmp.Compare(a.Day, b.Day) })
	return all, nil
}
