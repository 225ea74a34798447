package storetest

import (
	"maps"
	"testing"

	"levelboard/internal/domain/id"
	"levelboard/internal/store"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// archiveStates asks for the states of guilds that exist, each with its own, and of unknown ones.
func archiveStates(t *testing.T, a store.Archive) {
	there, all := map[leaderboard.GuildRef]snapshot.State{}, []leaderboard.GuildRef{}
	l := leased(t, a)
	for i, g := range putMany(t, a, 40) {
		ref, s := refOf(g), snapshot.State{Archived: int64(i)}
		writeRows(t, a, l, g, 0, s.Archived)
		for range i % 3 {
			s = mustGet(a.RaiseEpoch(t.Context(), ref, s, hydrate.Reloaded))(t)
		}
		there[ref] = s
		createdAgain := leaderboard.GuildRef{ID: ref.ID, Incarnation: ref.Incarnation + 1}
		neverThere := leaderboard.GuildRef{ID: "7" + id.Guild(ref.ID[1:]), Incarnation: ref.Incarnation}
		all = append(all, [][]leaderboard.GuildRef{{ref}, {ref, createdAgain}, {neverThere, ref}}[i%3]...)
	}
	if found := mustGet(a.States(t.Context(), all))(t); !maps.Equal(found, there) {
		t.Errorf("the states are %v, want %v", found, there)
	}
	if found := mustGet(a.States(t.Context(), nil))(t); len(found) != 0 {
		t.Errorf("the states of no guilds are %v, want none", found)
	}
}
