package periods_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/snapshot"
)

// New settings open their kinds of periods, even if no closer looks at the guild before the period ends.
func TestAKindEnabledAtTheEndOfItsPeriodCloses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(1)
	w.gain(1, 10)
	today := period.At(period.Daily, w.today())
	w.days = 1
	w.snapshot()
	look(w, w.closer(w.archive))
	if _, rows := w.closed(today); !reflect.DeepEqual(rows, []standing{{user(1), 10}}) {
		t.Errorf("the day has %v, want 10 XP of the first user", rows)
	}
}

func TestADayOutlivesAChangeOfTheZone(t *testing.T) {
	t.Parallel()
	const behind, ahead = "Etc/GMT+12", "Etc/GMT-14" // ahead's date is always later
	for name, zones := range map[string][]string{"forward, after a gain": {behind, ahead}, "back, before a gain": {ahead, behind}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.create(1)
			var day period.Period
			for _, zone := range zones {
				w.configure(strings.Replace(settings, `{`, `{"timeZone":"`+zone+`",`, 1))
				if zone == behind {
					day = period.At(period.Daily, period.DayAt(time.Now(), w.guild.Calendar().Zone))
					w.gain(1, 10)
				}
			}
			w.days = 3
			w.snapshot()
			look(w, w.closer(w.archive))
			if _, rows := w.closed(day); !reflect.DeepEqual(rows, []standing{{user(1), 10}}) {
				t.Errorf("the day %s has %v, want 10 XP of the first user", day.ID, rows)
			}
		})
	}
}

func TestBeginOpensPastPeriods(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(1)
	c := w.closer(w.archive)
	look(w, c) // starts counting today
	w.gain(1, 10)
	w.snapshot()
	w.days = 1
	look(w, c)
	today := w.today()
	w.must(c.Begin(t.Context(), w.guild, today-40))
	look(w, c)
	for d := today - 40; d < today; d++ {
		want := map[period.Day]int64{today - 1: 10}[d] // a closed day stays
		if found, _ := w.closed(period.At(period.Daily, d)); found.Totals.Gained != want {
			t.Errorf("the day %v has %d XP, want %d", d, found.Totals.Gained, want)
		}
	}
	w.closed(period.At(period.Weekly, today-40))
	w.closed(period.At(period.Monthly, today-40))
	old := *w.guild
	w.configure(settings)
	if err := c.Begin(t.Context(), &old, today-50); !errors.Is(err, snapshot.ErrStale) {
		t.Errorf("with stale settings: %v, want snapshot.ErrStale", err)
	}
	w.must(w.writer.Release(t.Context()))
	if err := c.Begin(t.Context(), w.guild, today-50); !errors.Is(err, lease.ErrLost) {
		t.Errorf("without the lease: %v, want lease.ErrLost", err)
	}
}

// A closed period does not change when its day runs again in a new zone. Gains of that day then count for the week.
func TestANewZoneMovesTheBoundsOfRunningPeriods(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(1)
	c := w.closer(w.archive)
	look(w, c)
	w.gain(1, 10)
	today := period.At(period.Daily, w.today())
	w.days = 1
	w.snapshot()
	look(w, c)
	w.days = 0 // a zone that is a day behind
	w.gain(1, 5)
	w.snapshot()
	look(w, c)
	if _, rows := w.closed(today); !reflect.DeepEqual(rows, []standing{{user(1), 10}}) {
		t.Errorf("the closed day has %v, want 10 XP", rows)
	}
	if got := w.running(period.At(period.Weekly, w.today())); !reflect.DeepEqual(got, []standing{{user(1), 15}}) {
		t.Errorf("the week has %v, want 15 XP", got)
	}
}
