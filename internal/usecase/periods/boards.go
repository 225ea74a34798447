package periods

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/platform/cached"
	"levelboard/internal/usecase/leaderboard"
)

const (
	// PageSize is the number of periods on a page of Periods.
	PageSize = 100
	// ListWinners is how many winners a list has for each period, and AnnouncedWinners how many an announcement has.
	ListWinners, AnnouncedWinners = 3, 10
	// MaxHistory is how many days back Activity and History can go.
	MaxHistory = 366
	// For closingTime after the end of a day, week or month, it is most likely being closed, and requests for it get 503. An
	// older period may never have been counted, so it is 404. Seasons have no such bound: the settings say which are counted.
	closingTime = 15 * time.Minute
	// lookTime is how long a request for a running period waits for the archive. It waits once for each period.
	lookTime = time.Second
	// lookAgain is the pause before the archive is asked again after it did not respond.
	lookAgain = 5 * time.Second
	// runningKept bounds the running periods that are remembered as not closed.
	runningKept = 10_000
)

// Running reads the boards of running periods. Its errors are faults.
type Running interface {
	Standings(ctx context.Context, g *guild.Guild, p period.Period, offset, limit int64) (leaderboard.Standings, error)
	EntryGains(ctx context.Context, g *guild.Guild, user id.User) (leaderboard.LatestGains, error)
	Position(ctx context.Context, g *guild.Guild, user id.User, running []period.Period) (leaderboard.Position, error)
	Around(ctx context.Context, g *guild.Guild, user id.User, w leaderboard.Window) (leaderboard.Around, error)
}

// Boards holds the use cases that read periods. Its errors are faults. It is safe for concurrent use.
type Boards struct {
	running Running
	archive Archive
	now     func() time.Time
	known   *lru.Cache[string, time.Time] // until when a period counts as open; the zero time: as long as it is running
}

// NewBoards returns the use cases on both stores.
func NewBoards(running Running, archive Archive, now func() time.Time) *Boards {
	return &Boards{running: running, archive: archive, now: now, known: cached.NewLRU[string, time.Time](runningKept)}
}

// Listed is a period in a list: a running one as it is now or, with Over, a closed one as it was.
type Listed struct {
	Closed
	Over bool
}

// CheckName returns an Invalid fault for a name that is neither a kind nor the id of a period.
func CheckName(name string) error {
	if slices.Contains(period.Kinds, period.Kind(name)) {
		return nil
	}
	_, err := parseID(name)
	return err
}

func parseID(text string) (period.Period, error) {
	p, err := period.Parse(text)
	if err != nil {
		return p, fault.Wrap(err, fault.Invalid,
			"The period must be day, week, month or season, or the id of a period such as 2026-11-25, 2026-W48, 2026-11 or season-winter.")
	}
	return p, nil
}

// Find returns the period with an id, or the running one of a kind. For a closed period, closed is its board. Its faults are Invalid for
// another name, NotFound for a period that is not configured, has not begun or is no longer kept, and Unavailable while it is being closed.
func (b *Boards) Find(ctx context.Context, g *guild.Guild, name string) (p period.Period, closed *Closed, err error) {
	calendar, kind := g.Calendar(), period.Kind(name)
	today := period.DayAt(b.now(), calendar.Zone)
	if slices.Contains(period.Kinds, kind) {
		p, ok := calendar.Of(kind, today)
		if !ok {
			return p, nil, notRunning(kind)
		}
		closed, err = b.closedAlready(ctx, g, p)
		return p, closed, err
	}
	if p, err = parseID(name); err != nil {
		return p, nil, err
	}
	if running, ok := calendar.Of(p.Kind, today); ok && running.ID == p.ID {
		closed, err = b.closedAlready(ctx, g, running)
		return running, closed, err
	}
	return b.past(ctx, g, p, calendar, today)
}

// closedAlready returns the closed board of a period that is running in the guild's new zone, but
// has closed in the previous one. While the archive does not respond, the period counts as open.
func (b *Boards) closedAlready(ctx context.Context, g *guild.Guild, p period.Period) (*Closed, error) {
	name := fmt.Sprintf("%d/%d/%s", g.Incarnation, g.Version, p.ID)
	if until, open := b.known.Get(name); open && (until.IsZero() || b.now().Before(until)) {
		return nil, nil
	}
	asked, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	found, err := b.archive.Closed(asked, leaderboard.Ref(g), p.ID)
	if err == nil {
		return &found, nil
	}
	if ctx.Err() != nil {
		return nil, fault.Down("read a period", err)
	}
	var until time.Time
	if !errors.Is(err, ErrNotClosed) {
		until = b.now().Add(lookAgain)
	}
	b.known.Add(name, until)
	return nil, nil
}

