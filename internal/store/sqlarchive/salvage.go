package sqlarchive

import (
	"context"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// Salvage implements hydrate.Archive. The guild's row, which it locks, keeps batches out between reading and writing.
func (c *Catalog) Salvage(ctx context.Context, from snapshot.State, b snapshot.Batch) error {
	return c.inTx(ctx, "salvage", func(t *tx) {
		if state, exists := t.lockedStates([]snapshot.Batch{b})[b.Guild]; !exists || state != from {
			t.fail(snapshot.ErrStale)
		}
		archived := t.archivedRows(b)
		salvaged := b.Salvaged(from)
		var rows []memberRow
		for _, r := range salvaged.Rows {
			if merged, ok := merge(archived[r.UserID], r, b); ok {
				merged.rev = salvaged.AsOf
				if before := archived[r.UserID]; before != nil && before.epoch == from.Epoch {
					merged.rev = max(merged.rev, before.rev)
				}
				merged.incarnation, merged.epoch = int64(b.Guild.Incarnation), from.Epoch
				rows = append(rows, merged)
			}
		}
		if from.Epoch == b.Epoch {
			for _, user := range b.Gone() {
				if before := archived[user]; before != nil && !before.Deleted && before.notAfter(b.Epoch, b.Known) {
					tombstone := snapshot.Row{Deleted: true, Member: leaderboard.Member{UserID: user}}
					rows = append(rows, memberRow{incarnation: int64(b.Guild.Incarnation), epoch: b.Epoch, rev: salvaged.AsOf, Row: tombstone})
				}
			}
		}
		t.writeRows(rows, true)
		t.writeRecords([]snapshot.Batch{salvaged})
	})
}

// archivedRows reads the rows, tombstones too, of the users in a batch.
func (t *tx) archivedRows(b snapshot.Batch) map[id.User]*memberRow {
	users := make([]id.User, len(b.Rows))
	for i := range b.Rows {
		users[i] = b.Rows[i].UserID
	}
	found := make(map[id.User]*memberRow, len(users))
	for _, m := range readAll(t, columns(func(m *memberRow) []any { return append(memberFields(&m.Row), &m.epoch, &m.rev, &m.Deleted) }), `
		SELECT user_id, xp, message_count, updated_ms, cooldown_ms, avatar, discriminator, username, global_name, accent_colour, NOT present,
			epoch, rev, deleted FROM members
		WHERE incarnation = $1 AND user_id IN (SELECT value ->> 0 FROM jsonb_each($2))`, int64(b.Guild.Incarnation), jsonList(users)) {
		found[m.UserID] = &m
	}
	return found
}

// notAfter reports whether the row was written at that epoch and rev at the latest.
func (m *memberRow) notAfter(epoch, rev int64) bool {
	return m.epoch < epoch || m.epoch == epoch && m.rev <= rev
}

// merge makes one entry of an archived one, or nil, and that of the live store of b. ok is false when a tombstone stays that the live store did not know of. A
// tombstone that it knew of holds nothing, so to merge with it is to replace it.
func merge(archived *memberRow, live snapshot.Row, b snapshot.Batch) (merged memberRow, ok bool) {
	switch {
	case archived == nil:
		return memberRow{Row: live}, true
	case archived.Deleted:
		return memberRow{Row: live}, archived.notAfter(b.Epoch, b.Known)
	}
	newer := live.LastUpdated.After(archived.LastUpdated)
	merged.Row = archived.Row
	merged.Gains = live.Gains
	merged.XP, merged.MessageCount = max(archived.XP, live.XP), max(archived.MessageCount, live.MessageCount)
	merged.LastUpdated, merged.CooldownUntil = later(archived.LastUpdated, live.LastUpdated), later(archived.CooldownUntil, live.CooldownUntil)
	if newer {
		merged.Absent = live.Absent
	}
	if unknown := (leaderboard.User{}); live.User != unknown && (newer || archived.User == unknown) {
		merged.User = live.User
	}
	return merged, true
}

func later(x, y time.Time) time.Time {
	if x.After(y) {
		return x
	}
	return y
}
