package storetest

import (
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

var rewriteCases = []boardCase{
	{"members can be noted as unsaved", noteUnsaved},
	{"all members can be noted as unsaved", noteAllUnsaved},
	{"an earlier batch ends no later note", noteUnsavedBesideABatch},
	{"the archived rev can be lowered", lowerArchived},
}

// loadOf returns the guild's load at an epoch.
func (b *board) loadOf(epoch int64) snapshot.Load { return snapshot.Load{Guild: b.g, Epoch: epoch} }

func noteUnsaved(b *board) {
	ctx := b.Context()
	b.hydrate(b.g, snapshot.State{Epoch: 4, Archived: 10}, rowN(1, 1), rowN(2, 2))
	f := b.loadOf(4)
	if archived, err := b.NoteUnsaved(ctx, f, nil); err != nil || archived != 10 {
		b.Errorf("noting nobody: archived %d (%v), want 10", archived, err)
	}
	b.nothingWaits()
	// One of them has no entry any more, and becomes a tombstone.
	if archived, err := b.NoteUnsaved(ctx, f, []id.User{userN(2), userN(7)}); err != nil || archived != 10 {
		b.Errorf("noting two members: archived %d (%v), want 10", archived, err)
	}
	for _, other := range []snapshot.Load{{Guild: b.g, Epoch: 5}, {Guild: leaderboard.GuildRef{ID: b.g.ID, Incarnation: 1}, Epoch: 4}} {
		_, err := b.NoteUnsaved(ctx, other, []id.User{userN(1)})
		b.wants("a note of another load", err, leaderboard.ErrNotLoaded)
	}
	backlog, err := b.Backlog(ctx, []id.Guild{b.g.ID})
	if err != nil || backlog.Members != 2 {
		b.Errorf("the backlog is %+v (%v), want 2 members", backlog, err)
	}
	rows := b.flushAll()
	if len(rows) != 2 || rows[0].UserID != userN(2) || rows[0].XP != 2 || !rows[1].Deleted {
		b.Errorf("the flush has %+v, want member 2 and a tombstone", rows)
	}
}

// A writer that lost its lease may end a batch late, which it read before.
func noteUnsavedBesideABatch(b *board) {
	ctx := b.Context()
	b.hydrate(b.g, snapshot.State{Epoch: 4, Archived: 10}, rowN(1, 1), rowN(2, 2))
	b.change(userN(1), plusOne)
	c := b.changesPage(5)
	b.must(b.NoteAllUnsaved(ctx, b.loadOf(4)))
	if more := b.end(c.Batch); !more[0] {
		b.Error("the earlier batch ended the later note")
	}
	if rows := b.flushAll(); len(rows) != 2 {
		b.Errorf("the flush has %+v, want both members", rows)
	}
}

func noteAllUnsaved(b *board) {
	const members = 1234
	ctx := b.Context()
	rows := make([]snapshot.Row, members)
	for i := range rows {
		rows[i] = rowN(i, level.XP(i))
	}
	b.hydrate(b.g, snapshot.State{Epoch: 4}, rows...)
	b.wants("a note of another load", b.NoteAllUnsaved(ctx, b.loadOf(3)), leaderboard.ErrNotLoaded)
	b.must(b.NoteAllUnsaved(ctx, b.loadOf(4)))
	if rows := b.flushAll(); len(rows) != members || rows[members-1].UserID != userN(members-1) {
		b.Errorf("the flush has %d members, want %d", len(rows), members)
	}
}

func lowerArchived(b *board) {
	ctx := b.Context()
	b.hydrate(b.g, snapshot.State{Epoch: 4, Archived: 10}, rowN(1, 1))
	b.change(userN(1), plusOne)
	b.flushAll()
	f := b.loadOf(4)
	lower := func(from, to int64) bool {
		b.Helper()
		lowered, err := b.LowerArchived(ctx, f, from, to)
		b.must(err)
		return lowered
	}
	if lower(10, 9) {
		b.Error("the archived rev was lowered, though it was no longer 10")
	}
	_, err := b.LowerArchived(ctx, b.loadOf(5), 11, 10)
	b.wants("another load", err, leaderboard.ErrNotLoaded)
	_, err = b.NoteUnsaved(ctx, f, []id.User{userN(1)})
	b.must(err)
	if !lower(11, 10) || lower(11, 10) {
		b.Error("the archived rev was not lowered exactly once")
	}
	c := b.changesPage(5)
	if c.Batch.Archived != 10 || c.Batch.Rev != 12 || len(c.Batch.Rows) != 1 {
		b.Errorf("the changes are %+v, want one row at rev 12, archived 10", c)
	}
	b.end(c.Batch)
	if archived, err := b.NoteUnsaved(ctx, f, nil); err != nil || archived != 12 {
		b.Errorf("after the flush archived is %d (%v), want 12", archived, err)
	}
}
