package leaderboard

import (
	"context"
	"errors"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
)

// Standing is a member on the board of a period.
type Standing struct {
	Ranked // in the period
	Gained int64
}

// Standings is a stretch of the board of a running period, and the version it was read at, in one atomic step.
type Standings struct {
	Version Version
	// Members are those who gained more than 0, and Gained is what they gained together.
	Members, Gained int64
	Digest          Digest // as Page's
	Rows            []Standing
}

// LatestGains are what a member gained on its last days: all that may not be archived yet, and more.
type LatestGains struct {
	Days []period.Gain
	// Fresh says that the archive's other days are of an entry that was deleted.
	Fresh bool
}

// Counter adds up what the members gained in running periods, where the live store does not have it: after a load, or when the guild's calendar
// has changed. While it does, changes continue.
type Counter interface {
	// ErrNotLoaded when the guild left the live store meanwhile.
	Count(ctx context.Context, g GuildRef, p period.Period) error
}

// Counting is what a Counter needs of the live store: it begins, counts all members with gains in the period, and ends.
type Counting interface {
	// BeginCount has changes be counted in the period from now on; needed is false when nothing is to be added up.
	BeginCount(ctx context.Context, g GuildRef, p period.Period) (needed bool, err error)
	// Unsaved calls each with users whose changes may not be archived yet: all of those that are so all the while.
	UnsavedUsers(ctx context.Context, g GuildRef, each func([]id.User) error) error
	// CountMembers adds up at most MaxCounted members, each in a step of its own, unless the days of its entry are other ones by now than those
	// that its Sum leaves out: others are those, with the days that are. ErrNotCounted when the period is not being added up any more.
	CountMembers(ctx context.Context, g GuildRef, p period.Period, sums []Sum) (others []Sum, err error)
	// EndCount has the board of the period be read. ErrNotCounted as CountMembers.
	EndCount(ctx context.Context, g GuildRef, p period.Period) error
}

// MaxCounted is how many members one step adds up.
const MaxCounted = 250

// Sum is what the archive has of a member's gains in a period, without those of some days.
type Sum struct {
	User id.User
	// Known says that the days are those of the member's entry: they are asked of the live store first.
	Known   bool
	Without []period.Day
	// Fresh says that the archive's days are of an entry that was deleted, so Gained is 0.
	Fresh  bool
	Gained int64
}

// countAttempts bounds how often one request has a period added up: one that is not added up again each time is moved by changes of the calendar.
const countAttempts = 3

// Standings reads a page, of at most limit members from a position on, of a running period. If the live store does not have it, it is added up.
func (l *Leaderboard) Standings(ctx context.Context, g *guild.Guild, p period.Period, offset, limit int64, known Digest) (Standings, error) {
	return loaded(ctx, l, g, "read a period", func() (Standings, error) {
		return counted(ctx, l, g, []period.Period{p}, func() (Standings, error) { return l.board.Standings(ctx, Ref(g), p, offset, limit, known) })
	})
}

// counted repeats a step that reads boards of running periods once those were added up.
func counted[T any](ctx context.Context, l *Leaderboard, g *guild.Guild, running []period.Period, step func() (T, error)) (result T, err error) {
	for range countAttempts {
		result, err = step()
		if !errors.Is(err, ErrNotCounted) {
			return result, err
		}
		for _, p := range running {
			if err = l.counter.Count(ctx, Ref(g), p); err != nil {
				return result, err
			}
		}
	}
	return result, err
}

// EntryGains reads what a member gained on its last days.
func (l *Leaderboard) EntryGains(ctx context.Context, g *guild.Guild, user id.User) (LatestGains, error) {
	return loaded(ctx, l, g, "read a member's gains", func() (LatestGains, error) { return l.board.EntryGains(ctx, Ref(g), user) })
}

// days are those of a guild as of a version of its settings.
type days struct {
	version int64
	*period.Days
}

// daysOf returns the days around now by the guild's calendar; nil when it counts nothing.
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
