package periods

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/platform/pause"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/snapshot"
)

// Holds says what the live store holds of a guild.
type Holds int

// The values of Holds.
const (
	HoldsNothing Holds = iota
	Unverified         // it must be loaded first, since it may be older than the archive
	InUse
)

// Moment is the live store's state of a guild at one moment.
type Moment struct {
	At          time.Time // by the clock that decides the day of a gain
	Holds       Holds
	Incarnation guild.Incarnation
	Epoch, Rev  int64
	// Doubt is a rev. If the archive was asked before this Moment, it may lack changes below Doubt even if it claims to have them.
	Doubt int64
}

// Live is what a Closer needs of the live store.
type Live interface {
	Moment(ctx context.Context, g id.Guild) (Moment, error)
	// Announce adds a closed period to the guild's log of events. It returns ErrNotLoaded if the store does not hold that incarnation.
	Announce(ctx context.Context, g leaderboard.GuildRef, text []byte) error
	// AnnounceReset adds a reset to the log, with the same error.
	AnnounceReset(ctx context.Context, g leaderboard.GuildRef, why events.Reason) error
}

const (
	// dueAtOnce is how many guilds one round handles; most have the same midnight. Their settings take some 20 MB.
	dueAtOnce = 10_000
	// visitsAtOnce is how many guilds are closed at the same time. The snapshot writer needs connections as well.
	visitsAtOnce = 4
	// closedAtOnce is how many periods of one guild close in one round, so that a guild unused for a year does not delay the others.
	closedAtOnce = 100
	// leastPause and mostPause bound the pause between two rounds. Within them it is the pause between two snapshots.
	leastPause, mostPause = time.Second, 10 * time.Second
)

// Closer closes periods that have ended, in the process that holds the snapshot lease. No process needs
// to run at the end of a period. All its state is in the archive; what it has in memory may be lost.
type Closer struct {
	live    Live
	archive Archive
	loader  leaderboard.Loader
	lease   func() (lease.Lease, bool)
	pause   time.Duration
	now     func() time.Time
	log     *slog.Logger

	looking sync.Mutex // held by look and Begin

	mu      sync.Mutex // guards the fields below
	waiting map[leaderboard.GuildRef]mark
	overdue map[leaderboard.GuildRef]time.Time // the end of the oldest period that has not closed
}

// mark is the rev up to which a guild must be archived before periods that ended before day can close.
type mark struct {
	epoch, rev int64
	day        period.Day
}

// CloserOptions are what a Closer needs; all are required.
type CloserOptions struct {
	Lease    func() (lease.Lease, bool) // the lease of this process, if it holds one
	Interval time.Duration              // of snapshots
	Log      *slog.Logger
	Now      func() time.Time
}

// NewCloser returns a Closer between two stores.
func NewCloser(live Live, archive Archive, loader leaderboard.Loader, o CloserOptions) *Closer {
	return &Closer{
		live: live, archive: archive, loader: loader, lease: o.Lease, pause: max(leastPause, min(o.Interval, mostPause)), log: o.Log, now: o.Now,
		waiting: map[leaderboard.GuildRef]mark{}, overdue: map[leaderboard.GuildRef]time.Time{},
	}
}

// Run closes ended periods until ctx ends.
func (c *Closer) Run(ctx context.Context) {
	interval := func() time.Duration { return c.pause }
	pause.Again(ctx, interval, c.look, func(err error) {
		c.log.WarnContext(ctx, "periods that have ended could not be closed; they are retried: check Redis and the archive", "error", err)
	})
}

// look closes what can be closed now, if this process holds the lease. A period whose changes are not
// archived yet closes in a later round. look returns the first error, but still closes the other guilds.
func (c *Closer) look(ctx context.Context) error {
	c.looking.Lock()
	defer c.looking.Unlock()
	held, ok := c.lease()
	if !ok {
		c.remember(nil, nil)
		return nil
	}
	due, err := c.archive.Due(ctx, c.now(), dueAtOnce)
	if err != nil {
		return err
	}
	var mu sync.Mutex // guards first and late
	var first error
	late := map[leaderboard.GuildRef]time.Time{}
	var visits errgroup.Group
	visits.SetLimit(visitsAtOnce)
	for _, d := range due {
		visits.Go(func() error {
			done, err := c.visit(ctx, held, d)
			mu.Lock()
			defer mu.Unlock()
			if !done {
				if since := c.endedSince(d); !since.IsZero() {
					late[leaderboard.Ref(d.Guild)] = since
				}
			}
			if err != nil && first == nil {
				first = fmt.Errorf("close periods of guild %s: %w", d.Guild.ID, err)
			}
			return nil
		})
	}
	_ = visits.Wait() // its error is in first
	c.remember(due, late)
	if errors.Is(first, lease.ErrLost) {
		return first
	}
	return errors.Join(first,
		work(ctx, c.archive.Unannounced, func(a Announcement) int64 { return a.Number }, c.announce),
		work(ctx, c.archive.Resets, func(r Reset) id.Guild { return r.Guild.ID }, c.tellReset))
}

