package periods

import (
	"context"
	"slices"
	"time"

	"levelboard/internal/domain/period"
)

// plan lists a guild's ended periods by their ends, and what is open after they have closed.
type plan struct {
	ended []period.Period
	open  Open // after all of them have closed
}

// Since returns what is open after settings with this calendar are accepted on a day. A kind that was
// not open begins with the period of that day. A kind that is no longer configured is not open. In a new
// zone that is behind, earlier periods may be running again. Days are open while anything is counted.
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

// next returns when the next period of the calendar ends; zero if nothing is counted.
func (p plan) next(calendar period.Calendar) (next time.Time) {
	for kind, first := range p.open {
		_, ends := period.At(kind, first).Bounds(calendar.Zone)
		next = earlier(next, ends)
	}
	return next // seasons end when days end, and days are always open
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// keep returns the first day whose gains an open period or season still needs; 0 if nothing is counted.
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
	// queueTime bounds the time that a round spends on one queue, since closing is more important.
	queueTime = 10 * time.Second
)

// work runs a step for each item that waits in the archive, for a bounded time. Failed items wait for a later call. It returns the first error.
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