// past finds a period that is not running.
func (b *Boards) past(ctx context.Context, g *guild.Guild, p period.Period, calendar period.Calendar, today period.Day) (period.Period, *Closed, error) {
	found, err := b.archive.Closed(ctx, leaderboard.Ref(g), p.ID)
	if err == nil {
		return found.Period, &found, nil
	}
	if !errors.Is(err, ErrNotClosed) {
		return p, nil, fault.Down("read a period", err)
	}
	configured, ok := configuredPeriod(p, calendar)
	_, ends := configured.Bounds(calendar.Zone)
	if ended := ok && configured.End <= today; ended && (p.Kind == period.Seasonal || b.now().Sub(ends) < closingTime) {
		return p, nil, &fault.Error{
			Code: fault.Unavailable, RetryAfter: 5 * time.Second,
			Message: "This period has ended and is being closed. Try again in a few seconds.",
		}
	}
	if ok && configured.First > today {
		return p, nil, fault.New(fault.NotFound, "This period has not begun yet.")
	}
	return p, nil, fault.New(fault.NotFound, "This guild has no board of this period, or does not keep it any more. GET /v2/levels/{entry}/periods lists those that it has.")
}

// configuredPeriod returns the period with its days, if the calendar has it.
func configuredPeriod(p period.Period, calendar period.Calendar) (period.Period, bool) {
	if p.Kind != period.Seasonal {
		return p, slices.Contains(calendar.Kinds, p.Kind)
	}
	for _, s := range calendar.Seasons {
		if season := s.Period(); season.ID == p.ID {
			return season, true
		}
	}
	return p, false
}

func notRunning(kind period.Kind) *fault.Error {
	if kind == period.Seasonal {
		return fault.New(fault.NotFound, "No season runs in this guild at the moment.")
	}
	return fault.New(fault.NotFound, "This guild has no board of the %s. Its owner can add it to the settings.", kind)
}

// Page reads a page (from 1) of a closed period.
func (b *Boards) Page(ctx context.Context, g *guild.Guild, p period.Period, number int64) ([]Standing, error) {
	if number > leaderboard.MaxPage {
		return nil, nil
	}
	rows, err := b.archive.Standings(ctx, leaderboard.Ref(g), p.ID, leaderboard.PageSize*(number-1), leaderboard.PageSize)
	if err != nil {
		return nil, fault.Down("read a period", err)
	}
	// An erased user leaves a gap in the ranks, so the query may return rows of the next page.
	return slices.DeleteFunc(rows, func(row Standing) bool { return row.Rank > leaderboard.PageSize*number }), nil
}

// notOnBoard is the fault's message for a member who is not on a period's board.
const notOnBoard = "This user is not on the board of the period: it has the members who gained more than they lost, and in old periods only the first 100."

// Position reads a member's rank on the board of all time and on those of all
// running periods. It returns a NotFound fault for a user without an entry.
func (b *Boards) Position(ctx context.Context, g *guild.Guild, user id.User) (leaderboard.Position, error) {
	running, err := b.open(ctx, g)
	if err != nil {
		return leaderboard.Position{}, err
	}
	return b.running.Position(ctx, g, user, running)
}

// Around reads at most limit members (1 to leaderboard.MaxAround) of a board around one member: of
// the named period as in Find, or of all time for "". settings are the guild's; for a closed period
// they are those of its closing. It returns a NotFound fault for a user who is not on the board.
func (b *Boards) Around(ctx context.Context, g *guild.Guild, user id.User, name string, limit int64) (found leaderboard.Around, settings *guild.Settings, err error) {
	w, closed := leaderboard.Window{Limit: limit}, (*Closed)(nil)
	if name != "" {
		var p period.Period
		if p, closed, err = b.Find(ctx, g, name); err != nil {
			return found, nil, err
		}
		w.Period = &p
	}
	if closed != nil {
		found, err = b.aroundClosed(ctx, g, user, closed, int(limit))
		return found, &closed.Settings, err
	}
	found, err = b.running.Around(ctx, g, user, w)
	if name != "" && errors.Is(err, leaderboard.ErrNoMember) && !errors.Is(err, leaderboard.ErrNotPresent) {
		err = fault.Wrap(err, fault.NotFound, notOnBoard)
	}
	return found, &g.Settings, err
}

func (b *Boards) aroundClosed(ctx context.Context, g *guild.Guild, user id.User, closed *Closed, limit int) (found leaderboard.Around, err error) {
	after, err := b.archive.StandingsBefore(ctx, leaderboard.Ref(g), closed.ID, user, limit)
	if errors.Is(err, leaderboard.ErrNoMember) {
		return found, fault.Wrap(err, fault.NotFound, notOnBoard)
	}
	if err == nil {
		found.Of = closed.Members
		found.Rows, err = b.archive.Standings(ctx, leaderboard.Ref(g), closed.ID, after, limit)
	}
	if err != nil {
		return found, fault.Down("read a period", err)
	}
	return found, nil
}
