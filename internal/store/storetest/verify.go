package storetest

import (
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
	"levelboard/internal/usecase/snapshot"
)

var verifyCases = []boardCase{
	{"a loaded guild can be verified again", verifiedAgain},
	{"a guild is frozen until it is archived", frozen},
}

func (b *board) holds(want periods.Holds) periods.Moment {
	b.Helper()
	m, err := b.Moment(b.Context(), b.g.ID)
	b.must(err)
	if m.Holds != want {
		b.Errorf("the store holds %v, want %v", m.Holds, want)
	}
	return m
}

// A server that may have gone back keeps its guilds, with the changes that the archive lacks.
func verifiedAgain(b *board) {
	ctx := b.Context()
	b.holds(periods.HoldsNothing)
	b.hydrate(b.g, snapshot.State{Epoch: 4, Archived: 10}, rowN(1, 1), rowN(2, 2))
	named := plus(5, "key")
	named.Once.Past = &leaderboard.Past{Epoch: 4}
	b.change(userN(1), named)
	if m := b.holds(periods.InUse); m.Incarnation != b.g.Incarnation || m.Epoch != 4 || m.Rev != 11 {
		b.Errorf("the guild is %+v, want epoch 4 at rev 11", m)
	}
	b.must(b.Distrust(ctx, snapshot.Batch{Guild: b.g, Epoch: 4}))
	b.holds(periods.Unverified)
	_, err := b.Version(ctx, b.g)
	b.wants("before it is verified", err, leaderboard.ErrNotLoaded)

	h := b.begin(b.g, snapshot.State{Epoch: 4, Archived: 10}, hydrate.FoundUnverified)
	var rows, records int
	b.must(b.Unsaved(ctx, h, func(batch snapshot.Batch) error {
		for _, r := range batch.Rows {
			if rows++; r.UserID != userN(1) || r.XP != 6 {
				b.Errorf("the unsaved row is %+v, want member 1 with 6 XP", r)
			}
		}
		records += len(batch.Records)
		return nil
	}))
	if h.Rev != 11 || rows != 1 || records != 1 {
		b.Errorf("rev %d with %d unsaved members and %d records, want 11, 1 and 1", h.Rev, rows, records)
	}
	b.must(b.Verified(ctx, h, snapshot.State{Epoch: 5}))
	b.wants("verified twice", b.Verified(ctx, h, snapshot.State{Epoch: 6}), hydrate.ErrLost)
	if v := b.version(); v != (leaderboard.Version{Epoch: 5, Rev: 11}) || b.member(userN(1)).XP != 6 {
		b.Errorf("the version is %+v, want epoch 5 at rev 11, with 6 XP", v)
	}
	if x, err := b.Extent(ctx, b.g); err != nil || x.Now.IsZero() {
		b.Errorf("the extent of the events is %+v (%v), want a time", x, err)
	}
}

func frozen(b *board) {
	ctx := b.Context()
	_, err := b.Freeze(ctx, b.g)
	b.wants("a guild that is not loaded", err, leaderboard.ErrNotLoaded)
	b.load(rowN(1, 1))
	b.change(userN(1), plusOne)
	h, err := b.Freeze(ctx, b.g)
	b.must(err)
	_, err = b.Freeze(ctx, b.g)
	b.wants("freeze twice", err, leaderboard.ErrNotLoaded)
	_, err = b.Change(ctx, b.g, userN(1), plusOne)
	b.wants("a change of a frozen guild", err, leaderboard.ErrNotLoaded)
	b.begin(b.g, snapshot.State{Epoch: 1}, hydrate.FoundBusy)
	if _, archived, err := b.KeepFrozen(ctx, h); archived || err != nil {
		b.Errorf("before the change was archived KeepFrozen says archived %v (%v)", archived, err)
	}
	b.flushAll()
	state := snapshot.State{Epoch: 1, Archived: 1}
	if s, archived, err := b.KeepFrozen(ctx, h); !archived || s != state || err != nil {
		b.Errorf("KeepFrozen says archived %v at %+v (%v), want true at %+v", archived, s, err, state)
	}
	b.must(b.AbortHydration(ctx, h))
	_, _, err = b.KeepFrozen(ctx, h)
	b.wants("after it is given up", err, hydrate.ErrLost)
	b.wants("to evict it then", b.EvictFrozen(ctx, h, state), hydrate.ErrLost)
	b.must(b.Verified(ctx, b.begin(b.g, state, hydrate.FoundUnverified), snapshot.State{Epoch: 2, Archived: 1}))

	b.must(b.Announce(ctx, b.g, []byte("one"))) // comes after the first load's mark
	h, err = b.Freeze(ctx, b.g)
	b.must(err)
	b.must(b.EvictFrozen(ctx, h, snapshot.State{Epoch: 2, Archived: 1}))
	h = b.begin(b.g, snapshot.State{Epoch: 2, Archived: 1}, hydrate.FoundNothing)
	b.must(b.CommitHydration(ctx, h, snapshot.State{Epoch: 3, Archived: 1}))
	log, err := b.ReadEvents(ctx, []events.Cursor{{Guild: b.g}}, 10)
	b.must(err)
	for i, e := range log[0] {
		if i > 0 && e.Reset != "" {
			b.Errorf("the events are %+v, want no reset after the first: none can be missing", log[0])
		}
	}
}
