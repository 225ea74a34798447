package storetest

import (
	"errors"
	"maps"
	"sync"
	"testing"

	"levelboard/internal/domain/id"
	"levelboard/internal/store"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// mixed are guilds that are there, each with a state of its own, and refs to ones that are not, among them.
func mixed(t *testing.T, a store.Archive, count int) (there map[leaderboard.GuildRef]snapshot.State, all []leaderboard.GuildRef) {
	t.Helper()
	there = map[leaderboard.GuildRef]snapshot.State{}
	l := leased(t, a)
	for i, g := range putMany(t, a, count) {
		ref, s := refOf(g), snapshot.State{Archived: int64(i)}
		writeRows(t, a, l, g, 0, s.Archived)
		for range i % 3 {
			var err error
			if s, err = a.RaiseEpoch(t.Context(), ref, s, hydrate.Reloaded); err != nil {
				t.Fatal(err)
			}
		}
		there[ref] = s
		all = append(all, ref)
		switch i % 4 {
		case 1: // created again since
			all = append(all, leaderboard.GuildRef{ID: ref.ID, Incarnation: ref.Incarnation + 1})
		case 2: // never there
			all = append(all, leaderboard.GuildRef{ID: "7" + id.Guild(ref.ID[1:]), Incarnation: ref.Incarnation})
		}
	}
	return there, all
}

func archiveStates(t *testing.T, a store.Archive) {
	there, all := mixed(t, a, 40)
	found, err := a.States(t.Context(), all)
	if err != nil || !maps.Equal(found, there) {
		t.Errorf("states %v, %v; want %v", found, err, there)
	}
	if found, err := a.States(t.Context(), nil); err != nil || len(found) != 0 {
		t.Errorf("the states of no guilds: %v, %v", found, err)
	}
}

// archiveStatesRace asks for the states of guilds, and raises their epochs, many at the same time: each caller has its own answer.
func archiveStatesRace(t *testing.T, a store.Archive) {
	there, all := mixed(t, a, 60)
	for _, change := range []func(s *snapshot.State){func(s *snapshot.State) {}, func(s *snapshot.State) { s.Epoch++ }} {
		for ref, s := range there {
			change(&s)
			there[ref] = s
		}
		var calls sync.WaitGroup
		for i, ref := range all {
			want, is := there[ref]
			calls.Go(func() {
				if s, err := a.State(t.Context(), ref); s != want || errors.Is(err, snapshot.ErrStale) == is || is && err != nil {
					t.Errorf("the state of %v: %+v, %v; want %+v", ref, s, err, want)
				}
			})
			calls.Go(func() {
				from := want
				from.Archived += int64(i%2) + 1 // another one than there is, so nothing is raised
				if s, err := a.RaiseEpoch(t.Context(), ref, from, hydrate.Reloaded); !errors.Is(err, snapshot.ErrStale) {
					t.Errorf("raise %v from a state that is not there: %+v, %v; want ErrStale", ref, s, err)
				}
			})
		}
		calls.Wait()
		for _, ref := range all {
			want, is := there[ref]
			calls.Go(func() {
				s, err := a.RaiseEpoch(t.Context(), ref, want, hydrate.Reloaded)
				if want.Epoch++; is && (err != nil || s != want) || !is && !errors.Is(err, snapshot.ErrStale) {
					t.Errorf("raise %v: %+v, %v; want %+v (there: %v)", ref, s, err, want, is)
				}
			})
		}
		calls.Wait()
	}
}
