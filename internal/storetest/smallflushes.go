package storetest

import (
	"slices"

	"levelboard/internal/guild"
	"levelboard/internal/id"
	"levelboard/internal/leaderboard"
	"levelboard/internal/snapshot"
)

var smallFlushesCases = []boardCase{
	{"changes of many guilds", changesOfMany},
	{"changes that come while they are archived", changesMeanwhile},
	{"of many guilds each has its own answer", changesOneByOne},
	{"changes of nobody", changesOfNobody},
}

// manyGuilds loads guilds with three members each.
func (b *board) manyGuilds(count int) (states []snapshot.GuildState) {
	b.Helper()
	for i := range count {
		g := leaderboard.GuildRef{ID: id.Guild(userN(i)), Incarnation: guild.Incarnation(100 + i)}
		s := snapshot.State{Epoch: int64(i + 1), Archived: int64(10 * i)}
		b.hydrate(g, s, rowN(1, 1), rowN(2, 2), rowN(3, 3))
		states = append(states, snapshot.GuildState{Guild: g, State: s})
	}
	return states
}

func (b *board) addTo(g leaderboard.GuildRef, users ...int) {
	b.Helper()
	for _, i := range users {
		_, err := b.Change(b.Context(), g, userN(i), plusOne)
		b.must(err)
	}
}

// changed are the batches of guilds all of which have changed a little, and their members in order.
func (b *board) changed(states []snapshot.GuildState) (batches []snapshot.Batch) {
	b.Helper()
	for i, c := range b.ReadChanges(b.Context(), states, 100) {
		b.must(c.Err)
		if c.Many || c.Left || len(c.Batch.Rows) == 0 || c.Batch.Guild != states[i].Guild || c.Batch.Epoch != states[i].Epoch {
			b.Fatalf("changes %+v of %+v", c, states[i])
		}
		batches = append(batches, c.Batch)
	}
	return batches
}

// usersOf are the users of a batch, in order.
func usersOf(batch snapshot.Batch) (users []id.User) {
	for _, row := range batch.Rows {
		users = append(users, row.UserID)
	}
	slices.Sort(users)
	return users
}

// ended ends changes, and fails the test unless those of just these guilds go on.
func (b *board) ended(batches []snapshot.Batch, goOn ...int) {
	b.Helper()
	more, errs := b.EndChanges(b.Context(), batches)
	for i := range batches {
		b.must(errs[i])
		if want := slices.Contains(goOn, i); more[i] != want {
			b.Errorf("batch %d: more has changed: %v, want %v", i, more[i], want)
		}
	}
}

func changesOfMany(b *board) {
	ctx := b.Context()
	states := b.manyGuilds(7)
	for _, s := range states[2:] {
		b.addTo(s.Guild, 1, 2)
	}
	b.addTo(states[5].Guild, 3)
	_, _, err := b.BeginFlush(ctx, states[6].Guild.ID)
	b.must(err)
	_, err = b.Delete(ctx, states[4].Guild, userN(2), leaderboard.Once{})
	b.must(err)

	var batches []snapshot.Batch
	for i, c := range b.ReadChanges(ctx, states, 2) {
		b.must(c.Err)
		if c.Many != (i == 5) || c.Left != (i == 6) {
			b.Errorf("guild %d: %+v", i, c)
		}
		if small := i > 1 && i < 5; !small {
			if len(c.Batch.Rows) > 0 {
				b.Errorf("guild %d: rows of one that has not changed, or by much: %+v", i, c)
			}
			continue
		}
		rev := int64(10*i + 2)
		if i == 4 {
			rev++ // for the member that was deleted
		}
		if batch := c.Batch; batch.Guild != states[i].Guild || batch.Epoch != int64(i+1) || batch.Rev != rev || batch.Known != int64(10*i) ||
			!slices.Equal(usersOf(batch), []id.User{userN(1), userN(2)}) {
			b.Errorf("guild %d: batch %+v", i, batch)
		}
		for _, row := range c.Batch.Rows {
			if deleted := i == 4 && row.UserID == userN(2); row.Deleted != deleted || !deleted && row.XP < 2 {
				b.Errorf("guild %d: row %+v", i, row)
			}
		}
		batches = append(batches, c.Batch)
	}
	b.ended(batches)
	b.ended(batches) // to end them again changes nothing
	for i, c := range b.ReadChanges(ctx, states[:5], 2) {
		if b.must(c.Err); len(c.Batch.Rows) > 0 || c.Many || c.Left {
			b.Errorf("guild %d, once its changes are archived: %+v", i, c)
		}
	}
	backlog, err := b.Backlog(ctx, []id.Guild{states[2].Guild.ID, states[3].Guild.ID, states[4].Guild.ID}, nil)
	b.must(err)
	if want := int64(3 + 2); backlog.Members != want {
		b.Errorf("%d members wait, want %d", backlog.Members, want)
	}
	// What was archived is noted: the archive holds nothing that this store does not know of.
	batch, err := b.ReadBatch(ctx, snapshot.Flush{Guild: states[2].Guild, Epoch: states[2].Epoch, Archived: batches[0].Rev}, nil)
	if err != nil || batch.Known != batches[0].Rev {
		b.Errorf("batch %+v, %v; want to know of %d", batch, err, batches[0].Rev)
	}
}