// remember notes overdue guilds, and drops the marks of guilds that are not due.
func (c *Closer) remember(due []Due, late map[leaderboard.GuildRef]time.Time) {
	waiting := map[leaderboard.GuildRef]mark{}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range due {
		if w, waits := c.waiting[leaderboard.Ref(d.Guild)]; waits {
			waiting[leaderboard.Ref(d.Guild)] = w
		}
	}
	c.waiting, c.overdue = waiting, late
}

// Begin opens a guild's periods from the day first on, so that later rounds close those that have ended. This is for
// imported gains; otherwise a kind begins with the period in which it was configured. Closed periods do not change.
// It returns lease.ErrLost without the lease, and snapshot.ErrStale if the guild was written since it was read.
func (c *Closer) Begin(ctx context.Context, g *guild.Guild, first period.Day) error {
	c.looking.Lock() // a round that has already read the guild would open its periods from today on
	defer c.looking.Unlock()
	held, ok := c.lease()
	if !ok {
		return lease.ErrLost
	}
	calendar := g.Calendar()
	p := plan{open: Open{}.Since(calendar, first)}
	_, err := c.archive.ClosePeriod(ctx, held, Closing{Guild: g, Open: p.open, Next: p.next(calendar), Keep: p.keep(calendar, nil)})
	return err
}

// endedSince returns the end of the guild's oldest period that has not closed; zero if there is none.
func (c *Closer) endedSince(d Due) (ends time.Time) {
	calendar := d.Guild.Calendar()
	if p := planOf(d, calendar, period.DayAt(c.now(), calendar.Zone)); len(p.ended) > 0 {
		_, ends = p.ended[0].Bounds(calendar.Zone)
	}
	return ends
}

// visit closes the ended periods of one guild. done is false if more must be archived
// first. A deleted guild, or one with changed settings, waits for the next round.
func (c *Closer) visit(ctx context.Context, held lease.Lease, d Due) (done bool, err error) {
	calendar := d.Guild.Calendar()
	day, archived, err := c.archivedDay(ctx, d, calendar)
	if err != nil {
		return false, err
	}
	p := planOf(d, calendar, day)
	if len(p.ended) > 0 && !archived {
		return false, nil
	}
	err = c.close(ctx, held, d, calendar, p)
	if errors.Is(err, snapshot.ErrStale) {
		return true, nil
	}
	return err == nil && len(p.ended) <= closedAtOnce, err
}

// archivedDay returns a day that has begun by the live store's clock, and whether the archive has all changes made before it.
func (c *Closer) archivedDay(ctx context.Context, d Due, calendar period.Calendar) (period.Day, bool, error) {
	g := leaderboard.Ref(d.Guild)
	m, err := c.live.Moment(ctx, g.ID)
	if err != nil {
		return 0, false, err
	}
	today := period.DayAt(m.At, calendar.Zone)
	if m.Holds == HoldsNothing || m.Incarnation != g.Incarnation {
		return today, true, nil // the archive has all of the guild's changes
	}
	if len(planOf(d, calendar, today).ended) == 0 {
		return today, true, nil
	}
	if m.Holds == Unverified {
		return today, false, c.loader.Load(ctx, g)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	w, waits := c.waiting[g]
	if !waits || w.epoch != m.Epoch || w.day > today {
		w = mark{m.Epoch, m.Rev, today}
		c.waiting[g] = w
	}
	archived := d.State.Epoch == w.epoch && d.State.Archived >= max(w.rev, m.Doubt)
	if archived {
		delete(c.waiting, g)
	}
	return w.day, archived, nil
}

// close makes the steps of a plan, each in its own transaction. If it is cut off anywhere, the next round continues.
func (c *Closer) close(ctx context.Context, held lease.Lease, d Due, calendar period.Calendar, p plan) error {
	closed, open := slices.Clone(d.ClosedSeasons), maps.Clone(p.open)
	for _, one := range p.ended { // all of them are open before the first step
		if one.Kind != period.Seasonal {
			open[one.Kind] = min(open[one.Kind], one.First)
		}
	}
	note := func(step Closing) (bool, error) {
		now := plan{open: open}
		step.Guild, step.Open, step.Next, step.Keep = d.Guild, maps.Clone(open), now.next(calendar), now.keep(calendar, closed)
		return c.archive.ClosePeriod(ctx, held, step)
	}
	if len(p.ended) == 0 {
		_, err := note(Closing{})
		return err
	}
	for _, one := range p.ended[:min(len(p.ended), closedAtOnce)] {
		begins, ends := one.Bounds(calendar.Zone)
		if one.Kind == period.Seasonal {
			closed = append(closed, one.ID)
		} else {
			open[one.Kind] = one.End
		}
		board := one.Kind == period.Seasonal || slices.Contains(calendar.Kinds, one.Kind)
		closed, err := note(Closing{Period: &one, Begins: begins, Ends: ends, Board: board})
		if err != nil {
			return err
		}
		if !closed {
			continue
		}
		periodsClosed.WithLabelValues(string(one.Kind)).Inc()
		c.log.DebugContext(ctx, "a period has closed", "guild", d.Guild.ID, "period", one.ID)
	}
	return nil
}
