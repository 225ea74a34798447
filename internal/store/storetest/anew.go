package storetest

import (
	"slices"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

var anewCases = []boardCase{
	{"no two batches have the same rev", ownRevs},
	{"members are noted anew", noteAnew},
	{"all members are noted anew", noteAllAnew},
	{"a batch from before does not end what is noted anew", noteAnewBesideABatch},
	{"what is known to be archived is lowered", lowerArchived},
}

// flushOf is the guild's load, as the writer names it.
func (b *board) flushOf(epoch int64) snapshot.Flush { return snapshot.Flush{Guild: b.g, Epoch: epoch} }

// The archive sees by its highest rev whether it has lost a batch, so a later one has a higher rev, be it that nothing has changed.
func ownRevs(b *board) {
	ctx := b.Context()
	b.hydrate(b.g, snapshot.State{Epoch: 4, Archived: 10}, rowN(1, 1), rowN(2, 2), rowN(3, 3))
	for i := 1; i <= 2; i++ {
		b.change(userN(i), plusOne)
	}
	f := b.beginFlush()
	first, err := b.ReadBatch(ctx, f, []id.User{userN(1)})
	b.must(err)
	second, err := b.ReadBatch(ctx, f, []id.User{userN(2)})
	b.must(err)
	if first.Rev != 12 || second.Rev <= first.Rev || first.Archived != 10 || second.Archived != 10 || second.Known != first.Rev {
		b.Errorf("batches at rev %d (archived %d) and %d (archived %d, known %d)", first.Rev, first.Archived, second.Rev, second.Archived, second.Known)
	}
	b.change(userN(3), plusOne) // before the flush ends, and not in it
	third, err := b.ReadBatch(ctx, f, []id.User{userN(2)})
	b.must(err)
	b.must(b.Archived(ctx, third))
	b.must(b.EndFlush(ctx, f))

	// What changed before the last batch was read, and was not in it, comes with a rev of its own.
	c := b.ReadChanges(ctx, []id.Guild{b.g.ID}, 5)[0]
	b.must(c.Err)
	if c.Batch.Rev <= third.Rev || c.Batch.Archived != third.Rev || len(c.Batch.Rows) != 1 {
		b.Errorf("changes at rev %d (archived %d) after a batch at rev %d", c.Batch.Rev, c.Batch.Archived, third.Rev)
	}
	b.endChanges(c.Batch)
	v, err := b.Version(ctx, b.g)
	if err != nil || v.Rev != c.Batch.Rev {
		b.Errorf("version %+v, %v; want the rev that is archived, %d", v, err, c.Batch.Rev)
	}
	b.nothingToFlush()
}

// endChanges ends a batch of ReadChanges since which nothing has changed.
func (b *board) endChanges(batch snapshot.Batch) {
	b.Helper()
	more, errs := b.EndChanges(b.Context(), []snapshot.Batch{batch})
	b.must(errs[0])
	if more[0] {
		b.Error("the guild has changed")
	}
}

func noteAnew(b *board) {
	ctx := b.Context()
	b.hydrate(b.g, snapshot.State{Epoch: 4, Archived: 10}, rowN(1, 1), rowN(2, 2))
	f := b.flushOf(4)
	if archived, err := b.NoteAnew(ctx, f, nil); err != nil || archived != 10 {
		b.Errorf("archived %d, %v; want 10", archived, err)
	}
	b.nothingToFlush()
	// One of them is not there any more, and comes as a tombstone.
	if archived, err := b.NoteAnew(ctx, f, []id.User{userN(2), userN(7)}); err != nil || archived != 10 {
		b.Errorf("archived %d, %v; want 10", archived, err)
	}
	for _, other := range []snapshot.Flush{{Guild: b.g, Epoch: 5}, {Guild: leaderboard.GuildRef{ID: b.g.ID, Incarnation: 1}, Epoch: 4}} {
		_, err := b.NoteAnew(ctx, other, []id.User{userN(1)})
		b.wants("a note of another load", err, leaderboard.ErrNotLoaded)
	}
	backlog, err := b.Backlog(ctx, []id.Guild{b.g.ID}, nil)
	if err != nil || backlog.Members != 2 {
		b.Errorf("backlog %+v, %v; want 2 members", backlog, err)
	}
	rows := b.flushAll()
	if len(rows) != 2 || rows[0].UserID != userN(2) || rows[0].XP != 2 || !rows[1].Deleted {
		b.Errorf("flushed %+v, want member 2, and a tombstone", rows)
	}
}

// A writer that has lost its lease may be late with the end of a batch that it read before.
func noteAnewBesideABatch(b *board) {
	ctx := b.Context()
	b.hydrate(b.g, snapshot.State{Epoch: 4, Archived: 10}, rowN(1, 1), rowN(2, 2))
	b.change(userN(1), plusOne)
	c := b.ReadChanges(ctx, []id.Guild{b.g.ID}, 5)[0]
	b.must(c.Err)
	b.must(b.NoteAllAnew(ctx, b.flushOf(4)))
	more, errs := b.EndChanges(ctx, []snapshot.Batch{c.Batch})
	b.must(errs[0])
	if !more[0] {
		b.Error("nothing waits any more")
	}
	if rows := b.flushAll(); len(rows) != 2 {
		b.Errorf("flushed %+v, want both members", rows)
	}
}

func noteAllAnew(b *board) {
	const members = 1234
	ctx := b.Context()
	rows := make([]snapshot.Row, members)
	for i := range rows {
		rows[i] = rowN(i, level.XP(i))
	}
	b.hydrate(b.g, snapshot.State{Epoch: 4}, rows...)
	b.wants("a note of another load", b.NoteAllAnew(ctx, b.flushOf(3)), leaderboard.ErrNotLoaded)
	b.must(b.NoteAllAnew(ctx, b.flushOf(4)))
	f := b.beginFlush()
	if users := b.flushMembers(f); len(users) != members || !slices.Contains(users, userN(members-1)) {
		b.Errorf("%d members are noted, want %d", len(users), members)
	}
}

func lowerArchived(b *board) {
	ctx := b.Context()
	b.hydrate(b.g, snapshot.State{Epoch: 4, Archived: 10}, rowN(1, 1))
	b.change(userN(1), plusOne)
	b.flushAll()
	f := b.flushOf(4)
	lower := func(from, to int64) bool {
		b.Helper()
		lowered, err := b.LowerArchived(ctx, f, from, to)
		b.must(err)
		return lowered
	}
	if lower(10, 9) {
		b.Error("lowered, though another rev is archived by now")
	}
	_, err := b.LowerArchived(ctx, b.flushOf(5), 11, 10)
	b.wants("another load", err, leaderboard.ErrNotLoaded)
	_, err = b.NoteAnew(ctx, f, []id.User{userN(1)})
	b.must(err)
	if !lower(11, 10) || lower(11, 10) {
		b.Error("not lowered exactly once")
	}
	c := b.ReadChanges(ctx, []id.Guild{b.g.ID}, 5)[0]
	if c.Err != nil || c.Batch.Archived != 10 || c.Batch.Rev != 12 || len(c.Batch.Rows) != 1 {
		b.Errorf("changes %+v", c)
	}
	b.endChanges(c.Batch)
	if archived, err := b.NoteAnew(ctx, f, nil); err != nil || archived != 12 {
		b.Errorf("archived %d, %v; want 12", archived, err)
	}
}
