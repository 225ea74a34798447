package periods_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
)

// onlyDays are settings of a guild with boards of days only.
var onlyDays = settings[:strings.Index(settings, `"periods"`)] + `"periods":["day"]}`

// A new kind's board contains earlier gains. Its first read loads the guild with the board, once all changes are archived.
func TestANewKindsBoardHasEarlierGains(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.configure(onlyDays)
	for n := range 4 {
		w.create(n)
	}
	season := period.Season{ID: "all", Name: "All of it", Start: w.today() - 1, End: w.today() + 10}.Period()
	w.gain(1, 10)
	w.gain(2, 20)
	w.gain(3, 30)
	w.days = 1
	w.gain(1, 5)
	w.gain(2, -30)
	w.delete(3)
	w.configure(strings.NewReplacer("2026-01-01", season.First.String(), "2027-01-01", season.End.String()).Replace(settings))
	_, err := w.live.Standings(t.Context(), w.ref(), season, 0, 10)
	if !errors.Is(err, leaderboard.ErrNoBoard) {
		t.Fatalf("before the load: %v, want ErrNoBoard", err)
	}

	loaded := make(chan error)
	go func() { loaded <- w.hydrator.LoadBoards(t.Context(), w.ref()) }()
	for err = nil; !errors.Is(err, leaderboard.ErrNotLoaded); { // frozen until a snapshot
		_, err = w.live.Version(t.Context(), w.ref())
	}
	w.snapshot()
	w.must(<-loaded)
	if got := w.running(season); !reflect.DeepEqual(got, []standing{{user(1), 15}}) {
		t.Errorf("the season has %v, want 15 XP of the first user", got)
	}
	w.gain(2, 40)
	if got := w.running(season); !reflect.DeepEqual(got, []standing{{user(2), 30}, {user(1), 15}}) {
		t.Errorf("after a gain the season has %v, want 30 and 15 XP", got)
	}
	if got := w.running(period.At(period.Daily, w.today())); !reflect.DeepEqual(got, []standing{{user(2), 10}, {user(1), 5}}) {
		t.Errorf("the day has %v, want 10 and 5 XP", got)
	}
	if err := w.hydrator.LoadBoards(t.Context(), w.ref()); !errors.Is(err, leaderboard.ErrOtherPeriods) {
		t.Errorf("loading boards that are there: %v, want ErrOtherPeriods", err)
	}
}

func TestAnEvictedGuildIsLoadedWithItsBoards(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := range 3 {
		w.create(n)
	}
	w.gain(1, 10)
	w.gain(2, 20)
	_, err := w.live.SetPresence(t.Context(), w.ref(), leaderboard.Presence{Users: []id.User{user(2)}, Days: w.around()})
	w.must(err)
	w.snapshot()
	w.forget()
	w.gain(1, 1)
	for _, kind := range []period.Kind{period.Daily, period.Weekly, period.Monthly} {
		if got := w.running(period.At(kind, w.today())); !reflect.DeepEqual(got, []standing{{user(1), 11}}) {
			t.Errorf("the %s has %v, want 11 XP of the first user", kind, got)
		}
	}
	_, err = w.live.SetPresence(t.Context(), w.ref(), leaderboard.Presence{Present: true, Users: []id.User{user(2)}, Days: w.around()})
	w.must(err)
	if got := w.running(period.At(period.Weekly, w.today())); !reflect.DeepEqual(got, []standing{{user(2), 20}, {user(1), 11}}) {
		t.Errorf("after a member's return the week has %v, want 20 and 11 XP", got)
	}
}
