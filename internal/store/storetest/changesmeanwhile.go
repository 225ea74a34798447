package storetest

import (
	"reflect"
	"slices"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
)

// A change made after its guild was read still waits, whichever member changed.
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
		b.Errorf("more changes wait in %v, want in the second and third guild", more)
	}
	for i, want := range map[int]id.User{1: userN(2), 2: userN(1)} {
		p := b.pages(100, refs[i])[0]
		b.must(p.Err)
		if !slices.Equal(usersOf(p.Batch), []id.User{want}) || p.Batch.Rev != pages[i].Batch.Rev+1 || p.Batch.Known != pages[i].Batch.Rev {
			b.Errorf("guild %d has the page %+v, want user %v at the next rev", i, p, want)
		}
		b.end(p.Batch)
	}
}

// A writer that dies leaves a note that the archive may have the changes it read. The next writer finds all of them, and later changes have
// a rev that no batch had before.
func changesCutOff(b *board) {
	b.load(rowN(1, 1), rowN(2, 2), rowN(3, 3))
	for i := 1; i <= 3; i++ {
		b.change(userN(i), plusOne)
	}
	first := b.changesPage(10)
	again := b.changesPage(10)
	if !reflect.DeepEqual(again.Batch.Rows, first.Batch.Rows) || again.Batch.Rev != 3 || again.Batch.Known != 3 || again.Batch.Archived != 0 {
		b.Errorf("read again the page is %+v, want the rows of %+v, with rev and known 3", again, first)
	}
	b.change(userN(1), plusOne)
	small := b.changesPage(1)
	if small.Batch.Rev != 2 || small.Batch.Known != 3 || !slices.Equal(usersOf(small.Batch), []id.User{userN(2)}) {
		b.Errorf("a small page is %+v, want member 2 at rev 2, known 3", small)
	}
	b.change(userN(3), plusOne) // the first batch may still commit
	b.end(small.Batch)
	b.end(first.Batch)
	rest := b.changesPage(10)
	if !slices.Equal(usersOf(rest.Batch), []id.User{userN(1), userN(3)}) || rest.Batch.Rev != 5 || rest.Batch.Known != 3 || rest.Batch.Archived != 3 {
		b.Errorf("the page is %+v, want members 1 and 3, changed since", rest)
	}
}
