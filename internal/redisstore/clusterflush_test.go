package redisstore_test

import (
	"errors"
	"testing"

	"levelboard/internal/id"
	"levelboard/internal/redisstore"
	"levelboard/internal/snapshot"
)

// Flushes of many guilds are asked for on the masters of each: whatever happens to one master, or to a slot, the guilds of the
// others are flushed.
func TestFlushesOfAllMasters(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := newClustered(t)
	s := redisstore.New(c.client, redisstore.Options{})
	var ids []id.Guild
	for i := range 12 {
		g := guildNo(i)
		loadGuild(t, s, g, nth(1), nth(2))
		_, err := s.Change(ctx, g, nth(1), plus(1))
		ok(t, err)
		ids = append(ids, g.ID)
	}
	slotOf := func(g id.Guild) int { return c.SlotOf("{" + string(g) + "}") }

	for _, master := range c.Masters {
		ok(t, direct(t, master).ScriptFlush(ctx).Err())
	}
	begun := s.BeginFlushes(ctx, ids, 10)
	for i, got := range begun {
		if got.Err != nil || !got.OK || got.Flush.Guild.ID != ids[i] || len(got.Users) != 1 || got.Users[0] != nth(1) {
			t.Errorf("guild %d, with the scripts missing: %+v", i, got)
		}
	}
	batches, errs := s.ReadBatches(ctx, begun)
	var flushes []snapshot.Flush
	var revs []int64
	for i, b := range batches {
		if errs[i] != nil || b.Guild != guildNo(i) || len(b.Rows) != 1 || b.Rows[0].XP != 101 {
			t.Errorf("batch %d: %+v, %v", i, b, errs[i])
		}
		flushes, revs = append(flushes, begun[i].Flush), append(revs, b.Rev)
	}
	for _, err := range s.EndFlushes(ctx, flushes, revs) {
		ok(t, err)
	}

	// Where a slot has gone its guild was never compared with the archive.
	for i := range ids {
		_, err := s.Change(ctx, guildNo(i), nth(2), plus(1))
		ok(t, err)
	}
	from := c.Owner(slotOf(ids[0]))
	c.Move(slotOf(ids[0]), from, c.Another(from))
	for i, got := range s.BeginFlushes(ctx, ids, 10) {
		if moved := i == 0; errors.Is(got.Err, snapshot.ErrUnverified) != moved || got.OK == moved {
			t.Errorf("guild %d, after the slot of the first has moved: %+v", i, got)
		}
	}

	dead := c.Owner(slotOf(ids[1]))
	of := map[id.Guild]bool{}
	for _, g := range ids {
		of[g] = c.Owner(slotOf(g)) == dead
	}
	dead.Kill()
	for i, got := range s.BeginFlushes(ctx, ids, 10) {
		if i > 0 && !of[ids[i]] && (got.Err != nil || !got.OK) {
			t.Errorf("guild %d, with another's master dead: %+v", i, got)
		}
	}
	eventually(t, "a replica answers for its master", func() bool {
		for _, got := range s.BeginFlushes(ctx, ids, 10) {
			if got.Err != nil && !errors.Is(got.Err, snapshot.ErrUnverified) {
				return false
			}
		}
		return true
	})
}
