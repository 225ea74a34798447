package redisconn_test

import (
	"slices"
	"testing"
	"time"

	"levelboard/internal/platform/pause"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/usecase/leaderboard"
)

// The master that holds the index of changed guilds does not answer. Changes on the others do not wait for it, and once it
// answers again, guilds that change are in the index.
func TestAnIndexThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	const patience = 20 * time.Second
	ctx := pause.WithPatience(t.Context(), patience)
	c := newClustered(t)
	s := newBoard(c.client)
	index := c.Owner(c.SlotOf("lb:changed-guilds"))
	var elsewhere []leaderboard.GuildRef
	for i := 0; len(elsewhere) < 6; i++ {
		if g := guildNo(i); c.Owner(redisconn.SlotOf("{"+string(g.ID)+"}")) != index {
			loadGuild(t, s, g, nth(1))
			elsewhere = append(elsewhere, g)
		}
	}
	began := time.Now()
	index.Pause()
	for _, g := range elsewhere[:5] {
		if _, err := s.Change(ctx, g, nth(1), plus(1)); err != nil {
			t.Errorf("a change while the index does not answer: %v", err)
		}
	}
	took := time.Since(began)
	index.Resume()
	// Each would have waited for its whole patience, so this is no question of a fast machine.
	if took > patience {
		t.Errorf("five changes took %v", took)
	}
	last := elsewhere[5]
	eventually(t, "a guild that changes is in the index again", func() bool {
		if _, err := s.Change(ctx, last, nth(1), plus(1)); err != nil {
			return false
		}
		dirty, err := s.ChangedGuilds(ctx)
		if err != nil || slices.Contains(dirty, last.ID) {
			return err == nil
		}
		ended(t, s, changesOf(t, s, last)) // or its next change is not its first
		return false
	})
}
