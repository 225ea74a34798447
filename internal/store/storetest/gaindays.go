package storetest

import (
	"reflect"
	"time"

	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

func clockChoosesTheDay(b *board) {
	b.load(row(userN(1), 0))
	c := ahead(0)
	for _, skew := range []time.Duration{-24 * time.Hour, 0, 24 * time.Hour} {
		_, err := b.Change(b.Context(), b.g, userN(1), leaderboard.Change{Op: leaderboard.Increment, Amount: 10, Days: c.DaysAt(time.Now().Add(skew))})
		b.must(err)
	}
	if got := b.waiting(userN(1)).Gains; !reflect.DeepEqual(got, []period.Gain{{Day: today(), Gained: 30}}) {
		b.Errorf("replicas whose clocks differ counted %v, want 30 XP today", got)
	}
	b.wantGains(c, period.Daily, gains{userN(1): 30})
}

func newDay(b *board) {
	b.load(row(userN(1), 0), row(userN(2), 0))
	b.gain(userN(1), leaderboard.Increment, 10, ahead(0))
	b.gain(userN(2), leaderboard.Increment, 5, ahead(0))
	next := ahead(1)
	b.wantGains(next, period.Daily, nil) // even without a change since midnight
	b.gain(userN(1), leaderboard.Increment, 7, next)
	b.wantGains(next, period.Daily, gains{userN(1): 7})
	b.wantGains(next, period.Seasonal, gains{userN(1): 17, userN(2): 5})
	if got := b.waiting(userN(1)).Gains; !reflect.DeepEqual(got, dated(1, 7, 10)) {
		b.Errorf("the entry has the gains %v, want %v", got, dated(1, 7, 10))
	}
}

func archivedDays(b *board) {
	b.load(row(userN(1), 0))
	for day := range 5 {
		b.gain(userN(1), leaderboard.Increment, level.XP(day+1), ahead(day))
	}
	if got := b.waiting(userN(1)).Gains; len(got) != 5 {
		b.Errorf("the entry has the gains %v, want those of the last 5 days", got)
	}
	_, errs := b.EndChanges(b.Context(), []snapshot.Batch{b.changes()})
	b.must(errs[0])
	b.gain(userN(1), leaderboard.Increment, 6, ahead(5))
	if got, want := b.waiting(userN(1)).Gains, dated(5, 6, 5, 4); !reflect.DeepEqual(got, want) {
		b.Errorf("after a snapshot the entry has the gains %v, want %v", got, want)
	}
	b.wantGains(ahead(5), period.Seasonal, gains{userN(1): 21})
}

func zoneGoesBack(b *board) {
	b.load(row(userN(1), 0))
	b.gain(userN(1), leaderboard.Increment, 10, ahead(0))
	b.gain(userN(1), leaderboard.Increment, 20, ahead(1))
	back := ahead(0)
	b.gain(userN(1), leaderboard.Increment, 3, back)
	if got, want := b.waiting(userN(1)).Gains, dated(1, 20, 13); !reflect.DeepEqual(got, want) {
		b.Errorf("the entry has the gains %v, want %v", got, want)
	}
	b.wantNoBoard(back, period.Daily) // already ended
	b.wantGains(back, period.Seasonal, gains{userN(1): 33})
	b.wantGains(ahead(1), period.Daily, gains{userN(1): 20})
}
