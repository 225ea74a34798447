package periods

import (
	"context"
	"slices"
	"time"

	"levelboard/internal/domain/period"
)

// plan lists for a guild and a day the periods that have ended, by their ends, and what is open after they closed.
type plan struct {
	ended []period.Period
	open  Open // after all of them
}

// Since returns what is open once settings with this calendar are accepted on a day: a kind that was not open begins with the period of that day,
// and a kind that is no longer configured is not open. If a new zone goes back, earlier periods may run again. Days are open while anything is
// counted.
func (o Open) Since(calendar period.Calendar, today period.Day) Open {
	since := Open{}
	for _, kind := range []period.Kind{period.Daily, period.Weekly, period.Monthly} {
		if !slices.Contains(calendar.Kinds, kind) && (kind != period.Daily || !calendar.Counts()) {
			continue
		}
		since[kind] = period.At(kind, today).First
		if first, open := o[kind]; open {
			since[kind] = min(since[kind], first)
		}
	}
	return since
}

// planOf returns the plan of a guild for today, by its calendar.
func planOf(d Due, calendar period.Calendar, today period.Day) plan {
	p := plan{open: Open{}}
	for kind, first := range d.Open {
		one := period.At(kind, first)
		for ; one.End <= today; one = period.At(kind, one.End) {
			p.ended = append(p.ended, one)
		}
		p.open[kind] = one.First
	}
	for _, s := range calendar.Seasons {
		if season := s.Period(); season.End <= today && !slices.Contains(d.ClosedSeasons, season.ID) {
			p.ended = append(p.ended, season)
		}
	}
	slices.SortStableFunc(p.ended, func(a, b period.Period) int { return int(a.End - b.End) })
	return p
}

// next is when something ends next by the calendar; zero when nothing is counted.
func (p plan) next(calendar period.Calendar) (next time.Time) {
	for kind, first := range p.open {
		_, ends := period.At(kind, first).Bounds(calendar.Zone)
		next = earlier(next, ends)
	}
	return next // seasons end where days end, and days are always open
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// keep returns the first day whose gains an open period or season still needs; 0 when nothing is counted.
func (p plan) keep(calendar period.Calendar, closedSeasons []string) (first period.Day) {
	need := func(d period.Day) {
		if first == 0 || d < first {
			first = d
		}
	}
	for _, d := range p.open {
		need(d)
	}
	for _, s := range calendar.Seasons {
		if !slices.Contains(closedSeasons, s.Period().ID) {
			need(s.Start)
		}
	}
	return first
}

const (
	// queuePage is how many steps are read at once.
	queuePage = 100
	// queueTime bounds the time that a look spends on one queue: closing goes first.
	queueTime = 10 * time.Second
)

// work runs a step for everything that waits in the archive, for a bounded time, and leaves failures for later. The error is the first one.
func work[T, P any](ctx context.Context, read func(context.Context, P, int) ([]T, error), place func(T) P, step func(context.Context, T) error) (first error) {
	var after P // the zero value is the beginning
	for deadline := time.Now().Add(queueTime); ctx.Err() == nil && time.Now().Before(deadline); {
		waiting, err := read(ctx, after, queuePage)
		for _, one := range waiting {
			if failed := step(ctx, one); err == nil {
				err = failed
			}
			after = place(one)
		}
		if first == nil {
			first = err
		}
		if len(waiting) < queuePage {
			break
		}
	}
	return first
}
