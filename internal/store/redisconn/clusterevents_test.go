package redisconn_test

import (
	"testing"

	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
)

// A master that is dead keeps the events of its own guilds back, and of no others.
func TestEventsWithAMasterOfAClusterDead(t *testing.T) {
	t.Parallel()
	c := newClustered(t)
	ctx, s := t.Context(), newBoard(c.client)
	var from []events.Cursor
	for i := range 12 {
		g := guildNo(i)
		loadGuild(t, s, g, nth(1))
		from = append(from, events.Cursor{Guild: g})
	}
	whole, err := s.ReadEvents(ctx, from, 10)
	ok(t, err)
	slotOf := func(g leaderboard.GuildRef) int { return c.SlotOf("{" + string(g.ID) + "}") }
	dead := c.Owner(slotOf(from[0].Guild))
	of := make([]bool, len(from))
	for i := range from {
		of[i] = c.Owner(slotOf(from[i].Guild)) == dead
	}
	c.ReplicaOf(dead).Kill() // nobody takes over
	dead.Kill()
	read, err := s.ReadEvents(ctx, from, 10)
	if err == nil || len(read) != len(from) {
		t.Fatalf("%d of %d were read, %v; want all but those of the dead master, and its error", len(read), len(from), err)
	}
	for i := range from {
		if want := len(whole[i]); len(whole[i]) == 0 || of[i] && len(read[i]) != 0 || !of[i] && len(read[i]) != want {
			t.Errorf("guild %d (of the dead master: %v): %d events, want %d", i, of[i], len(read[i]), want)
		}
	}
}
