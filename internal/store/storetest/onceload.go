package storetest

import (
	"slices"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// A guild that was deleted and created again has no records.
func repeatedInTheNextIncarnation(b *board) {
	b.load(rowN(1, 10))
	b.change(userN(1), plus(1, "key"))
	b.must(b.Drop(b.Context(), b.g))
	b.g.Incarnation++
	b.hydrate(b.g, snapshot.State{Epoch: 1}, rowN(1, 500))
	_, err := b.Change(b.Context(), b.g, userN(1), plus(2, "key"))
	b.wants("another request in the next incarnation", err, leaderboard.ErrKeyReused)
	for _, replayed := range []bool{false, true} {
		if o := b.change(userN(1), plus(1, "key")); o.Replayed != replayed || o.Before != 500 || o.After != 501 {
			b.Errorf("the request in the next incarnation is %+v, want 501 XP and replayed %v", o, replayed)
		}
	}
}

// The journal keeps records until the archive has them.
func journalled(b *board) {
	b.load(rowN(1, 10), rowN(2, 20))
	b.change(userN(1), plusOne)
	b.change(userN(1), plus(5, "first"))
	_, _, err := b.Award(b.Context(), b.g, leaderboard.Awards{
		Members: []leaderboard.Award{{User: userN(1), Offers: []level.XP{1, 2}}, {User: userN(2), Offers: []level.XP{3}}}, Once: onceOf("second", 0),
	})
	b.must(err)
	p := b.changesPage(10)
	if len(p.Batch.Records) != 2 || p.Batch.AsOf != 3 {
		b.Fatalf("the page is %+v, want two records as of rev 3", p)
	}
	first, second := p.Batch.Records[0], p.Batch.Records[1]
	if named := plus(5, "first").Once; first.Name != named.Key || first.Request != named.Request || first.Rev != 2 || first.At.IsZero() ||
		!slices.Equal(first.Users, []id.User{userN(1)}) {
		b.Errorf("the first record is %+v, want it with member 1", first)
	}
	if second.Rev != 3 || !slices.Equal(second.Users, []id.User{userN(1), userN(2)}) {
		b.Errorf("the second record is %+v, want members 1 and 2 at rev 3", second)
	}
	b.change(userN(2), plus(1, "third"))
	if more := b.end(p.Batch); !more[0] {
		b.Error("no more changes wait, want the third record")
	}
	p = b.changesPage(10)
	if len(p.Batch.Records) != 1 || p.Batch.Records[0].Name != plus(1, "third").Once.Key {
		b.Errorf("the page is %+v, want only the third record", p)
	}
	b.end(p.Batch)
	b.nothingWaits()
}

// When records fill a page, they come before members.
func journalInPages(b *board) {
	const requests = 1100
	b.load(rowN(1, 0))
	for i := range requests {
		b.change(userN(1), plus(level.XP(i), "key "+string(userN(i))))
	}
	p := b.changesPage(10)
	if len(p.Batch.Rows) != 0 || p.Batch.Rev != 0 || len(p.Batch.Records) != 1000 || !p.More() {
		b.Fatalf("the first page has %d rows and %d records up to rev %d, want 1000 records", len(p.Batch.Rows), len(p.Batch.Records), p.Batch.Rev)
	}
	b.end(p.Batch)
	p = b.changesPage(10)
	if len(p.Batch.Rows) != 1 || p.Batch.Rev != requests || len(p.Batch.Records) != requests-1000 || p.More() {
		b.Fatalf("the second page has %d rows and %d records up to rev %d, want the rest", len(p.Batch.Rows), len(p.Batch.Records), p.Batch.Rev)
	}
}

// askArchive loads the guild again as one whose records were lost, so that it asks the archive.
func (b *board) askArchive(rows ...snapshot.Row) {
	b.Helper()
	b.g.ID = "100000000000000009"
	b.hydrate(b.g, snapshot.State{Epoch: 2, Archived: 1}, rows...)
}

func repeatedAfterLoss(b *board) {
	ctx := b.Context()
	b.load(rowN(1, 10))
	b.change(userN(1), plus(1, "kept"))
	kept := b.changesPage(10).Batch.Records[0]
	b.askArchive(rowN(1, 11))
	b.change(userN(1), plusOne) // a change without a key does not ask

	request := plus(1, "kept there")
	_, err := b.Change(ctx, b.g, userN(1), request)
	b.wants("a request that may have been made", err, leaderboard.ErrAskArchive)
	request.Once.Past = &leaderboard.Past{Epoch: 2, Made: true, Request: kept.Request, Outcome: kept.Outcome}
	other := plus(2, "kept there")
	other.Once.Past = request.Once.Past
	_, err = b.Change(ctx, b.g, userN(1), other)
	b.wants("another request under its key", err, leaderboard.ErrKeyReused)
	for range 2 {
		if o := b.change(userN(1), request); !o.Replayed || o.Before != 10 || o.After != 11 {
			b.Errorf("a request that the archive knows is %+v, want a replay of 10 to 11", o)
		}
	}
	b.wantMember(userN(1), 12, 1)

	request = plus(5, "lost")
	request.Once.Past = &leaderboard.Past{Epoch: 2}
	for _, replayed := range []bool{false, true} {
		if o := b.change(userN(1), request); o.Replayed != replayed || o.Before != 12 || o.After != 17 {
			b.Errorf("a request that the archive does not know is %+v, want 12 to 17 and replayed %v", o, replayed)
		}
	}
}

// A repeated step of several members changes only those who lost its effect.
func awardedInPart(b *board) {
	ctx := b.Context()
	step := leaderboard.Awards{Once: onceOf("step", 0), Members: []leaderboard.Award{
		{User: userN(1), Offers: []level.XP{1, 2}}, {User: userN(2), Offers: []level.XP{30}, Data: &leaderboard.User{Username: "two"}}, {User: userN(3), Offers: []level.XP{7}},
	}}
	b.load(rowN(1, 100), rowN(2, 200))
	first, _, err := b.Award(ctx, b.g, step)
	b.must(err)
	record := b.changesPage(10).Batch.Records[0]
	b.askArchive(rowN(1, 103), rowN(2, 200))
	step.Once = onceOf("step there", 0)
	step.Once.Past = &leaderboard.Past{Epoch: 2, Made: true, Request: record.Request, Outcome: record.Outcome, Lost: []id.User{userN(2), userN(3)}}
	other := step
	other.Once.Request, other.Members = onceOf("step there", 1).Request, step.Members[:2]
	_, _, err = b.Award(ctx, b.g, other)
	b.wants("another step under its key", err, leaderboard.ErrKeyReused)
	for _, again := range []bool{false, true} {
		got, replayed, err := b.Award(ctx, b.g, step)
		b.must(err)
		if replayed != again || !slices.EqualFunc(got, first, func(a, b leaderboard.Awarded) bool {
			return a.Before == b.Before && a.MessageCount == b.MessageCount && slices.Equal(a.Gained, b.Gained)
		}) {
			b.Errorf("the step is %+v, replayed %v, want %+v", got, replayed, first)
		}
	}
	b.wantMember(userN(1), 103, 1)
	b.wantMember(userN(2), 230, 3)
	b.wantMember(userN(3), 7, 1)
	if users := b.changesPage(10).Batch.Records[0].Users; !slices.Equal(users, []id.User{userN(2), userN(3)}) {
		b.Errorf("the record names %v, want members 2 and 3, who were changed now", users)
	}
}