// A change that comes after its guild was read waits still, whoever of the members it is of, and the guild is said to have it.
func changesMeanwhile(b *board) {
	states := b.manyGuilds(4)
	for _, s := range states {
		b.addTo(s.Guild, 1)
	}
	batches := b.changed(states)
	b.addTo(states[1].Guild, 2)
	b.addTo(states[2].Guild, 1)
	b.ended(batches, 1, 2)

	for i, want := range map[int][]id.User{1: {userN(1), userN(2)}, 2: {userN(1)}} {
		s := states[i]
		s.Archived = batches[i].Rev
		again := b.changed([]snapshot.GuildState{s})
		if !slices.Equal(usersOf(again[0]), want) || again[0].Rev != batches[i].Rev+1 || again[0].Known != batches[i].Rev {
			b.Errorf("guild %d: batch %+v, want the users %v", i, again[0], want)
		}
		b.ended(again)
	}
	// Somebody else has set aside what was read.
	b.addTo(states[3].Guild, 2)
	batches = b.changed(states[3:])
	_, ok, err := b.BeginFlush(b.Context(), states[3].Guild.ID)
	if b.must(err); !ok {
		b.Fatal("nothing to set aside")
	}
	b.addTo(states[3].Guild, 3)
	b.ended(batches, 0)
	if c := b.ReadChanges(b.Context(), states[3:], 100)[0]; !c.Left {
		b.Errorf("changes %+v, want the set that was left behind", c)
	}
}

// A guild that was loaded anew, or that went back in time, has an error of its own, and the others are served.
func changesOneByOne(b *board) {
	ctx := b.Context()
	states := b.manyGuilds(6)
	for _, s := range states {
		b.addTo(s.Guild, 1)
	}
	asked := slices.Clone(states)
	asked[1].Epoch++
	asked[2].Archived = 99 // what this store was never told
	asked[3].Guild.Incarnation++
	b.must(b.Drop(ctx, asked[4].Guild))
	got := b.ReadChanges(ctx, asked, 100)
	for _, i := range []int{1, 3, 4} {
		b.wants("changes of another load", got[i].Err, leaderboard.ErrNotLoaded)
	}
	b.wants("changes of a store that went back", got[2].Err, snapshot.ErrStale)
	for _, i := range []int{0, 5} {
		b.must(got[i].Err)
		if rows := got[i].Batch.Rows; len(rows) != 1 || rows[0].XP != 2 {
			b.Errorf("guild %d: %+v", i, got[i])
		}
	}

	b.must(b.Drop(ctx, states[5].Guild))
	b.hydrate(states[5].Guild, snapshot.State{Epoch: 50, Archived: 60}, rowN(1, 1))
	b.addTo(states[5].Guild, 1)
	more, errs := b.EndChanges(ctx, []snapshot.Batch{got[0].Batch, got[5].Batch})
	if b.must(errs[0]); more[0] {
		b.Error("nothing has changed since")
	}
	b.wants("the end of changes of an earlier load", errs[1], leaderboard.ErrNotLoaded)
	states[5].State = snapshot.State{Epoch: 50, Archived: 60}
	if again := b.changed(states[5:]); again[0].Known != 60 || len(again[0].Rows) != 1 {
		b.Errorf("after the end of changes of an earlier load: %+v", again[0])
	}
}

func changesOfNobody(b *board) {
	ctx := b.Context()
	more, errs := b.EndChanges(ctx, nil)
	if n := len(b.ReadChanges(ctx, nil, 10)) + len(more) + len(errs); n > 0 {
		b.Errorf("%d answers about nobody", n)
	}
	// More than go in one round trip.
	var asked []snapshot.GuildState
	for i := range 1200 {
		asked = append(asked, snapshot.GuildState{Guild: leaderboard.GuildRef{ID: id.Guild(userN(i)), Incarnation: 1}})
	}
	b.load(rowN(1, 1))
	b.addTo(b.g, 1)
	version, err := b.Version(ctx, b.g)
	b.must(err)
	asked = append(asked, snapshot.GuildState{Guild: b.g, State: snapshot.State{Epoch: version.Epoch}})
	for i, got := range b.ReadChanges(ctx, asked, 10) {
		if i < 1200 {
			b.wants("changes of a guild that is not loaded", got.Err, leaderboard.ErrNotLoaded)
		} else if b.must(got.Err); len(got.Batch.Rows) != 1 {
			b.Errorf("of the guild that is: %+v", got)
		}
	}
}
