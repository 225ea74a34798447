package storetest

import (
	"slices"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

var smallFlushesCases = []boardCase{
	{"changes of many guilds", changesOfMany},
	{"changes that come while they are archived", changesMeanwhile},
	{"of many guilds each has its own answer", changesOneByOne},
	{"changes of nobody", changesOfNobody},
}

// loadedGuild is a guild as it was loaded.
type loadedGuild struct {
	leaderboard.GuildRef
	snapshot.State
}

// manyGuilds loads guilds with three members each.
func (b *board) manyGuilds(count int) (guilds []loadedGuild) {
	b.Helper()
	for i := range count {
		g := leaderboard.GuildRef{ID: id.Guild(userN(i)), Incarnation: guild.Incarnation(100 + i)}
		s := snapshot.State{Epoch: int64(i + 1), Archived: int64(10 * i)}
		b.hydrate(g, s, rowN(1, 1), rowN(2, 2), rowN(3, 3))
		guilds = append(guilds, loadedGuild{g, s})
	}
	return guilds
}

func (b *board) addTo(g leaderboard.GuildRef, users ...int) {
	b.Helper()
	for _, i := range users {
		_, err := b.Change(b.Context(), g, userN(i), plusOne)
		b.must(err)
	}
}

// readChanges reads up to small changes of each.
func (b *board) readChanges(guilds []loadedGuild, small int) []snapshot.Changes {
	ids := make([]id.Guild, len(guilds))
	for i, g := range guilds {
		ids[i] = g.ID
	}
	return b.ReadChanges(b.Context(), ids, small)
}

// changed are the batches of guilds all of which have changed a little, and their members in order.
func (b *board) changed(guilds []loadedGuild) (batches []snapshot.Batch) {
	b.Helper()
	for i, c := range b.readChanges(guilds, 100) {
		b.must(c.Err)
		if c.Many || c.Left || len(c.Batch.Rows) == 0 || c.Batch.Guild != guilds[i].GuildRef || c.Batch.Epoch != guilds[i].Epoch {
			b.Fatalf("changes %+v of %+v", c, guilds[i])
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
	guilds := b.manyGuilds(7)
	for _, s := range guilds[2:] {
		b.addTo(s.GuildRef, 1, 2)
	}
	b.addTo(guilds[5].GuildRef, 3)
	_, _, err := b.BeginFlush(ctx, guilds[6].ID)
	b.must(err)
	_, err = b.Delete(ctx, guilds[4].GuildRef, userN(2), leaderboard.Once{})
	b.must(err)

	var batches []snapshot.Batch
	for i, c := range b.readChanges(guilds, 2) {
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
		if batch := c.Batch; batch.Guild != guilds[i].GuildRef || batch.Epoch != int64(i+1) || batch.Rev != rev || batch.Known != int64(10*i) ||
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
	for i, c := range b.readChanges(guilds[:5], 2) {
		if b.must(c.Err); len(c.Batch.Rows) > 0 || c.Many || c.Left {
			b.Errorf("guild %d, once its changes are archived: %+v", i, c)
		}
	}
	backlog, err := b.Backlog(ctx, []id.Guild{guilds[2].ID, guilds[3].ID, guilds[4].ID}, nil)
	b.must(err)
	if want := int64(3 + 2); backlog.Members != want {
		b.Errorf("%d members wait, want %d", backlog.Members, want)
	}
	// What was archived is noted: the archive holds nothing that this store does not know of.
	batch, err := b.ReadBatch(ctx, snapshot.Flush{Guild: guilds[2].GuildRef, Epoch: guilds[2].Epoch, Archived: batches[0].Rev}, nil)
	if err != nil || batch.Known != batches[0].Rev {
		b.Errorf("batch %+v, %v; want to know of %d", batch, err, batches[0].Rev)
	}
}

// A change that comes after its guild was read waits still, whoever of the members it is of, and the guild is said to have it.
func changesMeanwhile(b *board) {
	guilds := b.manyGuilds(4)
	for _, s := range guilds {
		b.addTo(s.GuildRef, 1)
	}
	batches := b.changed(guilds)
	b.addTo(guilds[1].GuildRef, 2)
	b.addTo(guilds[2].GuildRef, 1)
	b.ended(batches, 1, 2)

	for i, want := range map[int][]id.User{1: {userN(1), userN(2)}, 2: {userN(1)}} {
		s := guilds[i]
		s.Archived = batches[i].Rev
		again := b.changed([]loadedGuild{s})
		if !slices.Equal(usersOf(again[0]), want) || again[0].Rev != batches[i].Rev+1 || again[0].Known != batches[i].Rev {
			b.Errorf("guild %d: batch %+v, want the users %v", i, again[0], want)
		}
		b.ended(again)
	}
	// Somebody else has set aside what was read.
	b.addTo(guilds[3].GuildRef, 2)
	batches = b.changed(guilds[3:])
	_, ok, err := b.BeginFlush(b.Context(), guilds[3].ID)
	if b.must(err); !ok {
		b.Fatal("nothing to set aside")
	}
	b.addTo(guilds[3].GuildRef, 3)
	b.ended(batches, 0)
	if c := b.readChanges(guilds[3:], 100)[0]; !c.Left {
		b.Errorf("changes %+v, want the set that was left behind", c)
	}
}

// Each guild has an answer of its own, and says of which load its changes are.
func changesOneByOne(b *board) {
	ctx := b.Context()
	guilds := b.manyGuilds(6)
	for _, s := range guilds {
		b.addTo(s.GuildRef, 1)
	}
	b.must(b.Drop(ctx, guilds[1].GuildRef))
	b.must(b.Distrust(ctx, snapshot.Flush{Guild: guilds[2].GuildRef, Epoch: guilds[2].Epoch}, nil))
	_, _, err := b.BeginFlush(ctx, guilds[3].ID)
	b.must(err)
	b.must(b.Drop(ctx, guilds[4].GuildRef))
	guilds[4] = loadedGuild{leaderboard.GuildRef{ID: guilds[4].ID, Incarnation: 999}, snapshot.State{Epoch: 7, Archived: 8}}
	b.hydrate(guilds[4].GuildRef, guilds[4].State, rowN(1, 1))
	b.addTo(guilds[4].GuildRef, 1)
	got := b.readChanges(guilds, 100)
	if c := got[1]; c.Err != nil || c.Many || c.Left || len(c.Batch.Rows) > 0 {
		b.Errorf("changes of a guild that is not loaded: %+v", c)
	}
	b.wants("changes of a guild that was not compared with the archive", got[2].Err, snapshot.ErrUnverified)
	if c := got[3]; c.Err != nil || !c.Left {
		b.Errorf("changes of a guild that is set aside: %+v", c)
	}
	for _, i := range []int{0, 4, 5} {
		b.must(got[i].Err)
		c := got[i].Batch
		if len(c.Rows) != 1 || c.Rows[0].XP != 2 || c.Guild != guilds[i].GuildRef || c.Epoch != guilds[i].Epoch || c.Known != guilds[i].Archived {
			b.Errorf("guild %d: %+v", i, got[i])
		}
	}

	b.must(b.Drop(ctx, guilds[5].GuildRef))
	b.hydrate(guilds[5].GuildRef, snapshot.State{Epoch: 50, Archived: 60}, rowN(1, 1))
	b.addTo(guilds[5].GuildRef, 1)
	more, errs := b.EndChanges(ctx, []snapshot.Batch{got[0].Batch, got[5].Batch})
	if b.must(errs[0]); more[0] {
		b.Error("nothing has changed since")
	}
	b.wants("the end of changes of an earlier load", errs[1], leaderboard.ErrNotLoaded)
	guilds[5].State = snapshot.State{Epoch: 50, Archived: 60}
	if again := b.changed(guilds[5:]); again[0].Known != 60 || len(again[0].Rows) != 1 {
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
	var asked []id.Guild
	for i := range 1200 {
		asked = append(asked, id.Guild(userN(i)))
	}
	b.load(rowN(1, 1))
	b.addTo(b.g, 1)
	for i, got := range b.ReadChanges(ctx, append(asked, b.g.ID), 10) {
		b.must(got.Err)
		if want := i / 1200; len(got.Batch.Rows) != want { // only the last one is loaded
			b.Errorf("guild %d: %+v", i, got)
		}
	}
}
