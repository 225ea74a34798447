package storetest

import (
	"reflect"
	"slices"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
)

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
	first := b.changesPage(10)
	again := b.changesPage(10)
	if !reflect.DeepEqual(again.Batch.Rows, first.Batch.Rows) || again.Batch.Rev != 3 || again.Batch.Known != 3 || again.Batch.Archived != 0 {
		b.Errorf("page %+v after %+v", again, first)
	}
	b.change(userN(1), plusOne)
	small := b.changesPage(1)
	if small.Batch.Rev != 2 || small.Batch.Known != 3 || !slices.Equal(usersOf(small.Batch), []id.User{userN(2)}) {
		b.Errorf("page %+v", small)
	}
	b.change(userN(3), plusOne) // the first one may be committed yet
	b.end(small.Batch)
	b.end(first.Batch)
	rest := b.changesPage(10)
	if !slices.Equal(usersOf(rest.Batch), []id.User{userN(1), userN(3)}) || rest.Batch.Rev != 5 || rest.Batch.Known != 3 || rest.Batch.Archived != 3 {
		b.Errorf("page %+v, want what has changed since", rest)
	}
}
