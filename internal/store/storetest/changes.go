package storetest

import (
	"slices"
	"strings"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

var changesCases = []boardCase{
	{"archived changes stop waiting", changesReadAndEnded},
	{"a large guild is read in pages", changesInPages},
	{"members wait in the order of their first change", changesInOrder},
	{"a change during a snapshot still waits", changesMeanwhile},
	{"changes that were read still wait", changesCutOff},
	{"each guild of many has its own answer", changesOneByOne},
	{"changes of no guilds", changesOfNobody},
	{"the age of the oldest change", changesAge},
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
	ids := make([]id.Guild, len(guilds))
	for i, g := range guilds {
		ids[i] = g.ID
	}
	return b.ReadChanges(b.Context(), ids, size)
}

// changesPage reads a page of the board's guild.
func (b *board) changesPage(size int) snapshot.Page {
	b.Helper()
	p := b.ReadChanges(b.Context(), []id.Guild{b.g.ID}, size)[0]
	b.must(p.Err)
	return p
}

// end ends batches and reports for each whether more changes wait.
func (b *board) end(batches ...snapshot.Batch) []bool {
	b.Helper()
	more, errs := b.EndChanges(b.Context(), batches)
	for _, err := range errs {
		b.must(err)
	}
	return more
}

// flushAll snapshots the guild as the writer does, and returns the rows to be archived, ordered by id.
func (b *board) flushAll() (rows []snapshot.Row) {
	b.Helper()
	for {
		p := b.changesPage(100)
		if len(p.Batch.Rows) == 0 {
			slices.SortFunc(rows, func(a, b snapshot.Row) int { return strings.Compare(string(a.UserID), string(b.UserID)) })
			return rows
		}
		b.end(p.Batch)
		rows = append(rows, p.Batch.Rows...)
	}
}

func (b *board) nothingWaits() {
	b.Helper()
	if p := b.changesPage(10); len(p.Batch.Rows) > 0 {
		b.Errorf("after the flush the page is %+v, want nothing", p)
	}
}

// usersOf returns the users of a batch in its order.
func usersOf(batch snapshot.Batch) (users []id.User) {
	for _, row := range batch.Rows {
		users = append(users, row.UserID)
	}
	return users
}
