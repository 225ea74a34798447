package redisconn_test

import (
	"errors"
	"testing"

	"levelboard/internal/domain/id"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// The changes of many guilds are read on the masters of each: whatever happens to one master, or to a slot, the guilds of the
// others are read.
func TestChangesOnAllMasters(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newClustered(t)
	s := newBoard(c.client)
	var guilds []leaderboard.GuildRef
	var ids []id.Guild
	change := func(user int) {
		for _, g := range guilds {
			_, err := s.Change(ctx, g, nth(user), plus(1))
			ok(t, err)
		}
	}
	for i := range 12 {
		g := guildNo(i)
		loadGuild(t, s, g, nth(1), nth(2))
		guilds, ids = append(guilds, g), append(ids, g.ID)
	}
	slotOf := func(g leaderboard.GuildRef) int { return c.SlotOf("{" + string(g.ID) + "}") }
	change(1)

	for _, master := range c.Masters {
		ok(t, direct(t, master).ScriptFlush(ctx).Err())
	}
	var batches []snapshot.Batch
	for i, got := range s.ReadChanges(ctx, ids, 10) {
		if b := got.Batch; got.Err != nil || b.Guild != guilds[i] || len(b.Rows) != 1 || b.Rows[0].UserID != nth(1) || b.Rows[0].XP != 101 {
			t.Errorf("guild %d, with the scripts missing: %+v", i, got)
		}
		batches = append(batches, got.Batch)
	}
	more, errs := s.EndChanges(ctx, batches)
	for i, err := range errs {
		if ok(t, err); more[i] {
			t.Errorf("guild %d has changed", i)
		}
	}

	// Where a slot has gone its guild was never compared with the archive.
	change(2)
	from := c.Owner(slotOf(guilds[0]))
	c.Move(slotOf(guilds[0]), from, c.Another(from))
	for i, got := range s.ReadChanges(ctx, ids, 10) {
		if moved := i == 0; errors.Is(got.Err, snapshot.ErrUnverified) != moved || len(got.Batch.Rows) > 0 == moved {
			t.Errorf("guild %d, after the slot of the first has moved: %+v", i, got)
		}
	}

	dead := c.Owner(slotOf(guilds[1]))
	of := map[int]bool{}
	for i, g := range guilds {
		of[i] = c.Owner(slotOf(g)) == dead
	}
	dead.Kill()
	for i, got := range s.ReadChanges(ctx, ids, 10) {
		if i > 0 && !of[i] && (got.Err != nil || len(got.Batch.Rows) == 0) {
			t.Errorf("guild %d, with another's master dead: %+v", i, got)
		}
	}
	testenv.Wait(t, "a replica answers for its master", func() bool {
		for _, got := range s.ReadChanges(ctx, ids, 10) {
			if got.Err != nil && !errors.Is(got.Err, snapshot.ErrUnverified) {
				return false
			}
		}
		return true
	})
}
