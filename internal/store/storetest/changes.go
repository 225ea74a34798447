package storetest

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

var changesCases = []boardCase{
	{"changes are read and ended", changesReadAndEnded},
	{"a large guild is read in pages", changesInPages},
	{"members wait in the order of their first change", changesInOrder},
	{"changes that come while they are archived", changesMeanwhile},
	{"changes that were read and not ended", changesCutOff},
	{"of many guilds each has its own answer", changesOneByOne},
	{"changes of nobody", changesOfNobody},
	{"how old the oldest change is", changesAge},
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

// pages reads a page of each guild.
func (b *board) pages(size int, guilds ...leaderboard.GuildRef) []snapshot.Page {
	reads := make([]snapshot.Read, len(guilds))
	for i, g := range guilds {
		reads[i] = snapshot.Read{Guild: g.ID, After: -1}
	}
	return b.ReadChanges(b.Context(), reads, size)
}

// page reads a page of the board's guild, after a rev.
func (b *board) changesPage(size int, after, upTo int64) snapshot.Page {
	b.Helper()
	p := b.ReadChanges(b.Context(), []snapshot.Read{{Guild: b.g.ID, After: after, UpTo: upTo}}, size)[0]
	b.must(p.Err)
	return p
}

// end ends batches, and says whether more of each waits.
func (b *board) end(batches ...snapshot.Batch) []bool {
	b.Helper()
	more, errs := b.EndChanges(b.Context(), batches)
	for _, err := range errs {
		b.must(err)
	}
	return more
}

// flushAll snapshots the guild as the writer does, and returns what it would have archived, in the order of the ids.
func (b *board) flushAll() (rows []snapshot.Row) {
	b.Helper()
	for {
		p := b.changesPage(100, -1, 0)
		if len(p.Batch.Rows) == 0 {
			slices.SortFunc(rows, func(a, b snapshot.Row) int { return strings.Compare(string(a.UserID), string(b.UserID)) })
			return rows
		}
		b.end(p.Batch)
		for _, r := range p.Batch.Rows {
			r.Rev = 0
			rows = append(rows, r)
		}
	}
}

func (b *board) nothingWaits() {
	b.Helper()
	if p := b.changesPage(10, -1, 0); len(p.Batch.Rows) > 0 {
		b.Errorf("page %+v, want nothing to wait", p)
	}
}

// usersOf are the users of a batch, in its order.
func usersOf(batch snapshot.Batch) (users []id.User) {
	for _, row := range batch.Rows {
		users = append(users, row.UserID)
	}
	return users
}

func revsOf(batch snapshot.Batch) (revs []int64) {
	for _, row := range batch.Rows {
		revs = append(revs, row.Rev)
	}
	return revs
}

func changesReadAndEnded(b *board) {
	if p := b.changesPage(10, -1, 0); !reflect.DeepEqual(p, snapshot.Page{}) {
		b.Errorf("page %+v of a guild that is not loaded", p)
	}
	b.hydrate(b.g, snapshot.State{Epoch: 4, Archived: 10}, rowN(1, 10), rowN(2, 20), rowN(3, 30))
	b.nothingWaits()
	if p := b.changesPage(10, -1, 0); p.Batch.Guild != b.g || p.More() {
		b.Errorf("page %+v of a guild without changes, want to learn its incarnation", p)
	}

	b.change(userN(1), leaderboard.Change{Op: leaderboard.Increment, Amount: 5})
	b.delete(userN(2))
	b.create(userN(4), 40)
	p := b.changesPage(10, -1, 0)
	batch := p.Batch
	if batch.Guild != b.g || batch.Epoch != 4 || batch.After != -1 || batch.Rev != 13 || batch.Known != 10 || batch.Archived != 10 || p.Rev != 13 || p.Left != 3 || p.More() {
		b.Fatalf("page %+v, want guild %v, epoch 4, rev 13, 3 rows", p, b.g)
	}
	if users := usersOf(batch); !slices.Equal(users, []id.User{userN(1), userN(2), userN(4)}) || !slices.Equal(revsOf(batch), []int64{11, 12, 13}) {
		b.Fatalf("users %v at revs %v", users, revsOf(batch))
	}
	tombstone := snapshot.Row{Member: leaderboard.Member{UserID: userN(2)}, Rev: 12, Deleted: true}
	if !reflect.DeepEqual(batch.Rows[1], tombstone) {
		b.Errorf("row of a deleted member %+v, want %+v", batch.Rows[1], tombstone)
	}
	for _, i := range []int{0, 2} {
		want := snapshot.Row{Member: b.member(batch.Rows[i].UserID).Member, Rev: batch.Rows[i].Rev}
		if !reflect.DeepEqual(batch.Rows[i], want) {
			b.Errorf("row %+v, want %+v", batch.Rows[i], want)
		}
	}
	for range 2 { // to end it again changes nothing
		if more := b.end(batch); more[0] {
			b.Error("more waits")
		}
	}
	b.nothingWaits()
	if v, err := b.Version(b.Context(), b.g); err != nil || v.Rev != 13 {
		b.Errorf("version %+v, %v: reading has changed it", v, err)
	}
	// What was archived is noted.
	b.change(userN(1), plusOne)
	if p := b.changesPage(10, -1, 0); p.Batch.Known != 13 || p.Batch.Archived != 13 || p.Batch.Rev != 14 {
		b.Errorf("page %+v, want to know of rev 13", p)
	}
}

func changesInPages(b *board) {
	const members, size = 2345, 500
	var rows []snapshot.Row
	for i := range members {
		rows = append(rows, rowN(i, level.XP(3*i)))
	}
	b.load(rows...)
	for i := range members {
		b.change(userN(i), plusOne)
	}
	first := b.changesPage(size, -1, 0)
	if len(first.Batch.Rows) != size || first.Batch.Rev != size || first.Rev != members || first.Left != members || !first.More() ||
		!slices.Equal(first.Ends, []int64{size + 1000}) {
		b.Fatalf("page of %d rows up to rev %d of %d, then up to %v", len(first.Batch.Rows), first.Batch.Rev, first.Rev, first.Ends)
	}
	// The others are read in any order, and those up to a rev stay as many.
	var read []snapshot.Page
	for _, of := range []struct{ after, upTo int64 }{{2 * size, 3 * size}, {size, 2 * size}, {3 * size, 0}, {4 * size, 0}} {
		p := b.changesPage(size, of.after, of.upTo)
		if p.Batch.After != of.after || p.More() != (of.after != 4*size) {
			b.Errorf("page %+v after %d", p, of.after)
		}
		read = append(read, p)
	}
	got := 0
	for i, p := range append(read, first) {
		got += len(p.Batch.Rows)
		if more := b.end(p.Batch); more[0] != (i < len(read)) {
			b.Errorf("page %d: more: %v", i, more)
		}
		for _, row := range p.Batch.Rows {
			if row.XP != level.XP(3*(row.Rev-1)+1) || row.UserID != userN(int(row.Rev-1)) {
				b.Fatalf("row %+v", row)
			}
		}
	}
	if got != members {
		b.Errorf("%d members were read, want %d", got, members)
	}
	b.nothingWaits()
	if p := b.changesPage(size, 7, 0); len(p.Batch.Rows) > 0 || p.Batch.Rev != 0 {
		b.Errorf("after the last page there is %+v", p)
	}

	// Members whose change was one step are not torn apart.
	var awards []leaderboard.Award
	for i := range 50 {
		awards = append(awards, leaderboard.Award{User: userN(i), Offers: []level.XP{1}})
	}
	for range 2 {
		_, _, err := b.Award(b.Context(), b.g, leaderboard.Awards{Members: awards})
		b.must(err)
	}
	b.change(userN(77), plusOne)
	if p := b.changesPage(10, -1, 0); len(p.Batch.Rows) != 50 || !p.More() {
		b.Errorf("%d rows, want all 50 of a step", len(p.Batch.Rows))
	}
}

// Whoever changes all the time is written no later than one that has changed once.
func changesInOrder(b *board) {
	b.load(rowN(1, 1), rowN(2, 2), rowN(3, 3))
	b.change(userN(1), plusOne)
	b.change(userN(2), plusOne)
	b.change(userN(1), plusOne)
	b.change(userN(3), plusOne)
	b.change(userN(1), plusOne)
	p := b.changesPage(1, -1, 0)
	if len(p.Batch.Rows) != 1 || p.Batch.Rows[0].UserID != userN(1) || p.Batch.Rows[0].XP != 4 || p.Batch.Rev != 1 {
		b.Fatalf("page %+v, want member 1, who was the first, as it is now", p)
	}
	b.change(userN(1), plusOne) // it was read, so it waits anew
	b.change(userN(2), plusOne) // it was not
	b.end(p.Batch)
	rest := b.changesPage(10, p.Batch.Rev, 0)
	if users := usersOf(rest.Batch); !slices.Equal(users, []id.User{userN(2), userN(3), userN(1)}) || !slices.Equal(revsOf(rest.Batch), []int64{2, 4, 6}) {
		b.Errorf("users %v at revs %v", users, revsOf(rest.Batch))
	}
}

// A change that comes after its guild was read waits still, whoever of the members it is of.
func changesMeanwhile(b *board) {
	guilds := b.manyGuilds(3)
	var refs []leaderboard.GuildRef
	for _, g := range guilds {
		b.addTo(g.GuildRef, 1)
		refs = append(refs, g.GuildRef)
	}
	pages := b.pages(100, refs...)
	b.addTo(refs[1], 2)
	b.addTo(refs[2], 1)
	if more := b.end(pages[0].Batch, pages[1].Batch, pages[2].Batch); !slices.Equal(more, []bool{false, true, true}) {
		b.Errorf("more waits: %v", more)
	}
	for i, want := range map[int]id.User{1: userN(2), 2: userN(1)} {
		p := b.pages(100, refs[i])[0]
		b.must(p.Err)
		if !slices.Equal(usersOf(p.Batch), []id.User{want}) || p.Batch.Rev != pages[i].Batch.Rev+1 || p.Batch.Known != pages[i].Batch.Rev {
			b.Errorf("guild %d: page %+v, want the user %v", i, p, want)
		}
		b.end(p.Batch)
	}
}

// A writer that dies leaves behind that the archive may hold what it has read. Whoever comes next finds all of it, and what changed
// since has a rev that no batch before has.
func changesCutOff(b *board) {
	b.load(rowN(1, 1), rowN(2, 2), rowN(3, 3))
	for i := 1; i <= 3; i++ {
		b.change(userN(i), plusOne)
	}
	first := b.changesPage(10, -1, 0)
	again := b.changesPage(10, -1, 0)
	if !reflect.DeepEqual(again.Batch.Rows, first.Batch.Rows) || again.Batch.Rev != 3 || again.Batch.Known != 3 || again.Batch.Archived != 0 {
		b.Errorf("page %+v after %+v", again, first)
	}
	b.change(userN(1), plusOne)
	small := b.changesPage(1, -1, 0)
	if small.Batch.Rev != 2 || small.Batch.Known != 3 || !slices.Equal(usersOf(small.Batch), []id.User{userN(2)}) {
		b.Errorf("page %+v", small)
	}
	b.change(userN(3), plusOne) // the first one may be committed yet
	b.end(small.Batch)
	b.end(first.Batch)
	rest := b.changesPage(10, -1, 0)
	if !slices.Equal(revsOf(rest.Batch), []int64{4, 5}) || rest.Batch.Known != 3 || rest.Batch.Archived != 3 {
		b.Errorf("page %+v, want what has changed since", rest)
	}
}

// Each guild has an answer of its own, and says of which load its changes are.
func changesOneByOne(b *board) {
	ctx := b.Context()
	guilds := b.manyGuilds(5)
	var refs []leaderboard.GuildRef
	for _, g := range guilds {
		b.addTo(g.GuildRef, 1)
		refs = append(refs, g.GuildRef)
	}
	b.must(b.Drop(ctx, refs[1]))
	b.must(b.Distrust(ctx, snapshot.Batch{Guild: refs[2], Epoch: guilds[2].Epoch}))
	b.must(b.Drop(ctx, refs[3]))
	anew := leaderboard.GuildRef{ID: refs[3].ID, Incarnation: 999}
	b.hydrate(anew, snapshot.State{Epoch: 7, Archived: 8}, rowN(1, 1))
	b.addTo(anew, 1)
	got := b.pages(100, refs...)
	if p := got[1]; !reflect.DeepEqual(p, snapshot.Page{}) {
		b.Errorf("changes of a guild that is not loaded: %+v", p)
	}
	b.wants("changes of a guild that was not compared with the archive", got[2].Err, snapshot.ErrUnverified)
	if got[2].Batch.Guild != refs[2] {
		b.Errorf("which guild is to be verified: %+v", got[2])
	}
	for i, want := range map[int]loadedGuild{0: guilds[0], 3: {anew, snapshot.State{Epoch: 7, Archived: 8}}, 4: guilds[4]} {
		b.must(got[i].Err)
		c := got[i].Batch
		if len(c.Rows) != 1 || c.Rows[0].XP != 2 || c.Guild != want.GuildRef || c.Epoch != want.Epoch || c.Known != want.Archived {
			b.Errorf("guild %d: %+v", i, got[i])
		}
	}

	b.must(b.Drop(ctx, refs[4]))
	b.hydrate(refs[4], snapshot.State{Epoch: 50, Archived: 60}, rowN(1, 1))
	b.addTo(refs[4], 1)
	more, errs := b.EndChanges(ctx, []snapshot.Batch{got[0].Batch, got[4].Batch})
	if b.must(errs[0]); more[0] {
		b.Error("nothing has changed since")
	}
	b.wants("the end of changes of an earlier load", errs[1], leaderboard.ErrNotLoaded)
	if p := b.pages(10, refs[4])[0]; p.Batch.Known != 60 || len(p.Batch.Rows) != 1 {
		b.Errorf("after the end of changes of an earlier load: %+v", p)
	}
}

func changesOfNobody(b *board) {
	ctx := b.Context()
	more, errs := b.EndChanges(ctx, nil)
	if n := len(b.ReadChanges(ctx, nil, 10)) + len(more) + len(errs); n > 0 {
		b.Errorf("%d answers about nobody", n)
	}
	// More than go in one round trip.
	var asked []leaderboard.GuildRef
	for i := range 1200 {
		asked = append(asked, leaderboard.GuildRef{ID: id.Guild(userN(i))})
	}
	b.load(rowN(1, 1))
	b.addTo(b.g, 1)
	for i, got := range b.pages(10, append(asked, b.g)...) {
		b.must(got.Err)
		if want := i / 1200; len(got.Batch.Rows) != want { // only the last one is loaded
			b.Errorf("guild %d: %+v", i, got)
		}
	}
}

func changesAge(b *board) {
	ctx := b.Context()
	backlog := func(members int64, least, most time.Duration) {
		b.Helper()
		got, err := b.Backlog(ctx, []id.Guild{b.g.ID}, nil)
		b.must(err)
		if got.Members != members || got.Oldest < least || got.Oldest > most {
			b.Errorf("backlog %+v, want %d members, and the oldest change from %v to %v ago", got, members, least, most)
		}
	}
	const later, ever = 40 * time.Millisecond, time.Hour
	b.load(rowN(1, 1), rowN(2, 2))
	backlog(0, 0, 0)
	b.change(userN(1), plusOne)
	time.Sleep(later)
	p := b.changesPage(10, -1, 0)
	b.change(userN(2), plusOne)
	backlog(2, later, ever)
	read := time.Now()
	b.end(p.Batch)
	backlog(1, 0, time.Since(read)+later)
	time.Sleep(later)
	p = b.changesPage(10, -1, 0)
	b.change(userN(2), plusOne)
	p.Batch.Before = time.Time{} // as of a page that is not the last
	b.end(p.Batch)
	backlog(1, later, ever)
	b.flushAll()
	backlog(0, 0, 0)
}
