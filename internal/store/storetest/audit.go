package storetest

import (
	"fmt"
	"slices"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/leaderboard"
)

var auditCases = []boardCase{
	{"changes are recorded with their author", auditedChanges},
	{"the journal is read backwards, in parts", auditInParts},
	{"a request lost in part is recorded once", auditedOnce},
}

func entryOf(action audit.Action, user id.User) *audit.Entry {
	return &audit.Entry{
		By:     audit.By{Actor: audit.Actor{Kind: audit.Key, ID: "abc", Name: "a\x00b\xff"}, Reason: "why not", RequestID: "r"},
		Action: action, UserID: user,
	}
}

// journal returns the guild's journal as the audit log shows it, newest first: action, user, XP before and after.
func (b *board) journal() (said []string) {
	b.Helper()
	part, err := b.AuditJournal(b.Context(), b.g.ID, b.g.Incarnation, audit.ID{})
	b.must(err)
	for i, r := range part.Records {
		said = append(said, fmt.Sprintf("%s %s %s %s", r.Action, r.UserID, r.Before, r.After))
		if i > 0 && r.ID.Compare(part.Records[i-1].ID) >= 0 {
			b.Errorf("record %d is not older than the one before: %+v", i, part.Records)
		}
	}
	return said
}

func (b *board) wantJournal(want ...string) {
	b.Helper()
	if got := b.journal(); !slices.Equal(got, want) {
		b.Errorf("the journal is %q, want %q", got, want)
	}
}

func auditedChanges(b *board) {
	one, two := userN(1), userN(2)
	b.load(rowN(1, 100_000_000), rowN(2, 7))
	change := func(user id.User, op leaderboard.Op, amount level.XP, e *audit.Entry) error {
		_, err := b.Change(b.Context(), b.g, user, leaderboard.Change{Op: op, Amount: amount, Audit: e})
		return err
	}
	b.must(change(one, leaderboard.Increment, 5, nil))
	b.must(change(one, leaderboard.Increment, 5, entryOf(audit.Incremented, one)))
	b.must(change(one, leaderboard.Set, 0, entryOf(audit.Set, one)))
	b.wants("no member", change(userN(9), leaderboard.Set, 1, entryOf(audit.Set, userN(9))), leaderboard.ErrNoMember)
	_, err := b.Create(b.Context(), b.g, userN(3), leaderboard.Creation{XP: 3, Audit: entryOf(audit.Created, userN(3))})
	b.must(err)
	for range 2 { // the second changes nothing
		_, err = b.SetPresence(b.Context(), b.g, leaderboard.Presence{Users: []id.User{two}, Audit: entryOf(audit.Presence, "")})
		b.must(err)
		_, _, err = b.Put(b.Context(), b.g, leaderboard.Puts{
			Mode: leaderboard.PutSet, Members: []leaderboard.Put{{User: one, XP: 9}, {User: userN(4), XP: 4}}, Audit: entryOf(audit.Bulk, ""),
		})
		b.must(err)
	}
	for _, user := range []id.User{two, one} {
		_, err = b.Delete(b.Context(), b.g, user, leaderboard.Removal{Audit: entryOf(audit.Deleted, user)})
		b.must(err)
	}
	want := []string{
		"deleted " + string(one) + " 9 null", "deleted " + string(two) + " 7 null", "bulk  null null", "presence  null null",
		"created " + string(userN(3)) + " null 3",
		"set " + string(one) + " 100000010 0", "incremented " + string(one) + " 100000005 100000010",
	}
	b.wantJournal(want...)

	// A writer that got no answer reads the same entries again. Ending the batch removes them.
	for range 2 {
		records := b.changesPage(100).Batch.Records
		if len(records) != len(want) || records[0].Audit == nil || records[0].Name != (leaderboard.Digest{}) {
			b.Fatalf("the writer reads %+v, want %d audit records", records, len(want))
		}
		by := records[0].Audit.By
		if by.Actor != (audit.Actor{Kind: audit.Key, ID: "abc", Name: "ab\uFFFD"}) || by.Reason != "why not" || by.RequestID != "r" {
			b.Errorf("the author is %+v, want the key abc with a valid name, its reason and request", by)
		}
	}
	b.flushAll()
	b.wantJournal()
	part, err := b.AuditJournal(b.Context(), b.g.ID, b.g.Incarnation+1, audit.ID{})
	b.must(err)
	if !part.Now.IsZero() || part.More || len(part.Records) > 0 {
		b.Errorf("another incarnation's journal is %+v, want none", part)
	}
}

func auditInParts(b *board) {
	b.load(rowN(1, 0))
	for n := range int64(600) {
		c := leaderboard.Change{Op: leaderboard.Set, Amount: level.XP(n), Audit: entryOf(audit.Set, userN(1))}
		if n%6 == 0 { // a change without an audit record
			c.Audit, c.Once = nil, onceOf(fmt.Sprint(n), "")
		}
		b.change(userN(1), c)
	}
	var all []audit.Record
	for before, more := (audit.ID{}), true; more; {
		part, err := b.AuditJournal(b.Context(), b.g.ID, b.g.Incarnation, before)
		b.must(err)
		all, before, more = append(all, part.Records...), part.Until, part.More
	}
	if len(all) != 500 || string(all[0].After) != "599" || string(all[499].After) != "1" {
		b.Errorf("%d records, from %s to %s XP, want 500, from 599 to 1", len(all), all[0].After, all[len(all)-1].After)
	}
	for i := 1; i < len(all); i++ {
		if all[i].ID.Compare(all[i-1].ID) >= 0 {
			b.Fatalf("record %s comes after %s, want falling ids", all[i].ID, all[i-1].ID)
		}
	}
}

func auditedOnce(b *board) {
	b.load(rowN(1, 1), rowN(2, 2))
	c := leaderboard.Change{Op: leaderboard.Increment, Amount: 5, Once: onceOf("once", "q"), Audit: entryOf(audit.Incremented, userN(1))}
	b.change(userN(1), c)
	b.change(userN(1), c)
	b.wantJournal("incremented " + string(userN(1)) + " 1 6")
	records := b.changesPage(10).Batch.Records
	if len(records) != 1 || records[0].Name != c.Once.Key || records[0].Audit == nil {
		b.Errorf("the entries are %+v, want the request with its audit record", records)
	}
	// The archive knows that this request was made and recorded, and that its effect was lost.
	c.Once = onceOf("lost", "q")
	c.Once.Past = &leaderboard.Past{Epoch: 1, Made: true, Request: c.Once.Request, Outcome: "1 6 0", Lost: []id.User{userN(1)}}
	b.change(userN(1), c)
	b.wantJournal("incremented " + string(userN(1)) + " 1 6")
	if xp := b.member(userN(1)).XP; xp != 11 {
		b.Errorf("the member has %d XP, want 11", xp)
	}
}
